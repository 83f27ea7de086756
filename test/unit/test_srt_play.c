/* SPDX-License-Identifier: MIT */
/* test_srt_play.c - the SRT players of a stream: admission, sending in one walk, removal.
 *
 * Without sockets: a player's packets go to its receiver at once, through a
 * network that loses some, and the receiver's answers return. */
#include "datagram_player.h"
#include "env.h"
#include "publisher.h"
#include "serve/srt/impl.h"
#include "udp_hand.h"
#include "wire/srt.h"

#include <assert.h>

#define VHOST "__defaultVhost__"
#define CONF(server, rules) \
    "listen 1935; srt_server { enabled on; listen 1; " server " } vhost " VHOST \
    " { srt { enabled on; } " rules " }"

enum { LATENCY = 200, TS = 188, MOST = 400 };

static struct session_env *env;
static struct srt_service service;
static struct srt_endpoint endpoint;
static struct live_source *src;
static unsigned lose_each; /* each n-th data packet; 0: none */
static unsigned sent;
static struct datagram_client_ops ops; /* for players, until their end */

/* ---- a player, and its receiver */

struct guest {
    struct srt_peer peer;
    struct srt_conn ears;
    co_usec latency;
    bool listens, deaf;      /* deaf: it receives and sends nothing */
    unsigned bursts, packets, messages, holes;
    size_t bytes;
    co_usec first_at;
    uint8_t begin[2 * TS];   /* start of the received data */
    enum err_code left;      /* at that time */
};

static struct guest *guests[MOST];
static unsigned n_guests;

static void hear(struct guest *g, co_usec now)
{
    struct srt_message m;
    uint8_t out[SRT_PACKET_MAX];
    struct srt_packet packet;
    size_t size;

    while (srt_conn_next(&g->ears, &m, now)) {
        if (g->messages++ == 0)
            memcpy(g->begin, m.data, m.size < sizeof(g->begin) ? m.size : sizeof(g->begin));
        g->holes += m.hole;
        g->bytes += m.size;
    }
    while ((size = srt_conn_control(&g->ears, out, now)) > 0) {
        assert_true(srt_packet_read(&packet, out, size));
        srt_conn_input(&g->peer.conn, &packet, now);
        srt_play_turn(&g->peer, now);
    }
}

static void on_sent(void *guest, const struct udp_out *out)
{
    struct guest *g = guest;
    static uint8_t all[SRT_BURST * SRT_PACKET_MAX]; /* the tests have one thread */
    size_t size = 0;
    co_usec now = co_clock();

    for (int i = 0; i < out->count; i++) {
        memcpy(all + size, out->iov[i].iov_base, out->iov[i].iov_len);
        size += out->iov[i].iov_len;
    }
    g->bursts += out->segment > 0; /* data bursts */
    g->packets += out->segment > 0 ? (unsigned)((size + out->segment - 1) / out->segment) : 0;
    g->first_at = g->first_at ? g->first_at : now;
    for (size_t at = 0, one; at < size && g->listens && !g->deaf; at += one) {
        struct srt_packet packet;

        one = out->segment > 0 && out->segment < size - at ? out->segment : size - at;
        assert_true(srt_packet_read(&packet, all + at, one));
        if (lose_each == 0 || ++sent % lose_each)
            srt_conn_input(&g->ears, &packet, now);
    }
}

static void on_close(struct datagram_client *c, err_t why)
{
    ((struct guest *)(void *)c)->left = err_code(why);
    err_free(&why);
}

/* ---- a worker */

static void begin(const char *text)
{
    env = env_new(text);
    service = (struct srt_service){ .base.env = env };
    datagram_player_service(&service.base);
    endpoint.base.socket = udp_hand_socket();
    ops = srt_play_ops;
    ops.close = on_close;
    lose_each = n_guests = 0;
}

static void end(void)
{
    assert_ok(co_group_stop(&service.base.group));
    assert_int_equal(service.streams.all.n, 0);
    assert_null(service.streams.burst);
    assert_int_equal(live_registry_count(env->streams), 0);
    env_free(&env);
}

static void publish(void)
{
    src = env_publish(env);
    push_config(src, AV_H264);
}

static void unpublish(void)
{
    live_source_end(src, &me);
    src = live_source_unref(src);
}

/* Admitted, and it plays: its coroutine ends. */
static err_t come_main(void *guest)
{
    struct guest *g = guest;
    co_usec latency = g->latency;
    struct srt_conn_opts o = { .now = co_clock(), .zero = co_clock(), .peer_zero = co_clock(),
                               .idle_timeout = CO_SECONDS(10), .tsbpd = true, .drop_late = true };
    struct srt_peer *p = &g->peer;

    datagram_player_begin(&p->base, &service.base, &ops, "abcdefgh");
    p->service = &service;
    p->endpoint = &endpoint;
    udp_hand_path(&p->path, g, on_sent);
    assert_ok(session_find_stream(&p->base.session, VHOST, "live", "s"));
    assert_ok(srt_play_admit(p));
    p->base.ops = &ops;
    o.agreed = (struct srt_agreed){ .id = 1, .peer_id = 2, .first_seq = 0x7ffffff0,
                                    .payload = 1456, .window = 8192, .send_latency = latency,
                                    .recv_latency = latency };
    assert_ok(srt_play_begin(p, &o));
    p->base.session.co = NULL;
    datagram_client_state(&p->base, DATAGRAM_ACTIVE);
    g->listens = srt_conn_receive_begin(&g->ears, &o);
    assert_true(g->listens);
    return NULL;
}

static struct guest *come(co_usec latency)
{
    struct guest *g = calloc(1, sizeof(*g));
    struct co_group group;

    assert_non_null(g);
    g->latency = latency;
    co_group_init(&group);
    assert_ok(co_go(&group, "player", come_main, g));
    assert_ok(co_group_wait(&group));
    guests[n_guests++] = g;
    return g;
}

static void leave(struct guest *g)
{
    err_t why = err_new(ERR_IO_CLOSED, "it left");

    srt_play_end(&g->peer, why);
    err_free(&why);
    srt_conn_fini(&g->peer.conn);
    srt_conn_fini(&g->ears);
    datagram_player_end(&g->peer.base);
    free(g);
}

static void leave_all(void)
{
    for (unsigned i = 0; i < n_guests; i++)
        leave(guests[i]);
}

/* For this long, with a frame each 20 ms, received by all. */
static void play_on(unsigned ms, size_t size)
{
    static int64_t at;
    co_usec until = co_clock() + CO_MS(ms), next = co_clock();

    for (; co_clock() < until; next += CO_MS(20)) {
        push_at(src, AV_H264, false, ++at * 20, size);
        for (unsigned i = 0; i < n_guests; i++) {
            if (!guests[i]->deaf)
                hear(guests[i], co_clock());
        }
        if (next > co_clock())
            assert_ok(co_sleep(next - co_clock()));
    }
}

static bool begins_with_tables(const struct guest *g)
{
    return g->begin[0] == 0x47 && (g->begin[1] & 0x1f) == 0 && g->begin[2] == 0 &&
           g->begin[TS] == 0x47 && (g->begin[TS + 1] & 0x1f) == 0x10;
}

static void begin_show(const char *conf, size_t size)
{
    begin(conf);
    publish();
    push_at(src, AV_H264, true, 0, size);
}

static void end_show(void)
{
    leave_all();
    unpublish();
    end();
}

/* ---- the tests */

static void all_get_the_same_from_the_newest_key_frame_on(void **state)
{
    struct guest *a, *b;

    (void)state;
    begin_show(CONF("merge 20;", ""), 8000);
    a = come(CO_MS(LATENCY));
    b = come(CO_MS(LATENCY));
    assert_int_equal(env->players, 2);
    assert_int_equal(live_source_idle_since(src), 0);
    play_on(500, 900);
    assert_true(begins_with_tables(a) && begins_with_tables(b));
    assert_int_equal(a->holes + b->holes, 0);
    assert_true(a->peer.conn.sender.stat.sent > 25);
    assert_int_equal(a->peer.conn.sender.stat.sent, b->peer.conn.sender.stat.sent);
    assert_in_range(a->bursts, 5, 32); /* one each 20 ms; on a busy machine fewer, and retransmissions */
    leave_all();
    assert_true(live_source_idle_since(src) > 0);
    unpublish();
    end();
}

static void what_gets_lost_is_sent_again(void **state)
{
    struct guest *g;

    (void)state;
    begin_show(CONF("merge 20;", ""), 8000);
    lose_each = 7;
    g = come(CO_SECONDS(1)); /* retransmissions may be lost, too */
    play_on(1800, 2000);
    assert_int_equal(g->holes, 0);
    assert_true(g->peer.conn.sender.stat.retransmitted > 0 && g->messages > 50);
    end_show();
}

static void one_who_is_early_waits_for_a_key_frame(void **state)
{
    struct guest *g;

    (void)state;
    begin(CONF("merge 20;", ""));
    g = come(CO_MS(LATENCY)); /* there is no publisher */
    assert_ok(co_sleep(CO_MS(30)));
    assert_int_equal(g->packets, 0);
    publish();
    push_at(src, AV_H264, true, 0, 8000);
    play_on(500, 900);
    assert_true(begins_with_tables(g));
    end_show();
}

static void without_cache_one_waits_for_the_next_one(void **state)
{
    struct guest *g;

    (void)state;
    begin_show(CONF("merge 20;", "play { gop_cache off; }"), 8000);
    g = come(CO_MS(LATENCY));
    play_on(100, 900);
    assert_int_equal(g->packets, 0);
    push_at(src, AV_H264, true, 200, 8000);
    play_on(500, 900);
    assert_true(begins_with_tables(g));
    end_show();
}

static void one_of_little_latency_waits_less(void **state)
{
    struct guest *a, *b;

    (void)state;
    begin_show(CONF("merge 100;", ""), 1000);
    a = come(CO_SECONDS(1));
    b = come(CO_MS(100));
    play_on(600, 900);
    assert_in_range(a->bursts, 3, 14);
    assert_true(b->bursts > a->bursts);
    end_show();
}

static void one_who_takes_nothing_is_left_alone_and_comes_back(void **state)
{
    struct guest *a, *b;
    unsigned before;

    (void)state;
    begin_show(CONF("merge 20;", ""), 1000);
    a = come(CO_MS(LATENCY));
    b = come(CO_MS(LATENCY));
    a->deaf = true;
    play_on(1500, 900);
    before = a->packets;
    play_on(400, 900);
    assert_in_range(a->packets - before, 0, 8); /* a keepalive now and then */
    push_at(src, AV_H264, true, 5000, 2000);
    a->deaf = false;
    play_on(800, 900);
    assert_true(a->packets - before > 20);
    assert_int_equal(b->holes, 0);
    assert_int_equal(a->peer.conn.end, SRT_OPEN);
    end_show();
}

static void tokens_end_and_vhosts_are_turned_off(void **state)
{
    struct guest *a, *b;

    (void)state;
    begin_show(CONF("merge 20;", ""), 1000);
    a = come(CO_MS(LATENCY));
    b = come(CO_MS(LATENCY));
    a->peer.base.session.ends = 1;
    play_on(2200, 900);
    assert_int_equal(a->left, ERR_EXPIRED);
    assert_int_equal(b->left, ERR_OK);
    assert_true(b->peer.base.session.entry.stream->clients == 2);
    env_reload(env, "listen 1935; vhost " VHOST " { srt { enabled off; } }");
    play_on(2200, 900);
    assert_int_equal(b->left, ERR_VHOST_DISABLED);
    end_show();
}

/* It works in slices, and a player that leaves meanwhile, even the next one, is handled. */
static void many_are_served_though_some_leave(void **state)
{
    (void)state;
    begin_show(CONF("merge 20;", ""), 20000);
    for (unsigned i = 0; i < MOST; i++)
        (void)come(CO_MS(LATENCY));
    for (unsigned round = 0; n_guests > 0; round++) {
        push_at(src, AV_H264, false, round * 20 + 20, 900);
        assert_ok(co_sleep(CO_MS(round % 3 ? 20 : 1)));
        for (unsigned i = 0; i < 40; i++) {
            struct guest *g = guests[--n_guests];

            if (round > 3)
                assert_true(g->bursts > 0);
            leave(g);
        }
    }
    unpublish();
    end();
}

static void their_bytes_count_for_the_stream(void **state)
{
    struct live_source_stat stat;
    struct guest *g;

    (void)state;
    begin_show(CONF("merge 20;", ""), 1000);
    g = come(CO_MS(LATENCY));
    play_on(200, 900);
    srt_play_count(&g->peer);
    live_source_stat(src, &stat);
    assert_int_equal(stat.out_bytes, g->peer.conn.sender.stat.bytes);
    assert_int_equal(stat.consumers, 1);
    assert_true(stat.out_bytes > g->bytes);
    leave_all();
    live_source_stat(src, &stat);
    assert_int_equal(stat.consumers, 0);
    unpublish();
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_get_the_same_from_the_newest_key_frame_on),
        TEST(what_gets_lost_is_sent_again),
        TEST(one_who_is_early_waits_for_a_key_frame),
        TEST(without_cache_one_waits_for_the_next_one),
        TEST(one_of_little_latency_waits_less),
        TEST(one_who_takes_nothing_is_left_alone_and_comes_back),
        TEST(tokens_end_and_vhosts_are_turned_off),
        TEST(many_are_served_though_some_leave),
        TEST(their_bytes_count_for_the_stream),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
