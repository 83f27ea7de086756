/* SPDX-License-Identifier: MIT */
/* test_rtmfp_link.c - from the first hello to the last close over a simulated link that loses, repeats,
 * reorders, corrupts and delays, from a seed, with a clock that jumps: each message arrives once and in
 * order, or was abandoned by its sender, and nothing is left.
 */
#include "rtmfp_bytes.h"

#include "proto/rtmfp/initiator.h"
#include "proto/rtmfp/responder.h"
#include "proto/rtmfp/session.h"

enum { FLOWS = 2, UNDER_WAY = 512, SEEDS = 1000 };

/* ---- random numbers */

static uint64_t dice;

static unsigned chance(unsigned n)
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(dice >> 33) % n;
}

/* ---- the link: datagrams with their times of arrival */

struct flying {
    co_usec at;
    bool to_server;
    size_t size;
    uint8_t data[RTMFP_SEALED_MAX];
};

static struct flying *flying[UNDER_WAY];
static size_t n_flying;
static co_usec now;
static unsigned sent, lost, loss; /* loss: in percent */
static bool has_hmac;

/* Datagrams with a checksum only are corrupted so that they cannot be taken for something else. */
static void spoil(struct flying *f)
{
    if (has_hmac && chance(2))
        f->data[RTMFP_ID + chance((unsigned)f->size - RTMFP_ID)] ^= (uint8_t)(1 + chance(255));
    else if (chance(2))
        f->data[chance(RTMFP_ID)] ^= (uint8_t)(1 + chance(255));
    else
        f->size -= 1 + chance(RTMFP_BLOCK - 1);
}

static void fly(const uint8_t *data, size_t size, bool to_server, bool whole)
{
    struct flying *f;

    sent++;
    if (chance(100) < loss || n_flying == UNDER_WAY) {
        lost++;
        return;
    }
    f = malloc(sizeof(*f));
    f->at = now + CO_MS(5 + chance(20)) + (chance(20) ? 0 : CO_MS(chance(200)));
    f->to_server = to_server;
    f->size = size;
    memcpy(f->data, data, size);
    if (whole && chance(100) < 2)
        spoil(f);
    flying[n_flying++] = f;
    if (chance(100) < 2)
        fly(data, size, to_server, whole);
}

/* The next one that arrives; NULL: none. */
static struct flying *first_flying(size_t *at)
{
    struct flying *f = NULL;

    for (size_t i = 0; i < n_flying; i++) {
        if (f && flying[i]->at >= f->at)
            continue;
        f = flying[i];
        *at = i;
    }
    return f;
}

/* ---- both ends of a session */

struct stream {
    uint32_t last;           /* the other side's */
    uint64_t came;           /* a bit of each message */
    uint32_t written;        /* ours */
    uint64_t given_up;       /* a bit of each that was late once */
    co_usec made[64];
    bool closed, done;       /* theirs, ours */
    struct rtmfp_flow_out *out;
};

struct side {
    bool open;
    struct rtmfp_session session;
    struct rtmfp_session_set set;
    struct rtmfp_sealer sealer;
    struct rtmfp_opener opener;
    uint32_t id, far_id;
    struct stream streams[FLOWS];
    uint32_t to_write;
};

static struct side client, server;
static struct rtmfp_cipher *cipher;
static struct udp_addr client_address, server_address;

static struct side *side_of(struct rtmfp_session *s)
{
    return s == &client.session ? &client : &server;
}

static bool on_opened(struct rtmfp_session *s, struct rtmfp_flow_in *f,
                      struct rtmfp_bytes metadata, struct rtmfp_flow_out *answers)
{
    (void)answers;
    assert_int_equal(metadata.n, 4);
    assert_true(metadata.p[3] < FLOWS);
    f->user = &side_of(s)->streams[metadata.p[3]];
    return true;
}

static bool on_message(struct rtmfp_session *s, struct rtmfp_flow_in *f, const uint8_t *data,
                       size_t size)
{
    struct stream *stream = f->user;
    struct rd r = rd_init(data, size);
    uint32_t number = rd_u32(&r);

    (void)s;
    assert_false(r.bad);
    assert_true(number > stream->last);
    stream->last = number;
    stream->came |= UINT64_C(1) << number;
    for (size_t i = 4; i < size; i++)
        assert_int_equal(data[i], (uint8_t)(number + i));
    return true;
}

static void on_closed(struct rtmfp_session *s, struct rtmfp_flow_in *f)
{
    (void)s;
    ((struct stream *)f->user)->closed = true;
}

static void on_done(struct rtmfp_session *s, struct rtmfp_flow_out *f, bool rejected)
{
    struct side *side = side_of(s);

    assert_false(rejected);
    for (int i = 0; i < FLOWS; i++) {
        if (side->streams[i].out != f)
            continue;
        side->streams[i].done = true;
        side->streams[i].out = NULL;
    }
}

static void on_moved(struct rtmfp_session *s, const struct udp_addr *from)
{
    (void)s;
    (void)from;
}

static const struct rtmfp_session_ops ops = {
    .opened = on_opened, .message = on_message, .closed = on_closed, .done = on_done,
    .moved = on_moved,
};

static void open_side(struct side *side, enum rtmfp_mode mode, const struct udp_addr *peer,
                      const struct rtmfp_key *send, const struct rtmfp_key *receive)
{
    side->set = (struct rtmfp_session_set){ .ops = &ops, .mode = mode, .ping = CO_SECONDS(20),
                                            .timeout = CO_SECONDS(300), .message_max = 1 << 20 };
    side->sealer = (struct rtmfp_sealer){ .key = *send };
    side->opener = (struct rtmfp_opener){ .key = *receive };
    rtmfp_session_init(&side->session, &side->set, peer, now);
    side->session.hmac = receive->hmac != 0;
    side->session.older = !send->hmac && !send->numbered;
    side->open = true;
    for (int i = 0; i < FLOWS; i++) {
        uint8_t metadata[4] = { 'T', 'C', 4, (uint8_t)i };

        side->streams[i].out = rtmfp_flow_open(&side->session, rtmfp_bytes(metadata, 4), NULL,
                                               i ? RTMFP_VIDEO : RTMFP_COMMANDS);
        assert_non_null(side->streams[i].out);
    }
}

static void give_up(struct stream *stream, co_usec before)
{
    (void)rtmfp_flow_out_abandon(stream->out, before);
    for (uint32_t n = 1; n <= stream->written; n++)
        if (stream->made[n] < before)
            stream->given_up |= UINT64_C(1) << n;
}

/* A message on each of its flows; those of the second may be abandoned. */
static void write_some(struct side *side)
{
    if (!side->open || side->to_write == 0 || chance(3))
        return;
    side->to_write--;
    for (int i = 0; i < FLOWS; i++) {
        struct stream *stream = &side->streams[i];
        size_t size = 4 + (chance(4) ? chance(300) : chance(4000));
        struct rtmfp_message *m = rtmfp_message_new(size, now);
        struct wr w = rtmfp_wr(m->bytes, size);

        stream->made[++stream->written] = now;
        wr_u32(&w, stream->written);
        for (size_t k = 4; k < size; k++)
            wr_u8(&w, (uint8_t)(stream->written + k));
        assert_true(rtmfp_flow_out_write(stream->out, m, i == 0));
        rtmfp_message_unref(m);
        if (i == 1)
            give_up(stream, now - CO_MS(300));
        if (side->to_write == 0)
            rtmfp_flow_out_close(stream->out);
    }
}

static void say(struct side *side)
{
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;

    while (side->open) {
        struct wr w = rtmfp_seal_begin(&side->sealer, datagram, sizeof(datagram),
                                       RTMFP_PLAIN_MAX);
        size_t n;

        if (!rtmfp_session_output(&side->session, &w, &to, now))
            return;
        n = rtmfp_seal(cipher, &side->sealer, side->far_id, &w);
        assert_true(n > 0);
        fly(datagram, n, side == &client, true);
    }
}

static bool hear(struct side *side, const struct flying *f, const struct udp_addr *from)
{
    uint8_t out[RTMFP_DATAGRAM_MAX];
    struct rtmfp_bytes plain;

    if (rtmfp_open(cipher, &side->opener, f->data, f->size, out, &plain) != RTMFP_OPENED)
        return false;
    rtmfp_session_input(&side->session, plain, from, now);
    return true;
}

/* ---- the server */

static struct rtmfp_dh *dh;
static struct rtmfp_identity server_is, client_is;
static struct rtmfp_responder responder;
static struct rtmfp_response response;
static struct rtmfp_job opened_by;
static uint8_t answer[RTMFP_RIKEYING_MAX];
static size_t answer_size;
static unsigned jobs;

static bool find(void *arg, const struct udp_addr *from, struct rtmfp_known *out)
{
    (void)arg;
    (void)from;
    *out = (struct rtmfp_known){ opened_by.id, opened_by.peer, opened_by.skic_hash,
                                 { answer, answer_size } };
    return server.open;
}

static bool is_keying(void *arg, const struct udp_addr *from, uint32_t id)
{
    (void)arg;
    (void)from;
    (void)id;
    return false;
}

static bool may_open(void *arg, const struct udp_addr *from)
{
    (void)arg;
    (void)from;
    return true;
}

static void stale(void *arg, const struct udp_addr *from)
{
    (void)arg;
    (void)from;
    fail_msg("one client, one session");
}

static const struct rtmfp_responder_ops responder_ops = { find, is_keying, may_open, stale };

static void open_server(void)
{
    struct rtmfp_keyed keyed;
    struct rtmfp_pair pair;

    opened_by = response.job;
    rtmfp_pair_make(dh, &pair, opened_by.group);
    assert_true(rtmfp_job_run(dh, &server_is, &pair, &opened_by, &keyed));
    jobs++;
    server.id = 0x5e55;
    server.far_id = opened_by.id;
    answer_size = rtmfp_rikeying_body(answer, server.id, &keyed);
    response.size = rtmfp_responder_open_with(&responder, rtmfp_bytes(answer, answer_size),
                                              server.far_id, now, response.datagram);
    open_side(&server, RTMFP_RESPONDER, &client_address, &keyed.send, &keyed.receive);
}

static void at_server(const struct flying *f)
{
    enum rtmfp_responded said;
    uint32_t id;

    if (!rtmfp_session_id(f->data, f->size, &id))
        return;
    if (server.open && id == server.id) {
        if (hear(&server, f, &client_address))
            answer_size = 0;
        return;
    }
    if (id != 0)
        return;
    said = rtmfp_responder_input(&responder, f->data, f->size, &client_address, now, &response);
    if (said == RTMFP_JOB)
        open_server();
    if (said == RTMFP_JOB || said == RTMFP_ANSWERED)
        fly(response.datagram, response.size, false, false);
}

/* ---- the client */

static struct rtmfp_startup startup;
static struct rtmfp_initiator_set set;
static struct rtmfp_initiator initiator;

static void at_client(const struct flying *f)
{
    if (client.open) {
        (void)hear(&client, f, &server_address);
        return;
    }
    rtmfp_initiator_input(&initiator, f->data, f->size, &server_address, now);
    if (initiator.state != RTMFP_KEYED)
        return;
    client.far_id = initiator.far_id;
    open_side(&client, RTMFP_INITIATOR, &server_address, &initiator.send, &initiator.receive);
}

static void greet(void)
{
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;
    size_t n;

    while ((n = rtmfp_initiator_output(&initiator, datagram, &to, now)) > 0)
        fly(datagram, n, true, false);
}

/* ---- a whole session */

static bool is_through(const struct side *side)
{
    bool through = side->open && side->to_write == 0;

    for (int i = 0; i < FLOWS; i++)
        through = through && side->streams[i].closed && side->streams[i].done;
    return through;
}

static co_usec deadline(void)
{
    size_t at;
    struct flying *f = first_flying(&at);
    co_usec when = now + CO_SECONDS(1), d;

    if (f && f->at < when)
        when = f->at;
    if (!client.open && (d = rtmfp_initiator_deadline(&initiator)) != CO_FOREVER && d < when)
        when = d;
    if (client.open && (d = rtmfp_session_deadline(&client.session)) != CO_FOREVER && d < when)
        when = d;
    if (server.open && (d = rtmfp_session_deadline(&server.session)) != CO_FOREVER && d < when)
        when = d;
    return when;
}

static void arrive(void)
{
    struct flying *f;
    size_t at;

    while ((f = first_flying(&at)) && f->at <= now) {
        flying[at] = flying[--n_flying];
        if (f->to_server)
            at_server(f);
        else
            at_client(f);
        free(f);
    }
}

static bool both_are(enum rtmfp_state state)
{
    return client.session.state == state && server.session.state == state;
}

/* True: both ends have ended. */
static bool run_until_closed(void)
{
    bool closed = false;

    for (int turn = 0; turn < 60000 && !both_are(RTMFP_CLOSED); turn++) {
        co_usec next = deadline();

        now = next > now ? next : now;
        if (chance(500) == 0)
            now += CO_MS(chance(2000)); /* the machine was asleep */
        arrive();
        greet();
        write_some(&client);
        write_some(&server);
        say(&client);
        say(&server);
        if (!closed && is_through(&client) && is_through(&server)) {
            rtmfp_session_close(&client.session, now);
            closed = true;
        }
        if (initiator.state == RTMFP_UNANSWERED)
            return false;
    }
    return both_are(RTMFP_CLOSED);
}

static void assert_all_came(const struct side *from, const struct side *to)
{
    for (int i = 0; i < FLOWS; i++) {
        const struct stream *out = &from->streams[i], *in = &to->streams[i];
        uint64_t all = ((UINT64_C(1) << out->written) - 1) << 1;

        assert_int_equal(in->came & ~all, 0);
        assert_int_equal(all & ~in->came & ~out->given_up, 0);
    }
    assert_int_equal(from->session.n_ins, 0);
    assert_int_equal(from->session.n_outs, 0);
    assert_int_equal(from->session.store.held, 0);
}

static void begin(unsigned seed)
{
    static const uint8_t epd[] = { 5, 0x0a, 'l', 'i', 'v', 'e' };
    bool fixed = seed & 1;
    enum rtmfp_policy hmac = seed & 2 ? RTMFP_REQUIRE : RTMFP_OFF;
    enum rtmfp_policy numbers = seed & 4 ? RTMFP_REQUIRE : RTMFP_OFF;
    struct rtmfp_pair pair;

    dice = seed * UINT64_C(0x9e3779b97f4a7c15);
    now = CO_SECONDS(1 + chance(1000));
    has_hmac = seed & 2;
    loss = seed / 8 % 4 * 5;
    client = server = (struct side){ .open = false };
    client.id = 0x0c000001;
    client.to_write = chance(40) + 1;
    server.to_write = chance(40) + 1;
    answer_size = 0;
    responder.policies = set.policies = (struct rtmfp_policies){ hmac, numbers };
    rtmfp_pair_make(dh, &pair, RTMFP_GROUP_2);
    if (fixed)
        rtmfp_identity_init_static(&client_is, false, &pair);
    else
        rtmfp_identity_init(&client_is, false, (const bool[RTMFP_GROUPS]){ true, true, true });
    assert_true(rtmfp_initiator_init(&initiator, &set, &client_is, &pair,
                                     rtmfp_bytes(epd, sizeof(epd)), client.id, &server_address,
                                     now));
}

static void end(void)
{
    while (n_flying > 0)
        free(flying[--n_flying]);
    if (client.open)
        rtmfp_session_fini(&client.session);
    if (server.open)
        rtmfp_session_fini(&server.session);
    rtmfp_identity_fini(&client_is);
}

static void life_of(unsigned seed)
{
    begin(seed);
    if (!run_until_closed())
        fail_msg("seed %u: client %d, server %d, initiator %d", seed, client.session.state,
                 server.session.state, initiator.state);
    assert_all_came(&client, &server);
    assert_all_came(&server, &client);
    assert_int_equal(client.session.end, RTMFP_ENDED_HERE);
    assert_int_equal(server.session.end, RTMFP_ENDED_THERE);
    assert_int_equal(client.sealer.key.hmac != 0, has_hmac);
    end();
}

static void many_lives(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++)
        life_of(seed);
    assert_int_equal(jobs, SEEDS);
    assert_in_range(lost, sent / 20, sent / 5);
}

static int start(void **state)
{
    static const bool groups[RTMFP_GROUPS] = { true, true, true };
    static const uint8_t master[RTMFP_MASTER] = { 1 };

    (void)state;
    client_address = (struct udp_addr){ .ip = { [10] = 0xff, 0xff, 10, 0, 0, 2 }, .port = 5000 };
    server_address = (struct udp_addr){ .ip = { [10] = 0xff, 0xff, 10, 0, 0, 1 }, .port = 1935 };
    cipher = rtmfp_cipher_new();
    dh = rtmfp_dh_new();
    rtmfp_identity_init(&server_is, true, groups);
    responder = (struct rtmfp_responder){ .me = &server_is, .ops = &responder_ops };
    set = (struct rtmfp_initiator_set){ .startup = &startup, .dh = dh };
    return !rtmfp_responder_init(&responder, master) || !rtmfp_startup_init(&startup);
}

static int stop(void **state)
{
    (void)state;
    rtmfp_responder_fini(&responder);
    rtmfp_startup_fini(&startup);
    rtmfp_dh_free(dh);
    rtmfp_cipher_free(cipher);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(many_lives) };

    return cmocka_run_group_tests(tests, start, stop);
}
