/* SPDX-License-Identifier: MIT */
/* test_session_roles.c - publishers and players of any protocol: they are admitted or rejected, are
 * listed, and end with an error that says why. */
#include "base/log.h"
#include "co/net/io.h"
#include "env.h"
#include "format/flv/flv.h"
#include "live/impl.h"
#include "peer.h"
#include "session/player.h"
#include "session/publisher.h"
#include "wire/flv.h"

#include <assert.h>

#define VHOST "__defaultVhost__"
#define CONF(rules) "listen 1935; vhost " VHOST " { " rules " }"

static struct session_env *env;

static void begin(const char *text)
{
    env = env_new(text);
}

/* In any case nothing is left of any client. */
static void end(void)
{
    assert_int_equal(live_registry_count(env->streams), 0);
    env_free(&env);
}

/* ---- conversations of no protocol */

struct talk {
    struct session s;
    struct io io;
    const char *ip, *page;
    unsigned messages; /* that a publisher sends */
    bool in;           /* it was admitted */
};

static err_t enter(struct talk *t)
{
    t->io = silent_peer();
    session_init(&t->s, env, &t->io);
    t->s.names = (struct session_stream){ .param = "", .tc_url = "",
                                          .page_url = t->page ? t->page : "",
                                          .ip = t->ip ? t->ip : "10.0.0.1" };
    session_begin(&t->s);
    return session_find_stream(&t->s, VHOST, "live", "s");
}

static struct av_packet *key_frame(void)
{
    static const uint8_t body[] = { 0x17, 1, 0, 0, 0, 0, 0, 0, 1, 0x65 };
    struct av_packet *pkt = av_packet_try(sizeof(body));

    assert_non_null(pkt);
    memcpy(pkt->data, body, sizeof(body));
    pkt->origin = FLV_VIDEO;
    assert_ok(flv_packet_describe(pkt));
    return pkt;
}

static void send_message(struct talk *t, struct session_publisher *p)
{
    struct av_packet *pkt = key_frame();

    t->messages--;
    t->io.bytes_in += pkt->size;
    session_publisher_media(p);
    live_source_push(t->s.src, pkt, AV_MS((int64_t)p->messages * 40));
    (void)av_packet_unref(pkt);
}

static err_t publisher(void *talk)
{
    struct talk *t = talk;
    struct session_publisher p;
    bool changed;
    err_t err = enter(t);

    co_new_cid();
    if (!err)
        err = session_publisher_begin(&p, &t->s, CLIENTS_FMLE_PUBLISH);
    t->in = !err;
    while (!err) {
        if (t->messages > 0)
            send_message(t, &p);
        err = co_sleep(CO_MS(2));
        if (!err)
            err = session_publisher_turn(&p, &changed);
    }
    if (t->in)
        session_publisher_end(&p, err);
    session_fini(&t->s);
    return err;
}

static err_t heard_nothing(struct session_player *p)
{
    (void)p;
    return NULL;
}

static void log_nothing(const struct session_player *p, co_usec now)
{
    (void)p;
    (void)now;
}

static err_t player(void *talk)
{
    static const struct session_player_kind kind = {
        CLIENTS_FLV_PLAY, "player", SAMPLED_HTTP, heard_nothing, log_nothing, NULL,
    };
    static const uint32_t none[LIVE_PARAMS];
    struct talk *t = talk;
    struct session_player p;
    err_t err = enter(t);

    co_new_cid();
    if (!err)
        err = session_player_begin(&p, &t->s, &kind, NULL);
    t->in = !err;
    if (t->in) {
        session_player_open(&p, &flv_wire, none);
        err = session_player_send(&p);
        session_player_end(&p, err);
    }
    session_fini(&t->s);
    return err;
}

/* ---- reasons of rejection and of the end */

static void kick(struct client *c, void *arg)
{
    (void)arg;
    c->kind->kick(c);
}

static void kick_all(void)
{
    uint64_t at = 0;

    while (clients_walk(env->clients, &at, kick, NULL))
        ;
}

static void disable(void)
{
    env_reload(env, CONF("enabled off;"));
}

static const struct row {
    const char *name, *conf, *ip, *page;
    unsigned messages;
    void (*meanwhile)(void); /* once it is in */
    enum err_code publishes, plays;
    const char *says; /* the publisher's error */
} rows[] = {
    { "kicked", CONF(""), NULL, NULL, 1, kick_all, ERR_KICKED, ERR_KICKED, "10.0.0.1" },
    { "the vhost is off", CONF("enabled off;"), NULL, NULL, 0, NULL, ERR_VHOST_DISABLED,
      ERR_VHOST_DISABLED, "" },
    { "the vhost is turned off", CONF("publish { normal_timeout 9000; }"), NULL, NULL, 1, disable,
      ERR_VHOST_DISABLED, ERR_VHOST_DISABLED, "changed" },
    { "an address", CONF("security { enabled on; deny publish 10.0.0.2; deny play 10.0.0.2; }"),
      "10.0.0.2", NULL, 0, NULL, ERR_DENIED, ERR_DENIED, "" },
    { "a page", CONF("refer { enabled on; all ours.net; }"), NULL, "http://theirs.net/", 0, NULL,
      ERR_REFER_DENIED, ERR_REFER_DENIED, "" },
    { "no token", CONF("security { enabled on; token { publish on; play on; secret "
                       "0123456789abcdef; } }"), NULL, NULL, 0, NULL, ERR_TOKEN, ERR_TOKEN, "" },
    { "says nothing", CONF("publish { firstpkt_timeout 100; }"), NULL, NULL, 0, NULL,
      ERR_IO_TIMEOUT, ERR_OK, "no first message for 100 ms" },
    { "says no more", CONF("publish { firstpkt_timeout 9000; normal_timeout 100; }"), NULL, NULL, 3,
      NULL, ERR_IO_TIMEOUT, ERR_OK, "no message for 100 ms" },
    { "no player", CONF("publish { kickoff_for_idle 1; }"), NULL, NULL, 900, NULL, ERR_IDLE,
      ERR_OK, "kickoff_for_idle" },
};

static bool is_listed(void)
{
    return clients_count_all(env->clients) == 1;
}

static void expect(const struct row *r, err_t (*who)(void *talk), enum err_code code,
                   const char *says)
{
    struct talk t = { .ip = r->ip, .page = r->page, .messages = r->messages };
    struct co_group g;

    print_message("  %s\n", r->name);
    begin(r->conf);
    co_group_init(&g);
    assert_ok(co_go(&g, "client", who, &t));
    assert_ok(co_sleep(CO_MS(10)));
    assert_int_equal(is_listed(), t.in);
    if (r->meanwhile) {
        assert_true(t.in);
        r->meanwhile();
    }
    if (r->meanwhile == disable && who == player) /* a player that is sent nothing checks at intervals */
        assert_err(co_group_stop(&g), ERR_STOPPED);
    else
        assert_err_says(co_group_wait(&g), code, says);
    assert_int_equal(env_published(env)->begun, who == publisher && t.in);
    assert_string_equal(env_published(env)->stream, env_published(env)->begun ? VHOST "/live/s" : "");
    end();
}

static void who_publishes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        expect(&rows[i], publisher, rows[i].publishes, rows[i].says);
}

static void who_plays(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].plays != ERR_OK)
            expect(&rows[i], player, rows[i].plays, "");
    }
}

/* ---- two for one stream */

static void two_publishers(void **state)
{
    static const struct {
        const char *takeover;
        enum err_code old, new;
    } both[] = { { "on", ERR_REPLACED, ERR_STOPPED }, { "off", ERR_STOPPED, ERR_STREAM_BUSY } };

    (void)state;
    for (size_t i = 0; i < COUNT(both); i++) {
        struct talk old = { .messages = 5 }, new = { .messages = 5 };
        bool taken = both[i].new == ERR_STOPPED;
        struct co_group g, h;
        char text[256];

        (void)snprintf(text, sizeof(text), CONF("publish { takeover %s; }"), both[i].takeover);
        begin(text);
        co_group_init(&g);
        co_group_init(&h);
        assert_ok(co_go(&g, "old", publisher, &old));
        assert_ok(co_sleep(CO_MS(5)));
        assert_ok(co_go(&h, "new", publisher, &new));
        assert_ok(co_sleep(CO_MS(20)));
        assert_int_equal(new.in, taken);
        assert_int_equal(env_published(env)->begun, 1 + taken);
        assert_int_equal(env->publishers, 1);
        assert_true(is_listed());
        if (taken)
            assert_err(co_group_wait(&g), both[i].old);
        else
            assert_err(co_group_wait(&h), both[i].new);
        assert_err(co_group_stop(taken ? &h : &g), ERR_STOPPED);
        end();
    }
}

/* Published data is sent, its bytes are counted, and each client leaves on its own. */
static void one_plays_what_another_publishes(void **state)
{
    struct talk in = { .messages = 5 }, out = { 0 };
    struct co_group g, h;

    (void)state;
    begin(CONF("play { mw_latency 0; mw_msgs 0; }"));
    co_group_init(&g);
    co_group_init(&h);
    assert_ok(co_go(&h, "player", player, &out)); /* it may come first */
    assert_ok(co_go(&g, "publisher", publisher, &in));
    assert_ok(co_sleep(CO_MS(50)));
    assert_true(in.in && out.in);
    assert_int_equal(clients_count_all(env->clients), 2);
    assert_int_equal(env->players, 1);
    assert_ptr_equal(in.s.src, out.s.src);
    assert_err(co_group_stop(&h), ERR_STOPPED);
    assert_true(clients_total(env->clients, CLIENTS_FLV_PLAY)->clients == 1);
    assert_err(co_group_stop(&g), ERR_STOPPED);
    assert_true(clients_total(env->clients, CLIENTS_FMLE_PUBLISH)->in == in.io.bytes_in);
    end();
}

/* A conversation may request its stream again with its own names. */
static void its_own_names_are_asked_for(void **state)
{
    struct session s;

    (void)state;
    begin(CONF(""));
    session_init(&s, env, NULL);
    assert_ok(session_find_stream(&s, VHOST, "ab", "cdef"));
    for (int i = 0; i < 2; i++) {
        bool turned = i % 2 == 0;

        assert_ok(session_find_stream(&s, s.names.vhost, s.names.name, s.names.app));
        assert_string_equal(s.names.vhost, VHOST);
        assert_string_equal(s.names.app, turned ? "cdef" : "ab");
        assert_string_equal(s.names.name, turned ? "ab" : "cdef");
        assert_string_equal(s.names.key->path, turned ? VHOST "/cdef/ab" : VHOST "/ab/cdef");
    }
    session_fini(&s);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_publishes), TEST(who_plays), TEST(two_publishers),
        TEST(one_plays_what_another_publishes), TEST(its_own_names_are_asked_for),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
