/* SPDX-License-Identifier: MIT */
/* test_session_bandwidth.c - what a publisher may send, and whether a vhost has room. */
#include "env.h"
#include "session/bandwidth.h"
#include "session/clients.h"
#include "session/vhost_loads.h"
#include "session/workers.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { KBPS = 1000, KB_SECOND = 125 * 1000 };

/* Sends `rate` times the limit for some seconds; returns the bytes that were read. */
static uint64_t send_for(struct session_meter *m, double rate, int seconds)
{
    uint64_t bytes = 5000;
    co_usec now = CO_SECONDS(100), end = now + CO_SECONDS(seconds), step = CO_MS(20);

    assert_int_equal(session_meter_wait(m, bytes, KBPS, now), 0);
    while (now < end) {
        now += step;
        bytes += (uint64_t)(KB_SECOND * rate / 50);
        now += session_meter_wait(m, bytes, KBPS, now);
    }
    return bytes;
}

static void a_fast_publisher_is_held(void **state)
{
    struct session_meter m = { 0 };
    uint64_t bytes = send_for(&m, 20, 60);

    (void)state;
    assert_in_range(bytes, KB_SECOND * 60, KB_SECOND * (60 + 5 + 1));
}

static void others_are_not(void **state)
{
    struct session_meter m = { 0 };
    co_usec now = CO_SECONDS(1);
    uint64_t bytes = 0;

    (void)state;
    for (int second = 0; second < 1000; second++) { /* a key frame of 2 s worth, then less */
        bytes += second % 4 == 0 ? 2 * KB_SECOND : KB_SECOND / 2;
        assert_int_equal(session_meter_wait(&m, bytes, KBPS, now), 0);
        now += CO_SECONDS(1);
    }
}

/* Bytes read before the limit was set do not count. */
static void it_begins_when_it_is_turned_on(void **state)
{
    struct session_meter m = { 0 };

    (void)state;
    assert_int_equal(session_meter_wait(&m, UINT64_C(1) << 40, KBPS, CO_SECONDS(9)), 0);
    assert_int_equal(session_meter_wait(&m, (UINT64_C(1) << 40) + 100, KBPS, CO_SECONDS(9)), 0);
}

static void describe(struct client *c, struct clients_info *out)
{
    (void)c;
    *out = (struct clients_info){ .ip = "", .tc_url = "", .page_url = "", .swf_url = "" };
}

static void kick(struct client *c)
{
    (void)c;
}

static const struct clients_kind kind = { describe, kick };
static const struct session_stream names = {
    .vhost = "v", .app = "live", .name = "s", .param = "", .tc_url = "", .page_url = "",
    .ip = "1.2.3.4",
};

struct scene {
    struct session_env *env;
    struct live_source *src;
    struct clients_vhost *vhost;
};

static void begin(struct scene *x, const char *bandwidth)
{
    static const struct live_settings set = { .queue_length = 1000000, .max_bytes = 1 << 20 };
    char text[200];

    (void)snprintf(text, sizeof(text), "listen 1935; vhost v { bandwidth { %s } }", bandwidth);
    *x = (struct scene){ .env = env_new(text) };
    x->src = live_registry_get(x->env->streams, "v/live/s", &set);
    clients_stream(x->env->clients, x->src)->in_kbps.s30_kbps = 1000;
    x->vhost = clients_stream(x->env->clients, x->src)->vhost;
}

static void end(struct scene *x)
{
    (void)live_source_unref(x->src);
    env_free(&x->env);
}

/* A storm of players: none of them has received a byte yet. */
static void a_vhost_has_room_for_so_many(void **state)
{
    struct scene x;
    struct client c[6] = { { .admitted = false } };

    (void)state;
    begin(&x, "out_kbps 4500;");
    for (int i = 0; i < 4; i++) {
        assert_ok(session_bandwidth_out(x.env, &x.env->conf->vhost.v[0], &names));
        clients_wait(x.env->clients, &c[i], &kind, CLIENTS_RTMP_PLAY, "00000000", &names, x.src);
        clients_admit(&c[i], &names);
    }
    assert_err(session_bandwidth_out(x.env, &x.env->conf->vhost.v[0], &names), ERR_TOO_MANY);
    assert_int_equal(x.env->reject_counters.v[REJECT_VHOST_OUT].total, 1);
    clients_leave(&c[0], 0, 0, NULL);
    assert_ok(session_bandwidth_out(x.env, &x.env->conf->vhost.v[0], &names));
    for (int i = 1; i < 4; i++)
        clients_leave(&c[i], 0, 0, NULL);
    assert_int_equal(x.vhost->wanted_kbps, 0);
    x.vhost->out_kbps.now_kbps = 4000; /* downloads, for example */
    assert_err(session_bandwidth_out(x.env, &x.env->conf->vhost.v[0], &names), ERR_TOO_MANY);
    assert_ok(session_bandwidth_in(x.env, &x.env->conf->vhost.v[0]));
    end(&x);
}

/* A storm of publishers within a second: the rate of admitted ones is not known yet. */
static void a_storm_of_publishers(void **state)
{
    struct scene x;

    (void)state;
    begin(&x, "in_kbps 5000;");
    x.vhost->in_kbps.now_kbps = 3000;
    x.vhost->publishing = 3;
    assert_ok(session_bandwidth_in(x.env, &x.env->conf->vhost.v[0]));
    assert_ok(session_bandwidth_in(x.env, &x.env->conf->vhost.v[0]));
    assert_err(session_bandwidth_in(x.env, &x.env->conf->vhost.v[0]), ERR_TOO_MANY);
    clients_sample(x.env->clients);
    assert_int_equal(x.vhost->fresh, 0);
    assert_int_equal(x.vhost->publishing, 0);
    x.vhost->in_kbps.now_kbps = 3000; /* those never sent anything */
    x.vhost->publishing = 3;
    assert_ok(session_bandwidth_in(x.env, &x.env->conf->vhost.v[0]));
    end(&x);
}

static void a_vhost_takes_in_so_much(void **state)
{
    struct scene x;

    (void)state;
    begin(&x, "in_kbps 5000;");
    assert_ok(session_bandwidth_in(x.env, &x.env->conf->vhost.v[0]));
    x.vhost->in_kbps.now_kbps = 5000;
    assert_err(session_bandwidth_in(x.env, &x.env->conf->vhost.v[0]), ERR_TOO_MANY);
    assert_ok(session_bandwidth_out(x.env, &x.env->conf->vhost.v[0], &names));
    assert_int_equal(x.env->reject_counters.v[REJECT_VHOST_IN].total, 1);
    end(&x);
}

/* ---- workers */

enum { WORKERS = 2 };

/* The same vhost at each of two workers. */
static struct workers *begin_workers(struct scene x[WORKERS], const char *bandwidth)
{
    struct workers *w = calloc(1, sizeof(*w));

    assert_non_null(w);
    *w = (struct workers){ .n = WORKERS, .loads = vhost_loads_new() };
    for (unsigned i = 0; i < WORKERS; i++) {
        begin(&x[i], bandwidth);
        x[i].env->workers = w;
        x[i].env->worker = i;
    }
    return w;
}

static void end_workers(struct scene x[WORKERS], struct workers *w)
{
    for (unsigned i = 0; i < WORKERS; i++)
        end(&x[i]);
    vhost_loads_free(w->loads);
    free(w);
}

static void publishers_of_all_workers_count(void **state)
{
    struct scene x[WORKERS];
    struct workers *w = begin_workers(x, "in_kbps 5000;");

    (void)state;
    for (int i = 0; i < WORKERS; i++) {
        x[i].vhost->in_kbps.now_kbps = 1500;
        x[i].vhost->publishing = 1;
        session_bandwidth_report(x[i].env);
    }
    assert_ok(session_bandwidth_in(x[0].env, &x[0].env->conf->vhost.v[0]));
    assert_ok(session_bandwidth_in(x[1].env, &x[1].env->conf->vhost.v[0])); /* counts that one */
    assert_err(session_bandwidth_in(x[1].env, &x[1].env->conf->vhost.v[0]), ERR_TOO_MANY);
    assert_err(session_bandwidth_in(x[0].env, &x[0].env->conf->vhost.v[0]), ERR_TOO_MANY);
    clients_sample(x[0].env->clients);
    clients_sample(x[1].env->clients);
    session_bandwidth_report(x[0].env);
    session_bandwidth_report(x[1].env);
    assert_ok(session_bandwidth_in(x[0].env, &x[0].env->conf->vhost.v[0]));
    end_workers(x, w);
}

static void players_of_all_workers_count(void **state)
{
    struct scene x[WORKERS];
    struct workers *w = begin_workers(x, "out_kbps 4500;");
    struct client c[4] = { { .admitted = false } };

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct scene *s = &x[i % 2];

        assert_ok(session_bandwidth_out(s->env, &s->env->conf->vhost.v[0], &names));
        clients_wait(s->env->clients, &c[i], &kind, CLIENTS_RTMP_PLAY, "00000000", &names, s->src);
        clients_admit(&c[i], &names);
    }
    session_bandwidth_report(x[1].env);
    for (int i = 0; i < WORKERS; i++)
        assert_err(session_bandwidth_out(x[i].env, &x[i].env->conf->vhost.v[0], &names), ERR_TOO_MANY);
    for (int i = 0; i < 4; i++)
        clients_leave(&c[i], 0, 0, NULL);
    end_workers(x, w);
}

/* A player of a stream that is not here yet counts like players of others. */
static void a_stream_from_elsewhere(void **state)
{
    struct scene x[WORKERS];
    struct workers *w = begin_workers(x, "out_kbps 4500;");
    struct session_stream other = names;

    (void)state;
    other.name = "elsewhere";
    x[0].vhost->in_kbps.now_kbps = 2000;
    x[0].vhost->publishing = 2;
    x[0].vhost->out_kbps.now_kbps = 3500;
    session_bandwidth_report(x[0].env);
    assert_ok(session_bandwidth_out(x[1].env, &x[1].env->conf->vhost.v[0], &other));
    x[0].vhost->out_kbps.now_kbps = 3501;
    session_bandwidth_report(x[0].env);
    assert_err(session_bandwidth_out(x[1].env, &x[1].env->conf->vhost.v[0], &other), ERR_TOO_MANY);
    end_workers(x, w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_fast_publisher_is_held), TEST(others_are_not), TEST(it_begins_when_it_is_turned_on),
        TEST(a_vhost_has_room_for_so_many), TEST(a_storm_of_publishers), TEST(a_vhost_takes_in_so_much),
        TEST(publishers_of_all_workers_count), TEST(players_of_all_workers_count),
        TEST(a_stream_from_elsewhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
