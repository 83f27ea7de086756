/* SPDX-License-Identifier: MIT */
/* test_load_rtmfp.c - a client of the load tool of RTMFP against a responder in memory: keys in
 * every group, with HMACs and numbers or without, connect, pings that are answered or lost, the
 * end by either side and by silence. */
#include "rtmfp_ends.h"

#include "proto/rtmfp/session.h"
#include "tools/load/rtmfp_peer.h"
#include "tools/load/rtmfp_pid.h"

#include <unistd.h>

enum { ID = 0x1234abcd, STEP_MS = 5 };

static struct ends ends;
static struct load_stat stat; /* large */
static struct load_rtmfp_world world;
static struct load_rtmfp_peer peer;
static struct udp_addr here, there;
static co_usec now;

/* ---- the server's side of the one session */

static struct {
    bool open, deaf, refuses;
    struct rtmfp_session session;
    struct rtmfp_session_set set;
    struct rtmfp_sealer sealer;
    struct rtmfp_opener opener;
    unsigned connects, closed;
} server;

static bool on_opened(struct rtmfp_session *s, struct rtmfp_flow_in *f,
                      struct rtmfp_bytes metadata, struct rtmfp_flow_out *answers)
{
    (void)s;
    (void)f;
    (void)answers;
    assert_memory_equal(metadata.p, "TC\4\0", 4);
    return true;
}

static bool on_message(struct rtmfp_session *s, struct rtmfp_flow_in *f, const uint8_t *data,
                       size_t size)
{
    static const uint8_t metadata[] = { 'T', 'C', 4, 0 };
    struct rtmfp_message *m = rtmfp_message_new(15, now);
    struct rtmfp_flow_out *out = rtmfp_flow_open(s, rtmfp_bytes(metadata, 4), f, RTMFP_COMMANDS);
    struct wr w = rtmfp_wr(m->bytes, 15);

    assert_true(size > 15);
    assert_memory_equal(data, "\x14\0\0\0\0\2\0\7connect", 15);
    wr_bytes(&w, "\x14\0\0\0\0\2\0\7", 8);
    wr_bytes(&w, server.refuses ? "_error\0" : "_result", 7);
    m->bytes[7] = server.refuses ? 6 : 7;
    assert_true(rtmfp_flow_out_write(out, m, true));
    rtmfp_message_unref(m);
    server.connects++;
    return true;
}

static void on_closed(struct rtmfp_session *s, struct rtmfp_flow_in *f)
{
    (void)s;
    (void)f;
    server.closed++;
}

static void on_done(struct rtmfp_session *s, struct rtmfp_flow_out *f, bool rejected)
{
    (void)s;
    (void)f;
    (void)rejected;
}

static void on_moved(struct rtmfp_session *s, const struct udp_addr *from)
{
    (void)s;
    (void)from;
}

static const struct rtmfp_session_ops ops = { .opened = on_opened, .message = on_message,
                                              .closed = on_closed, .done = on_done,
                                              .moved = on_moved };

static void open_server(const struct rtmfp_keyed *keyed)
{
    server.set = (struct rtmfp_session_set){ .ops = &ops, .mode = RTMFP_RESPONDER,
                                             .ping = CO_SECONDS(100),
                                             .timeout = CO_SECONDS(300), .message_max = 4096 };
    server.sealer = (struct rtmfp_sealer){ .key = keyed->send };
    server.opener = (struct rtmfp_opener){ .key = keyed->receive };
    rtmfp_session_init(&server.session, &server.set, &here, now);
    server.open = true;
}

static void to_client(const uint8_t *data, size_t size)
{
    uint32_t id;

    assert_true(rtmfp_session_id(data, size, &id));
    if (id == 0)
        id = load_rtmfp_whose(&world, data, size);
    assert_int_equal(id, ID);
    load_rtmfp_input(&peer, data, size, &there, now);
}

static void to_server(const uint8_t *data, size_t size)
{
    uint8_t out[RTMFP_DATAGRAM_MAX];
    struct rtmfp_bytes plain;
    uint32_t id;

    if (server.deaf)
        return;
    assert_true(rtmfp_session_id(data, size, &id));
    if (id == 0) {
        assert_true(ends_hear(&ends, data, size, &here, now));
        if (ends.n > 0 && !server.open)
            open_server(&ends.sessions[0].keyed);
        to_client(ends.out.datagram, ends.out.size);
        return;
    }
    assert_int_equal(rtmfp_open(world.cipher, &server.opener, data, size, out, &plain),
                     RTMFP_OPENED);
    rtmfp_session_input(&server.session, plain, &here, now);
}

static void server_says(void)
{
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;

    while (server.open) {
        struct wr w = rtmfp_seal_begin(&server.sealer, datagram, sizeof(datagram),
                                       RTMFP_PLAIN_MAX);

        if (!rtmfp_session_output(&server.session, &w, &to, now))
            return;
        to_client(datagram, rtmfp_seal(world.cipher, &server.sealer, ID, &w));
    }
}

/* ---- both, on a clock of their own */

static void run_for(co_usec time)
{
    co_usec end = now + time;

    for (; now < end; now += CO_MS(STEP_MS)) {
        uint8_t datagram[RTMFP_SEALED_MAX];
        struct udp_addr to;
        size_t n;

        while (load_rtmfp_deadline(&peer) <= now &&
               (n = load_rtmfp_output(&peer, datagram, &to, now)) > 0) {
            assert_true(udp_addr_same(&to, &there));
            to_server(datagram, n);
        }
        server_says();
    }
}

static void begin(const struct load_opts *o)
{
    const struct rtmfp_policies offers = { RTMFP_OFFER, RTMFP_OFFER };

    now = CO_SECONDS(1000);
    memset(&server, 0, sizeof(server));
    memset(&stat, 0, sizeof(stat));
    here = ends_address(2, 5000);
    there = ends_address(1, 1935);
    ends_init(&ends, &offers, &offers);
    assert_true(load_rtmfp_world_init(&world, o, &stat.rtmfp));
    assert_true(load_rtmfp_begin(&peer, &world, ID, "live", "rtmfp://10.0.0.1/live", &there, now));
}

static void end(void)
{
    load_rtmfp_end(&peer);
    if (server.open)
        rtmfp_session_fini(&server.session);
    load_rtmfp_world_fini(&world);
    ends_fini(&ends);
}

static const struct load_opts plain = { .group = 2, .ping = 1, .timeout = 10 };

static void opens_connects_pings(void **state)
{
    static const int groups[] = { 2, 5, 14 };

    (void)state;
    for (int i = 0; i < 12; i++) {
        struct load_opts o = { .group = groups[i % 3], .hmac = i / 3 & 1, .sequence = i / 6,
                               .ping = 1, .timeout = 10 };

        begin(&o);
        run_for(CO_MS(100));
        assert_int_equal(peer.state, LOAD_RTMFP_READY);
        assert_int_equal(server.connects, 1);
        assert_int_equal(stat.rtmfp.opened, 1);
        assert_int_equal(stat.rtmfp.startup_sent, 2);
        assert_int_equal(peer.sealer.key.hmac != 0, o.hmac);
        assert_int_equal(peer.sealer.key.numbered, o.sequence);
        run_for(CO_MS(10500));
        assert_int_equal(stat.rtmfp.pings, 10);
        assert_int_equal(stat.rtmfp.replies, 10);
        assert_int_equal(stat.rtmfp.lost, 0);
        assert_int_equal(stat.rtmfp.forged, 0);
        end();
    }
}

static void bare_ones_never_connect(void **state)
{
    struct load_opts o = plain;

    (void)state;
    o.bare = true;
    begin(&o);
    run_for(CO_MS(3500));
    assert_int_equal(peer.state, LOAD_RTMFP_READY);
    assert_int_equal(server.connects, 0);
    assert_int_equal(stat.rtmfp.replies, 3);
    end();
}

static void is_refused(void **state)
{
    (void)state;
    begin(&plain);
    server.refuses = true;
    run_for(CO_MS(100));
    assert_int_equal(peer.state, LOAD_RTMFP_REFUSED);
    end();
}

static void lost_pings_and_silence_are_told(void **state)
{
    (void)state;
    begin(&plain);
    run_for(CO_MS(3500));
    server.deaf = true;
    run_for(CO_MS(4000));
    assert_int_equal(stat.rtmfp.replies, 3);
    assert_int_equal(stat.rtmfp.lost, 3); /* the last one may still be answered */
    run_for(CO_SECONDS(8));
    assert_int_equal(peer.state, LOAD_RTMFP_ENDED);
    assert_int_equal(peer.session.end, RTMFP_ENDED_SILENT);
    end();
}

static void nobody_answers(void **state)
{
    (void)state;
    begin(&plain);
    server.deaf = true;
    run_for(CO_SECONDS(94));
    assert_int_equal(peer.state, LOAD_RTMFP_OPENING);
    run_for(CO_SECONDS(2));
    assert_int_equal(peer.state, LOAD_RTMFP_UNANSWERED);
    assert_int_equal(stat.rtmfp.opened, 0);
    end();
}

static void either_side_closes(void **state)
{
    (void)state;
    for (int ours = 0; ours < 2; ours++) {
        begin(&plain);
        run_for(CO_MS(100));
        if (ours)
            load_rtmfp_close(&peer, now);
        else
            rtmfp_session_close(&server.session, now);
        run_for(CO_MS(100));
        assert_int_equal(peer.state, LOAD_RTMFP_ENDED);
        assert_int_equal(peer.session.end, ours ? RTMFP_ENDED_HERE : RTMFP_ENDED_THERE);
        assert_int_equal(server.session.end, ours ? RTMFP_ENDED_THERE : RTMFP_ENDED_HERE);
        assert_int_equal(server.closed, 1);
        end();
    }
}

static void garbage_is_counted_and_harmless(void **state)
{
    uint8_t junk[2 * RTMFP_BLOCK + 4] = { 1 };

    (void)state;
    begin(&plain);
    for (size_t n = 0; n <= sizeof(junk); n++) {
        assert_int_equal(load_rtmfp_whose(&world, junk, n), 0);
        load_rtmfp_input(&peer, junk, n, &there, now);
    }
    run_for(CO_MS(100));
    assert_int_equal(peer.state, LOAD_RTMFP_READY);
    load_rtmfp_input(&peer, junk, sizeof(junk), &there, now);
    assert_int_equal(stat.rtmfp.forged, 1);
    assert_int_equal(peer.state, LOAD_RTMFP_READY);
    end();
}

static void addresses_have_to_fit(void **state)
{
    char text[200];

    (void)state;
    begin(&plain);
    load_rtmfp_end(&peer);
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_false(load_rtmfp_begin(&peer, &world, ID, text, "rtmfp://h/a", &there, now));
    assert_false(load_rtmfp_begin(&peer, &world, ID, "a", text, &there, now));
    end();
}

static void looks_at_a_process(void **state)
{
    struct load_pid me;

    (void)state;
    assert_true(load_pid_look(&me, getpid()));
    assert_true(me.kb > 100 && me.cpu >= 0);
    assert_false(load_pid_look(&me, -1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(opens_connects_pings), TEST(bare_ones_never_connect), TEST(is_refused),
        TEST(lost_pings_and_silence_are_told), TEST(nobody_answers), TEST(either_side_closes),
        TEST(garbage_is_counted_and_harmless), TEST(addresses_have_to_fit),
        TEST(looks_at_a_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
