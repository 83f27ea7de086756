/* SPDX-License-Identifier: MIT */
/* test_app_metrics.c - Prometheus metrics: the format, names that try to break it, and how long
 * a thousand streams keep the thread. */
#include "app/api/metrics.h"
#include "app/api/prom.h"
#include "co/co.h"
#include "env.h"
#include "serve/http/mux.h"
#include "session/clients.h"
#include "session/hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MANY = 1000 };

static void test_values(void **state)
{
    static const struct {
        double v;
        const char *want;
    } rows[] = {
        { 0, "x 0\n" }, { 1, "x 1\n" }, { -3, "x -3\n" }, { 0.25, "x 0.25\n" },
        { 1e15, "x 1000000000000000\n" }, { 1.5e-7, "x 1.5e-07\n" }, { 2.0 / 3, "x 0.666666667\n" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct wr w;

        wr_init(&w, 100);
        prom_value(&w, "x", "", rows[i].v);
        wr_u8(&w, 0);
        assert_string_equal((char *)w.buf, rows[i].want);
        wr_free(&w);
    }
}

static void test_labels(void **state)
{
    static const struct {
        const char *value, *want;
    } rows[] = {
        { "plain", "a=\"plain\"" }, { "", "a=\"\"" }, { "q\"\\\n", "a=\"q\\\"\\\\\\n\"" },
        { "\xc3\xa9", "a=\"\xc3\xa9\"" }, { "\xe9", "a=\"%E9\"" }, { "%E9", "a=\"%25E9\"" },
        { "a}b,c=\"d\"", "a=\"a}b,c=\\\"d\\\"\"" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *labels = prom_labels("none", NULL, "a", rows[i].value, NULL);

        assert_string_equal(labels, rows[i].want);
        free(labels);
    }
}

/* ---- metrics of a server */

static struct session_env *env;
static struct machine machine;
static struct client clients[MANY];
static struct live_source *sources[MANY];

static unsigned connections(void *arg)
{
    (void)arg;
    return 7;
}

static void describe(struct client *c, struct clients_info *out)
{
    (void)c;
    (void)out;
}

static const struct clients_kind kind = { describe, NULL };

static struct api_parts begin(const char *conf, unsigned streams, const char *name)
{
    static const struct live_settings set = { .queue_length = 1000000, .max_bytes = 1 << 20 };

    env = env_new(conf);
    env->hooks = hooks_new(env);
    machine_init(&machine);
    for (unsigned i = 0; i < streams; i++) {
        char text[64], whole[128], id[16];
        const struct session_stream names = { .vhost = "v", .app = "live", .name = text,
                                                .param = "", .tc_url = "", .page_url = "",
                                                .ip = "" };

        (void)snprintf(text, sizeof(text), "%s%u", name, i);
        (void)snprintf(whole, sizeof(whole), "v/live/%s", text);
        (void)snprintf(id, sizeof(id), "c%07u", i);
        sources[i] = live_registry_get(env->streams, whole, &set);
        clients_wait(env->clients, &clients[i], &kind, CLIENTS_FMLE_PUBLISH, id, &names, sources[i]);
        clients_admit(&clients[i], &names);
    }
    return (struct api_parts){ .env = env, .machine = &machine, .connections = connections };
}

static void end(unsigned streams)
{
    for (unsigned i = 0; i < streams; i++) {
        clients_leave(&clients[i], 0, 0, NULL);
        (void)live_source_unref(sources[i]);
    }
    hooks_free(env->hooks);
    env_free(&env);
}

#define CONF "listen 1935; exporter { enabled on; label l\\x; } vhost __defaultVhost__ { }"

/* The name of a line's metric, for a histogram without its suffix. */
static void name_of(const char *line, char *out, size_t size)
{
    static const char *const ends[] = { "_bucket", "_sum", "_count" };
    size_t n = strcspn(line, "{ ");

    (void)snprintf(out, size, "%.*s", (int)n, line);
    for (int i = 0; i < 3 && strstr(out, "lateness"); i++) {
        size_t k = strlen(ends[i]);

        if (n > k && strcmp(out + n - k, ends[i]) == 0)
            out[n - k] = '\0';
    }
}

/* Every line is a comment or a value of the family whose help came last; no family comes twice. */
static void check_format(char *text)
{
    static char seen[16384];
    char family[128] = "", name[128], probe[140];
    char *save = NULL;

    seen[0] = '\0';
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *value = strrchr(line, ' '), *rest;

        if (strncmp(line, "# HELP ", 7) == 0) {
            (void)snprintf(family, sizeof(family), "%.*s", (int)strcspn(line + 7, " "), line + 7);
            (void)snprintf(probe, sizeof(probe), " %s ", family);
            assert_null(strstr(seen, probe));
            (void)strncat(seen, probe, sizeof(seen) - strlen(seen) - 1);
            continue;
        }
        if (strncmp(line, "# TYPE ", 7) == 0)
            continue;
        name_of(line, name, sizeof(name));
        assert_string_equal(name, family);
        assert_non_null(value);
        (void)strtod(value + 1, &rest);
        assert_int_equal(*rest, '\0');
        assert_true(value[-1] == '}' || !strchr(line, '{'));
    }
}

static void test_format(void **state)
{
    static const char *const wanted[] = {
        "srs_node_uname_info{sysname=\"Linux\"", "srs_build_info{server=\"vid-1\",service=\"run\"",
        "label=\"l\\\\x\"} 1", "\nsrs_cpu_percent 0\n", "\nsrs_memory ", "\nsrs_send_bytes_total 0\n",
        "\nsrs_receive_bytes_total 0\n", "\nsrs_streams 3\n", "\nsrs_clients 3\n",
        "\nsrs_clients_total 3\n", "\nsrs_clients_errs_total 0\n", "\nsrs_connections 7\n",
        "srs_protocol_clients{protocol=\"fmle-publish\"} 3\n",
        "srs_rtsp_sessions{protocol=\"rtsp-play\",transport=\"udp\"} 0\n",
        "srs_rtsp_lost_packets_total{protocol=\"rtsp-publish\"} 0\n",
        "srs_rtsp_jitter_seconds{protocol=\"rtsp-publish\"} 0\n",
        "srs_stream_clients{vhost=\"v\",app=\"live\",stream=\"b%E9\\\"1\"} 1\n",
        "srs_wake_lateness_seconds_bucket{le=\"+Inf\"} ",
        "srs_hooks_total{action=\"on_publish\",result=\"ok\"} 0\n",
    };
    struct api_parts of = begin(CONF, 3, "b\xe9\"");
    struct wr w;

    (void)state;
    wr_init(&w, 1 << 24);
    metrics_put(&w, &of);
    wr_u8(&w, 0);
    for (size_t i = 0; i < COUNT(wanted); i++) {
        if (!strstr((char *)w.buf, wanted[i]))
            fail_msg("no %s in\n%s", wanted[i], (char *)w.buf);
    }
    check_format((char *)w.buf);
    wr_free(&w);
    end(3);
}

static void test_bounded(void **state)
{
    struct api_parts of = begin("listen 1935; exporter { enabled on; streams 2; }", 5, "s");
    struct wr w;
    unsigned lines = 0;

    (void)state;
    wr_init(&w, 1 << 24);
    metrics_put(&w, &of);
    wr_u8(&w, 0);
    assert_non_null(strstr((char *)w.buf, "\nsrs_streams 5\n"));
    assert_non_null(strstr((char *)w.buf, "\nsrs_streams_left_out 3\n"));
    for (char *p = (char *)w.buf; (p = strstr(p, "\nsrs_stream_clients{")); p++)
        lines++;
    assert_int_equal(lines, 2);
    wr_free(&w);
    end(5);
}

/* ---- time on the thread */

static co_usec used(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (co_usec)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static co_usec longest;

/* Runs whenever it can: the time in between is one slice of another coroutine. */
static err_t look(void *arg)
{
    co_usec last = used();
    err_t err;

    (void)arg;
    while (!(err = co_check())) {
        co_usec now = used();

        if (now - last > longest)
            longest = now - last;
        last = now;
        co_yield();
    }
    return err;
}

static void test_a_thousand_streams(void **state)
{
    struct api_parts of = begin(CONF, MANY, "s");
    struct co_group g;
    co_usec began;
    struct wr w;

    (void)state;
    wr_init(&w, 1 << 24);
    co_group_init(&g);
    assert_ok(co_go(&g, "look", look, NULL));
    co_yield();
    began = used();
    metrics_put(&w, &of);
    began = used() - began;
    assert_err(co_group_stop(&g), ERR_STOPPED);
    print_message("  %d streams: %.1f ms of the thread, the longest slice %.1f ms, %zu kB\n", MANY,
                  (double)began / 1000, (double)longest / 1000, w.len / 1024);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(began < CO_MS(30));
    assert_true(longest < CO_MS(5));
#endif
    wr_free(&w);
    end(MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_values), TEST(test_labels), TEST(test_format), TEST(test_bounded),
        TEST(test_a_thousand_streams),
    };

    assert_ok(co_init());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
