/* SPDX-License-Identifier: MIT */
/* test_rtmfp_session.c - two sessions over a simulated link that loses, repeats, reorders and delays:
 * each message arrives once and in order, or was abandoned by its sender. */
#include "unit.h"

#include "udp_net.h"
#include "proto/rtmfp/session.h"

#include <stdlib.h>
#include <string.h>

#define MS(n) ((co_usec)(n) * 1000)
#define SECOND MS(1000)

static const uint8_t control[] = { 'T', 'C', 4, 0 };
static const uint8_t media[] = { 'T', 'C', 4, 1 };

static uint64_t seed;

static unsigned chance(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* ---- two ends */

enum { FLOWS = 4, SENT_MAX = 20000 };

struct end {
    struct rtmfp_session session;
    struct rtmfp_session_set set;
    struct udp *udp;
    struct udp_path path;              /* to the other one */
    uint8_t out[RTMFP_PLAIN_MAX];
    struct iovec iov;
    struct rtmfp_flow_in *control;     /* the other side's */
    unsigned opened, closed, done, rejected, moved, forwarded;
    uint64_t last[FLOWS];              /* number of the last message of a stream, from 1 */
    uint64_t got[FLOWS];
    uint64_t expect[FLOWS];            /* written to it */
    bool reject_all, close_on_message;
    size_t bytes, bytes_forwarded;
};

static struct udp_net *net;
static struct end ends[2];

static co_usec clock_now(void)
{
    return udp_net_now(net);
}

static struct end *end_of(struct rtmfp_session *s)
{
    return s == &ends[0].session ? &ends[0] : &ends[1];
}

static bool on_opened(struct rtmfp_session *s, struct rtmfp_flow_in *f,
                      struct rtmfp_bytes metadata, struct rtmfp_flow_out *answers)
{
    struct end *e = end_of(s);

    (void)answers;
    e->opened++;
    if (metadata.n == sizeof(control) && metadata.p[3] == 0)
        e->control = f;
    return !e->reject_all;
}

/* A message: its stream, its number, and bytes derived from both. */
static bool on_message(struct rtmfp_session *s, struct rtmfp_flow_in *f, const uint8_t *data,
                       size_t size)
{
    struct end *e = end_of(s);
    struct rd r = rd_init(data, size);
    uint8_t stream = rd_u8(&r);
    uint64_t number = rd_u64(&r);

    (void)f;
    if (size < 9) /* data written by hand: hear_bytes() */
        return true;
    assert_true(stream < FLOWS);
    assert_true(number > e->last[stream]); /* in order, and once */
    e->last[stream] = number;
    e->got[stream]++;
    e->bytes += size;
    for (size_t i = 9; i < size; i++)
        if (data[i] != (uint8_t)(number + i))
            fail_msg("byte %zu of message %u", i, (unsigned)number);
    if (e->close_on_message)
        rtmfp_session_close(s, clock_now());
    return true;
}

static void on_closed(struct rtmfp_session *s, struct rtmfp_flow_in *f)
{
    struct end *e = end_of(s);

    e->closed++;
    if (e->control == f)
        e->control = NULL;
}

static void on_done(struct rtmfp_session *s, struct rtmfp_flow_out *f, bool rejected)
{
    (void)f;
    end_of(s)->done++;
    end_of(s)->rejected += rejected;
}

static void on_moved(struct rtmfp_session *s, const struct udp_addr *from)
{
    (void)from;
    end_of(s)->moved++;
}

static void on_forwarded(struct rtmfp_session *s, struct rtmfp_bytes body)
{
    end_of(s)->forwarded++;
    end_of(s)->bytes_forwarded = body.n;
}

static const struct rtmfp_session_ops ops = {
    .opened = on_opened, .message = on_message, .closed = on_closed, .done = on_done,
    .moved = on_moved, .forwarded = on_forwarded,
};

/* ---- the network between them */

static void input(void *me, const struct udp_in *v, size_t n, co_usec now)
{
    struct end *e = me;

    (void)now;
    for (size_t i = 0; i < n; i++)
        rtmfp_session_input(&e->session, rtmfp_bytes(v[i].data, v[i].size), &v[i].path.peer,
                            clock_now());
}

static size_t output(void *me, struct udp_out *v, size_t most, co_usec now)
{
    struct end *e = me;
    struct wr w = rtmfp_wr(e->out, sizeof(e->out));

    (void)most;
    (void)now;
    if (!rtmfp_session_output(&e->session, &w, &e->path.peer, clock_now()))
        return 0;
    e->iov = (struct iovec){ e->out, w.len };
    *v = (struct udp_out){ .iov = &e->iov, .count = 1, .path = &e->path };
    return 1;
}

static co_usec deadline(void *me)
{
    struct end *e = me;

    return rtmfp_session_deadline(&e->session);
}

static void tick(void *me, co_usec now)
{
    (void)me; /* output() returns what is due */
    (void)now;
}

static const struct udp_proto proto = { input, output, deadline, tick };

static void open_end(unsigned i, const struct rtmfp_session_set *set)
{
    struct end *e = &ends[i];

    memset(e, 0, sizeof(*e));
    e->set = *set;
    e->set.mode = i ? RTMFP_RESPONDER : RTMFP_INITIATOR;
    assert_ok(udp_net_open(net, &e->udp, "127.0.0.1", 1000 + (int)i,
                           &(struct udp_opts){ .most = 0 }));
    assert_ok(udp_addr_parse(&e->path.peer, "127.0.0.1", 1001 - (int)i));
    udp_net_attach(e->udp, &proto, e);
    rtmfp_session_init(&e->session, &e->set, &e->path.peer, clock_now());
}

static void begin(uint64_t s, const struct udp_net_rules *rules)
{
    struct rtmfp_session_set set = {
        .ops = &ops, .ping = 20 * SECOND, .timeout = 60 * SECOND, .message_max = 1 << 20,
        .key = { 7 },
    };

    seed = s * 977 + 1;
    net = udp_net_new(s, rules);
    for (unsigned i = 0; i < 2; i++)
        open_end(i, &set);
}

static void run(co_usec time)
{
    udp_net_run(net, time);
}

static void finish(void)
{
    for (unsigned i = 0; i < 2; i++) {
        rtmfp_session_fini(&ends[i].session);
        udp_close(ends[i].udp);
    }
    udp_net_free(net);
}

/* ---- their messages */

static struct rtmfp_flow_out *open_flow(unsigned i, bool of_media, enum rtmfp_order order)
{
    struct rtmfp_flow_out *f =
        rtmfp_flow_open(&ends[i].session, rtmfp_bytes(of_media ? media : control, 4),
                        of_media ? ends[i].control : NULL, order);

    assert_non_null(f);
    return f;
}

static void write_message(unsigned i, struct rtmfp_flow_out *f, unsigned stream, size_t size,
                          bool keep)
{
    struct rtmfp_message *m = rtmfp_message_new(size, clock_now());
    uint64_t number = ++ends[i].expect[stream];
    struct wr w = rtmfp_wr(m->bytes, size);

    wr_u8(&w, (uint8_t)stream);
    wr_be(&w, number, 8);
    for (size_t k = 9; k < size; k++)
        m->bytes[k] = (uint8_t)(number + k);
    assert_true(rtmfp_flow_out_write(f, m, keep));
    rtmfp_message_unref(m);
}

static const struct udp_net_rules plain_net = { .delay = MS(20) };

static void messages_arrive(void **state)
{
    static const size_t sizes[] = { 9, 10, 100, 1100, 1150, 1200, 3000, 60000 };
    struct rtmfp_flow_out *f;

    (void)state;
    begin(1, &plain_net);
    f = open_flow(0, false, RTMFP_COMMANDS);
    for (unsigned k = 0; k < COUNT(sizes); k++)
        write_message(0, f, 0, sizes[k], true);
    run(5 * SECOND);
    assert_int_equal(ends[1].got[0], COUNT(sizes));
    assert_int_equal(f->base, f->next_seq);
    assert_null(f->fragments); /* an idle one uses no memory */
    assert_int_equal(ends[0].session.congestion.in_flight, 0);
    rtmfp_flow_out_close(f);
    run(2 * SECOND);
    assert_int_equal(ends[1].closed, 1);
    assert_int_equal(ends[0].done, 1);
    assert_int_equal(ends[1].session.n_ins, 0);
    finish();
}

static void write_frames(struct rtmfp_flow_out *flows[2][3], unsigned frame)
{
    for (unsigned i = 0; i < 2; i++) {
        if (frame % 10 == 0)
            write_message(i, flows[i][0], 0, 9 + chance(400), true);
        write_message(i, flows[i][1], 1, 9 + chance(300), true);
        write_message(i, flows[i][2], 2, 9 + chance(frame % 20 ? 4000 : 20000), false);
        rtmfp_flow_out_abandon(flows[i][2], clock_now() - MS(300));
    }
}

static void all_is_over(unsigned i)
{
    const struct end *from = &ends[1 - i], *to = &ends[i];

    assert_int_equal(to->got[0], from->expect[0]); /* all that is kept */
    assert_int_equal(to->got[1], from->expect[1]);
    assert_true(to->got[2] <= from->expect[2]);
    assert_int_equal(to->session.n_ins, 0);
    assert_int_equal(to->session.n_outs, 0);
    assert_int_equal(to->session.store.held, 0);
    assert_int_equal(to->session.congestion.in_flight, 0);
    assert_int_equal(to->session.stat.bad_chunks, 0);
}

/* Commands and audio kept, video abandoned after 300 ms, both ways, one GOP after another. */
static void one_seed(uint64_t s)
{
    struct udp_net_rules rules = {
        .drop = (unsigned)(s * 7 % 120), .repeat = (unsigned)(s * 5 % 60),
        .hold = (unsigned)(s * 11 % 120), .held = MS(s % 30), .delay = MS(1 + s % 60),
        .jitter = MS(s % 5),
    };
    struct rtmfp_flow_out *flows[2][3];

    begin(s, &rules);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 3; k++)
            flows[i][k] = open_flow(i, false, (enum rtmfp_order)k);
    for (unsigned frame = 0; frame < 40; frame++) {
        write_frames(flows, frame);
        run(MS(40));
    }
    for (unsigned i = 0; i < 2; i++)
        for (struct rtmfp_flow_out *f = ends[i].session.outs; f; f = f->next)
            rtmfp_flow_out_close(f);
    udp_net_rule(net, &plain_net);
    run(30 * SECOND);
    all_is_over(0);
    all_is_over(1);
    rtmfp_session_close(&ends[0].session, clock_now());
    run(30 * SECOND);
    assert_int_equal(ends[0].session.state, RTMFP_CLOSED);
    assert_int_equal(ends[1].session.state, RTMFP_CLOSED);
    finish();
}

static void seeds(void **state)
{
    unsigned n = getenv("SEEDS") ? (unsigned)atoi(getenv("SEEDS")) : 200;

    (void)state;
    for (uint64_t k = 1; k <= n; k++)
        one_seed(k);
}

/* ---- its limits, its end */

/* A plain packet of the peer with one chunk. */
static void hear(enum rtmfp_mode mode, uint8_t type, const void *body, size_t size,
                 const struct udp_addr *from)
{
    uint8_t bytes[RTMFP_PLAIN_MAX];
    struct wr w = rtmfp_wr(bytes, sizeof(bytes));
    size_t at;

    rtmfp_packet_begin(&w, &(struct rtmfp_head){ .mode = mode });
    at = rtmfp_chunk_begin(&w, (enum rtmfp_type)type);
    wr_bytes(&w, body, size);
    assert_true(rtmfp_chunk_end(&w, at));
    rtmfp_session_input(&ends[0].session, rtmfp_bytes(bytes, w.len), from, clock_now());
}

static void hear_bytes(const char *chunk, size_t size)
{
    hear(RTMFP_RESPONDER, (uint8_t)chunk[0], chunk + 1, size - 1, &ends[0].path.peer);
}

/* Invalid chunks are dropped, counted, and change nothing. */
static void nonsense(void **state)
{
    static const struct {
        const char *what, *bytes;
        size_t size;
    } rows[] = {
#define ROW(what, bytes) { what, bytes, sizeof(bytes) - 1 }
        ROW("an ack of what was never sent", "\x51\x01\x7f\x05"),
        ROW("2^64-1", "\x51\x01\x7f\x81\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
        ROW("ranges of it", "\x51\x01\x7f\x00\x00\x00"),
        ROW("a bitmap of it", "\x50\x01\x7f\x00\xff"),
        ROW("a cut ack", "\x51\x01"),
        ROW("a cut probe", "\x18\x81"),
        ROW("a cut exception", "\x5e\x01"),
        ROW("user data without anything", "\x10"),
        ROW("FSN above the sequence", "\x10\x00\x07\x01\x02x"),
        ROW("sequence 0", "\x10\x00\x07\x00\x00x"),
        ROW("next user data after nothing", "\x11\x00x"),
#undef ROW
    };

    (void)state;
    begin(1, &plain_net);
    open_flow(0, false, RTMFP_COMMANDS);
    for (size_t i = 0; i < COUNT(rows); i++) {
        hear_bytes(rows[i].bytes, rows[i].size);
        if (ends[0].session.stat.bad_chunks != i + 1)
            fail_msg("%s is taken", rows[i].what);
    }
    assert_int_equal(ends[0].session.state, RTMFP_OPEN);
    assert_int_equal(ends[0].session.n_ins, 0);
    assert_int_equal(ends[0].session.congestion.in_flight, 0);
    finish();
}

/* Each acknowledgement costs a walk over the packets in flight: a packet has one per flow. */
static void a_packet_has_one_ack_of_a_flow(void **state)
{
    uint8_t bytes[RTMFP_PLAIN_MAX];
    struct wr w = rtmfp_wr(bytes, sizeof(bytes));

    (void)state;
    begin(1, &plain_net);
    open_flow(0, false, RTMFP_COMMANDS);
    open_flow(0, false, RTMFP_AUDIO);
    rtmfp_packet_begin(&w, &(struct rtmfp_head){ .mode = RTMFP_RESPONDER });
    for (uint64_t i = 0; i < 100; i++)
        assert_true(rtmfp_ack_write_ranges(&w, &(struct rtmfp_ack){ .flow = 1 + i % 2,
                                                                    .window = 1 + i }, NULL, 0));
    rtmfp_session_input(&ends[0].session, rtmfp_bytes(bytes, w.len), &ends[0].path.peer,
                        clock_now());
    assert_int_equal(ends[0].session.stat.bad_chunks, 98);
    assert_int_equal(ends[0].session.outs->room, 1024);
    finish();
}

static void own_mode_and_startup_are_nothing(void **state)
{
    (void)state;
    begin(1, &plain_net);
    hear(RTMFP_INITIATOR, RTMFP_CLOSE, NULL, 0, &ends[0].path.peer);
    hear(RTMFP_STARTUP, RTMFP_CLOSE, NULL, 0, &ends[0].path.peer);
    assert_int_equal(ends[0].session.stat.received, 0);
    hear(RTMFP_RESPONDER, RTMFP_IHELLO, "x", 1, &ends[0].path.peer);
    assert_int_equal(ends[0].session.state, RTMFP_OPEN);
    hear(RTMFP_RESPONDER, RTMFP_CLOSE, NULL, 0, &ends[0].path.peer);
    assert_int_equal(ends[0].session.state, RTMFP_LINGERING);
    finish();
}

/* 65 flows: the session ends, and the peer gets a packet that ends it there, too. */
static void flows_have_a_limit(void **state)
{
    char chunk[] = "\x10\x80\x01\x01\x01\x05\x00TC\x04\x00\x00";

    (void)state;
    begin(1, &plain_net);
    for (int i = 0; i < RTMFP_FLOWS_MAX; i++) {
        chunk[2] = (char)(i + 1);
        hear_bytes(chunk, sizeof(chunk) - 1);
        assert_int_equal(ends[0].session.n_ins, i + 1);
    }
    chunk[2] = 100;
    hear_bytes(chunk, sizeof(chunk) - 1);
    assert_int_equal(ends[0].session.state, RTMFP_CLOSED);
    assert_int_equal(ends[0].session.end, RTMFP_ENDED_HOSTILE);
    assert_int_equal(ends[0].closed, RTMFP_FLOWS_MAX);
    run(SECOND);
    assert_int_equal(ends[1].session.state, RTMFP_CLOSED);
    assert_int_equal(ends[1].session.end, RTMFP_ENDED_THERE);
    finish();
}

static void rejected_flows_end(void **state)
{
    struct rtmfp_flow_out *f;

    (void)state;
    begin(1, &plain_net);
    ends[1].reject_all = true;
    f = open_flow(0, false, RTMFP_COMMANDS);
    for (int i = 0; i < 10; i++)
        write_message(0, f, 0, 3000, true);
    run(5 * SECOND);
    assert_int_equal(ends[1].got[0], 0);
    assert_int_equal(ends[0].rejected, 1);
    assert_int_equal(ends[0].session.n_outs, 0);
    assert_int_equal(ends[1].session.n_ins, 0);
    assert_int_equal(ends[1].session.store.held, 0);
    finish();
}

/* Flows that need an option, or answer a flow that does not exist, are rejected; unknown options that
 * may be ignored are. */
static void flows_are_judged_by_their_options(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        bool taken;
    } rows[] = {
#define ROW(bytes, taken) { bytes, sizeof(bytes) - 1, taken }
        ROW("\x10\x80\x01\x01\x01\x05\x00TC\x04\x00\x00x", true),
        ROW("\x10\x00\x02\x01\x01x", false),
        ROW("\x10\x80\x03\x01\x01\x05\x00TC\x04\x00\x02\x0a\x09\x00x", false),
        ROW("\x10\x80\x04\x01\x01\x05\x00TC\x04\x00\x02\x0a\x01\x00x", true),
        ROW("\x10\x80\x05\x01\x01\x05\x00TC\x04\x00\x02\x0b\x01\x00x", false),
        ROW("\x10\x80\x06\x01\x01\x05\x00TC\x04\x00\x03\xc0\x00\x01\x00x", true),
#undef ROW
    };

    (void)state;
    begin(1, &plain_net);
    open_flow(0, false, RTMFP_COMMANDS); /* id 1 */
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct rtmfp_flow_in *f;

        ends[0].reject_all = false;
        hear_bytes(rows[i].bytes, rows[i].size - 1);
        f = ends[0].session.ins;
        assert_int_equal(f->id, i + 1);
        if (f->rejected == rows[i].taken)
            fail_msg("flow %u", (unsigned)i + 1);
    }
    finish();
}

static void the_silent_are_pinged_and_end(void **state)
{
    (void)state;
    begin(1, &(struct udp_net_rules){ .drop = 1000 });
    run(19 * SECOND);
    assert_int_equal(ends[0].session.stat.sent, 0);
    run(2 * SECOND);
    assert_int_equal(ends[0].session.stat.sent, 1);
    run(38 * SECOND);
    assert_int_equal(ends[0].session.state, RTMFP_OPEN);
    run(3 * SECOND);
    assert_int_equal(ends[0].session.state, RTMFP_CLOSED);
    assert_int_equal(ends[0].session.end, RTMFP_ENDED_SILENT);
    finish();
}

static void pings_keep_a_session(void **state)
{
    (void)state;
    begin(1, &plain_net);
    run(600 * SECOND);
    assert_int_equal(ends[0].session.state, RTMFP_OPEN);
    assert_int_equal(ends[1].session.state, RTMFP_OPEN);
    assert_in_range(ends[0].session.stat.received, 20, 70);
    assert_int_equal(ends[0].session.stat.pings_lost, 0);
    finish();
}

/* Packets from another address move nothing; an answer from there does. */
static void moves(void **state)
{
    struct udp *other;
    struct udp_addr at;

    (void)state;
    begin(1, &plain_net);
    assert_ok(udp_addr_parse(&at, "127.0.0.2", 77));
    ends[0].session.hmac = true;
    hear(RTMFP_RESPONDER, RTMFP_PING, "x", 1, &at);
    assert_false(udp_addr_same(&ends[0].session.peer, &at));
    run(SECOND);
    assert_int_equal(ends[0].moved, 0);
    hear(RTMFP_RESPONDER, RTMFP_PING_REPLY, "MMMMMMMMMMMMMMMMM", 17, &at);
    assert_int_equal(ends[0].moved, 0);

    /* the other end is there now */
    assert_ok(udp_net_open(net, &other, "127.0.0.2", 77, &(struct udp_opts){ .most = 0 }));
    udp_close(ends[1].udp);
    ends[1].udp = other;
    udp_net_attach(other, &proto, &ends[1]);
    rtmfp_session_ping(&ends[1].session);
    udp_wake(other);
    run(3 * SECOND);
    assert_int_equal(ends[0].moved, 1);
    assert_true(udp_addr_same(&ends[0].session.peer, &at));
    run(600 * SECOND);
    assert_int_equal(ends[0].session.state, RTMFP_OPEN);
    finish();
}

/* Another client looks for a peer: it is notified, in its session, as often as there is room. */
static void hellos_are_forwarded(void **state)
{
    static const uint8_t body[RTMFP_FORWARD_MAX + 1] = { 3, 1, 2, 3 };
    static const size_t sizes[] = { 0, 1, 40, RTMFP_FORWARD_MAX };

    (void)state;
    begin(1, &plain_net);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        assert_true(rtmfp_session_forward(&ends[0].session, rtmfp_bytes(body, sizes[i])));
        udp_wake(ends[0].udp);
        run(SECOND);
        assert_int_equal(ends[1].forwarded, i + 1);
        assert_int_equal(ends[1].bytes_forwarded, sizes[i]);
    }
    assert_false(rtmfp_session_forward(&ends[0].session, rtmfp_bytes(body, sizeof(body))));
    for (unsigned i = 0; i < RTMFP_FORWARDS_MAX; i++)
        assert_true(rtmfp_session_forward(&ends[0].session, rtmfp_bytes(body, RTMFP_FORWARD_MAX)));
    assert_false(rtmfp_session_forward(&ends[0].session, rtmfp_bytes(body, 1)));
    udp_wake(ends[0].udp);
    run(SECOND);
    assert_int_equal(ends[1].forwarded, COUNT(sizes) + RTMFP_FORWARDS_MAX);
    assert_true(rtmfp_session_deadline(&ends[0].session) > clock_now());
    assert_true(rtmfp_session_forward(&ends[0].session, rtmfp_bytes(body, 1)));
    rtmfp_session_close(&ends[0].session, clock_now()); /* queued data goes with it */
    assert_false(rtmfp_session_forward(&ends[0].session, rtmfp_bytes(body, 1)));
    finish();
}

/* The receiver of a message may close the session. */
static void closed_while_it_reads(void **state)
{
    struct rtmfp_flow_out *f;

    (void)state;
    begin(1, &plain_net);
    ends[1].close_on_message = true;
    f = open_flow(0, false, RTMFP_COMMANDS);
    for (int i = 0; i < 5; i++)
        write_message(0, f, 0, 20, true);
    run(SECOND);
    assert_int_equal(ends[1].got[0], 1);
    assert_int_equal(ends[0].session.state, RTMFP_LINGERING);
    assert_int_equal(ends[0].session.end, RTMFP_ENDED_THERE);
    assert_int_equal(ends[1].session.state, RTMFP_CLOSED);
    assert_int_equal(ends[1].session.end, RTMFP_ENDED_HERE);
    run(20 * SECOND);
    assert_int_equal(ends[0].session.state, RTMFP_CLOSED);
    finish();
}

/* At most 6 packets are sent before an acknowledgement, and a peer that never acknowledges gets ever fewer. */
static void bursts_are_bounded(void **state)
{
    struct rtmfp_flow_out *f;

    (void)state;
    begin(1, &(struct udp_net_rules){ .drop = 1000 });
    f = open_flow(0, false, RTMFP_VIDEO);
    write_message(0, f, 0, 100000, true);
    run(MS(100));
    assert_in_range(ends[0].session.stat.sent, 3, RTMFP_BURST);
    run(30 * SECOND);
    assert_in_range(ends[0].session.stat.sent, 8, 30);
    finish();
}

/* A peer without room is probed for some; a peer that does not support the probe gets a
 * fragment. */
static void no_room(void **state)
{
    (void)state;
    for (int older = 0; older < 2; older++) {
        struct rtmfp_flow_out *f;

        begin(1, &plain_net);
        ends[0].session.older = older;
        f = open_flow(0, false, RTMFP_COMMANDS);
        write_message(0, f, 0, 100, true);
        run(SECOND);
        assert_int_equal(ends[1].got[0], 1);
        ends[1].session.ins->suspended = true;
        write_message(0, f, 0, 100, true);
        run(SECOND);
        assert_int_equal(ends[1].got[0], 2);
        assert_int_equal(f->room, 0);
        write_message(0, f, 0, 100, true);
        run(MS(500));
        assert_int_equal(ends[1].got[0], 2);
        run(3 * SECOND);
        assert_int_equal(ends[1].got[0], older ? 3 : 2);
        ends[1].session.ins->suspended = false;
        run(10 * SECOND);
        assert_int_equal(ends[1].got[0], 3);
        finish();
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(messages_arrive),
        TEST(seeds),
        TEST(nonsense),
        TEST(a_packet_has_one_ack_of_a_flow),
        TEST(own_mode_and_startup_are_nothing),
        TEST(flows_have_a_limit),
        TEST(rejected_flows_end),
        TEST(flows_are_judged_by_their_options),
        TEST(the_silent_are_pinged_and_end),
        TEST(pings_keep_a_session),
        TEST(moves),
        TEST(hellos_are_forwarded),
        TEST(closed_while_it_reads),
        TEST(bursts_are_bounded),
        TEST(no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
