/* SPDX-License-Identifier: MIT */
/* test_load_rtmfp.c - a client of the RTMFP load tool against a responder in memory: keys in every
 * group, with HMACs and numbers or without, connect, pings that are answered or lost, the end by
 * either side and by silence; a player and a publisher. */
#include "rtmfp_ends.h"

#include "proto/rtmfp/rtmp.h"
#include "proto/rtmfp/session.h"
#include "proto/rtmp/amf0.h"
#include "proto/rtmp/msg.h"
#include "tools/load/rtmfp_peer.h"
#include "tools/load/run.h"

#include <unistd.h>

enum { ID = 0x1234abcd, STEP_MS = 5 };

static struct ends ends;
static struct load_run run; /* large */
static struct load_media media;
static struct load_rtmfp_world world;
static struct load_rtmfp_peer peer;
static struct udp_addr here, there;
static co_usec now;

/* ---- the server's side of the session */

static struct {
    bool open, deaf, refuses;
    struct rtmfp_session session;
    struct rtmfp_session_set set;
    struct rtmfp_sealer sealer;
    struct rtmfp_opener opener;
    unsigned connects, closed, media[2], odd;
    uint32_t time[2];
} server;

static bool on_opened(struct rtmfp_session *s, struct rtmfp_flow_in *f,
                      struct rtmfp_bytes metadata, struct rtmfp_flow_out *answers)
{
    (void)s;
    (void)f;
    assert_int_equal(metadata.n, 4);
    assert_memory_equal(metadata.p, "TC\4", 3);
    assert_true(metadata.p[3] == 0 || answers); /* flows of a stream answer ours */
    return true;
}

static void say(struct rtmfp_flow_out *flow, uint8_t type, uint32_t time, const void *p, size_t n)
{
    struct rtmfp_message *m = rtmfp_rtmp_message_new(type, time, rtmfp_bytes(p, n), now);

    assert_true(rtmfp_flow_out_write(flow, m, true));
    rtmfp_message_unref(m);
}

static void say_status(struct rtmfp_session *s, struct rtmfp_flow_in *f, const char *code)
{
    static const uint8_t metadata[] = { 'T', 'C', 4, 1 };
    struct rtmfp_flow_out *out = rtmfp_flow_open(s, rtmfp_bytes(metadata, 4), f, RTMFP_COMMANDS);
    struct wr w;

    wr_init(&w, 256);
    amf0_string(&w, "onStatus");
    amf0_number(&w, 0);
    amf0_null(&w);
    amf0_object_begin(&w);
    amf0_set_string(&w, "level", server.refuses ? "error" : "status");
    amf0_set_string(&w, "code", code);
    amf0_end(&w);
    say(out, RTMP_COMMAND, 0, w.buf, w.len);
    wr_free(&w);
    say(out, RTMP_AUDIO, 0, "\xaf\1a", 3);
    say(out, RTMP_AUDIO, 23, "\xaf\1b", 3);
    say(out, RTMP_AUDIO, 46, "\xaf\1c", 3);
    say(out, RTMP_AUDIO, 116, "\xaf\1d", 3);
}

static void say_result(struct rtmfp_session *s, struct rtmfp_flow_in *f, double id)
{
    static const uint8_t metadata[] = { 'T', 'C', 4, 0 };
    struct rtmfp_flow_out *out = rtmfp_flow_open(s, rtmfp_bytes(metadata, 4), f, RTMFP_COMMANDS);
    struct wr w;

    wr_init(&w, 64);
    amf0_string(&w, server.refuses ? "_error" : "_result");
    amf0_number(&w, id);
    amf0_null(&w);
    amf0_number(&w, 1);
    say(out, RTMP_COMMAND, 0, w.buf, w.len);
    wr_free(&w);
}

static bool is_command(struct rtmfp_bytes body, const char *name)
{
    size_t n = strlen(name);

    return body.n > n + 3 && body.p[2] == n && memcmp(body.p + 3, name, n) == 0;
}

static bool on_message(struct rtmfp_session *s, struct rtmfp_flow_in *f, const uint8_t *data,
                       size_t size)
{
    struct rtmfp_rtmp_message said;

    assert_true(rtmfp_rtmp_message_parse(&said, rtmfp_bytes(data, size)));
    if (said.type == RTMP_COMMAND && is_command(said.body, "connect")) {
        say_result(s, f, 1);
        server.connects++;
    } else if (said.type == RTMP_COMMAND && is_command(said.body, "createStream")) {
        say_result(s, f, 4);
    } else if (said.type == RTMP_COMMAND && is_command(said.body, "play")) {
        say_status(s, f, "NetStream.Play.Start");
    } else if (said.type == RTMP_COMMAND && is_command(said.body, "publish")) {
        say_status(s, f, "NetStream.Publish.Start");
    } else if (said.type == RTMP_AUDIO || said.type == RTMP_VIDEO) {
        unsigned track = said.type == RTMP_VIDEO;

        server.media[track]++;
        server.odd += said.time < server.time[track];
        server.time[track] = said.time;
    }
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

/* ---- both, with a simulated clock */

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
    memset(&run, 0, sizeof(run));
    here = ends_address(2, 5000);
    there = ends_address(1, 1935);
    ends_init(&ends, &offers, &offers);
    assert_true(load_rtmfp_world_init(&world, o, media.count ? &media : NULL, &run.stat));
    assert_true(load_rtmfp_begin(&peer, &world, ID, world.wants ? "live/x" : "live",
                                 world.wants ? "rtmfp://10.0.0.1/live/x" : "rtmfp://10.0.0.1/live",
                                 &there, now));
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
        assert_int_equal(run.stat.rtmfp.opened, 1);
        assert_int_equal(run.stat.rtmfp.startup_sent, 2);
        assert_int_equal(peer.sealer.key.hmac != 0, o.hmac);
        assert_int_equal(peer.sealer.key.numbered, o.sequence);
        run_for(CO_MS(10500));
        assert_int_equal(run.stat.rtmfp.pings, 10);
        assert_int_equal(run.stat.rtmfp.replies, 10);
        assert_int_equal(run.stat.rtmfp.lost, 0);
        assert_int_equal(run.stat.rtmfp.forged, 0);
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
    assert_int_equal(run.stat.rtmfp.replies, 3);
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
    assert_int_equal(run.stat.rtmfp.replies, 3);
    assert_int_equal(run.stat.rtmfp.lost, 3); /* the last one may still be answered */
    run_for(CO_SECONDS(8));
    assert_int_equal(peer.state, LOAD_RTMFP_ENDED);
    assert_int_equal(peer.session.end, RTMFP_ENDED_SILENT);
    end();
}

static void there_is_no_answer(void **state)
{
    (void)state;
    begin(&plain);
    server.deaf = true;
    run_for(CO_SECONDS(94));
    assert_int_equal(peer.state, LOAD_RTMFP_OPENING);
    run_for(CO_SECONDS(2));
    assert_int_equal(peer.state, LOAD_RTMFP_UNANSWERED);
    assert_int_equal(run.stat.rtmfp.opened, 0);
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
    assert_int_equal(run.stat.rtmfp.forged, 1);
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

static void plays(void **state)
{
    const struct load_opts o = { .group = 2, .ping = 1, .timeout = 10, .play = true };
    struct load_client client = { .run = &run };

    (void)state;
    begin(&o);
    peer.talk.player = &client;
    run_for(CO_MS(300));
    assert_int_equal(peer.state, LOAD_RTMFP_READY);
    assert_int_equal(run.stat.audio, 4);
    assert_int_equal(run.stat.audio_missing, 2); /* 70 ms are three steps of 23 ms */
    assert_int_equal(run.stat.backwards, 0);
    end();
    begin(&o);
    peer.talk.player = NULL;
    server.refuses = true;
    run_for(CO_MS(300));
    assert_int_equal(peer.state, LOAD_RTMFP_REFUSED);
    end();
}

/* Video of 4 kB each 40 ms, audio each 20 ms. */
static void publishes(void **state)
{
    static uint8_t frame[4000] = "\x27\1\0\0\0\0\0\0\5\x41", key[] = "\x17\1\0\0\0\0\0\0\1\x65";
    struct load_message turn[] = {
        { .data = key, .size = sizeof(key) - 1, .type = RTMP_VIDEO, .key = true },
        { .data = (const uint8_t *)"\xaf\1x", .size = 3, .type = RTMP_AUDIO },
        { .data = (const uint8_t *)"\xaf\1y", .size = 3, .time = 20, .type = RTMP_AUDIO },
        { .data = frame, .size = sizeof(frame), .time = 40, .type = RTMP_VIDEO, .marker = 5,
          .codec = AV_H264 },
    };

    (void)state;
    media = (struct load_media){ .messages = turn, .count = 4, .period = 80 };
    begin(&plain);
    run_for(CO_MS(1000));
    assert_int_equal(peer.state, LOAD_RTMFP_READY);
    assert_in_range(server.media[0], 20, 26);
    assert_in_range(server.media[1], 20, 26);
    assert_int_equal(server.odd, 0);
    assert_int_equal(run.stat.rtmfp.unsent, 0);
    server.deaf = true; /* video waits, and is abandoned */
    run_for(CO_SECONDS(4));
    assert_true(run.stat.rtmfp.unsent > 10);
    server.deaf = false;
    run_for(CO_SECONDS(5));
    assert_true(server.media[0] > 225); /* all of the audio */
    assert_int_equal(server.odd, 0);
    end();
    media.count = 0;
}

/* From one end to the other, which may start later. */
static void pass(struct load_rtmfp_peer *from, struct load_rtmfp_peer *to)
{
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct udp_addr where;
    size_t n;

    while ((n = load_rtmfp_output(from, datagram, &where, now)) > 0)
        load_rtmfp_input(to, datagram, n, &here, now);
}

/* By its id, without a server between them: its address is known. */
static void opens_a_session_to_another_client(void **state)
{
    const struct load_opts o = { .group = 2, .ping = 1, .timeout = 10, .pair = true };
    struct load_rtmfp_peer host, asks, accepts;
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;
    unsigned n = 0;

    (void)state;
    begin(&o);
    assert_true(load_rtmfp_begin(&host, &world, 7, "live", "rtmfp://h/live", &there, now));
    assert_true(load_rtmfp_begin_peer(&asks, &world, 8, &peer, host.me->id, &here, now));
    for (bool open = false; !open; n++) { /* hello, keys */
        size_t size = load_rtmfp_output(&asks, datagram, &to, now);

        assert_true(size > 0 && n < 2);
        open = load_rtmfp_accept(&accepts, &world, 9, &host, datagram, size, &there, now);
        assert_true(world.answer.size > 0);
        load_rtmfp_input(&asks, world.answer.datagram, world.answer.size, &here, now);
    }
    assert_int_equal(asks.state, LOAD_RTMFP_READY);
    assert_int_equal(run.stat.rtmfp.met, 1);
    assert_int_equal(run.stat.rtmfp.opened, 0);
    now += CO_SECONDS(1);
    pass(&asks, &accepts);
    pass(&accepts, &asks);
    assert_int_equal(run.stat.rtmfp.pings, 1);
    assert_int_equal(run.stat.rtmfp.replies, 1);
    load_rtmfp_end(&asks);
    load_rtmfp_end(&accepts);
    load_rtmfp_end(&host);
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
        TEST(lost_pings_and_silence_are_told), TEST(there_is_no_answer), TEST(either_side_closes),
        TEST(garbage_is_counted_and_harmless), TEST(addresses_have_to_fit),
        TEST(plays), TEST(publishes), TEST(opens_a_session_to_another_client),
        TEST(looks_at_a_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
