/* SPDX-License-Identifier: MIT */
/* fuzz_rtmfp_startup.c - any plain packets to a responder that has a session or none, and to an
 * initiator that sends hello or requests keys.
 *
 * An input is packets one after the other: flags, a length of two bytes, and the packet.
 */
#include "fuzz.h"
#include "proto/rtmfp/initiator.h"
#include "proto/rtmfp/responder.h"

#include <assert.h>
#include <string.h>

enum { COOKIE = 1, ELSEWHERE = 2, LATER = 4, BACK = 8, KEYING = 16, FULL = 32, REDIRECTS = 64 };

static struct rtmfp_dh *dh;
static struct rtmfp_identity me, other;
static struct rtmfp_responder responder;
static struct rtmfp_startup startup;
static struct rtmfp_initiator_set set;
static struct rtmfp_initiator initiator;
static struct rtmfp_pair pair;
static struct rtmfp_response out;
static co_usec now;
static unsigned flags;

/* One session, at one address. */
static struct {
    bool open;
    struct udp_addr from;
    uint32_t id;
    uint8_t peer[RTMFP_PEER_ID], skic[RTMFP_SKIC_HASH], answer[RTMFP_RIKEYING_MAX];
    size_t answer_size;
} session;

static bool find(void *arg, const struct udp_addr *from, struct rtmfp_known *known)
{
    (void)arg;
    *known = (struct rtmfp_known){ session.id, session.peer, session.skic,
                                   { session.answer, session.answer_size } };
    return session.open && udp_addr_same(from, &session.from);
}

static bool is_keying(void *arg, const struct udp_addr *from, uint32_t id)
{
    (void)arg;
    (void)from;
    (void)id;
    return flags & KEYING;
}

static bool may_open(void *arg, const struct udp_addr *from)
{
    (void)arg;
    (void)from;
    return !(flags & FULL);
}

static void stale(void *arg, const struct udp_addr *from)
{
    (void)arg;
    assert(session.open && udp_addr_same(from, &session.from));
    session.open = false;
}

static const struct rtmfp_responder_ops ops = { find, is_keying, may_open, stale };

static void begin(void)
{
    static const bool groups[RTMFP_GROUPS] = { true, true, true };
    static const uint8_t master[RTMFP_MASTER] = { 1 };

    dh = rtmfp_dh_new();
    rtmfp_identity_init(&me, true, groups);
    rtmfp_identity_init(&other, false, groups);
    rtmfp_pair_make(dh, &pair, RTMFP_GROUP_2);
    responder = (struct rtmfp_responder){ .me = &me, .ops = &ops,
                                          .policies = { RTMFP_OFFER, RTMFP_OFFER } };
    assert(rtmfp_responder_init(&responder, master) && rtmfp_startup_init(&startup));
    set = (struct rtmfp_initiator_set){ &startup, dh, { RTMFP_OFFER, RTMFP_OFFER } };
}

/* A helper thread's work, mostly without the exponentiation, which is not tested here. */
static void do_job(void)
{
    static struct rtmfp_keyed keyed;
    static unsigned n;
    struct rtmfp_pair used = pair;

    assert(out.job.key_size <= RTMFP_PUBLIC_MAX && out.job.skic_size <= RTMFP_COMPONENT_MAX);
    if (out.job.group == RTMFP_GROUP_2 && (keyed.skrc_size == 0 || ++n % 64 == 0))
        assert(rtmfp_job_run(dh, &me, &used, &out.job, &keyed));
    if (keyed.skrc_size == 0)
        return;
    session.open = true;
    session.from = out.job.from;
    session.id = out.job.id;
    memcpy(session.peer, out.job.peer, RTMFP_PEER_ID);
    memcpy(session.skic, out.job.skic_hash, RTMFP_SKIC_HASH);
    session.answer_size = rtmfp_rikeying_body(session.answer, 77, &keyed);
    assert(rtmfp_responder_open_with(&responder,
                                     rtmfp_bytes(session.answer, session.answer_size), 5, now,
                                     out.datagram) > 0);
}

static void redirect(const struct udp_addr *from, size_t came)
{
    struct rtmfp_address list[8] = { { RTMFP_OBSERVED, *from } };

    assert(rtmfp_responder_redirect(&responder, came, out.hello.tag, list, 8, now,
                                    out.datagram) <= came * RTMFP_ANSWER_TIMES);
}

/* Answers to unproven addresses; a RIKeying is for a proven one. */
static void check_size(size_t came)
{
    assert(out.size > 0 && out.size <= RTMFP_SEALED_MAX);
    assert(session.open || out.size <= came * RTMFP_ANSWER_TIMES);
}

static void to_responder(const uint8_t *datagram, size_t size, const struct udp_addr *from)
{
    switch (rtmfp_responder_input(&responder, datagram, size, from, now, &out)) {
    case RTMFP_JOB: do_job(); break;
    case RTMFP_ANSWERED: check_size(size); break;
    case RTMFP_INTRODUCE: assert(out.peer); redirect(from, size); break;
    case RTMFP_REDIRECTED: redirect(from, size); break;
    default: assert(rtmfp_drop_text(out.why)); break;
    }
}

static void to_initiator(const uint8_t *datagram, size_t size, const struct udp_addr *from)
{
    uint8_t made[RTMFP_SEALED_MAX];
    struct udp_addr to;
    size_t n;

    rtmfp_initiator_input(&initiator, datagram, size, from, now);
    while ((n = rtmfp_initiator_output(&initiator, made, &to, now)) > 0)
        to_responder(made, n, from);
    (void)rtmfp_initiator_deadline(&initiator);
}

/* Replaces any tag and cookie in it by the right one. */
static void mend(uint8_t *plain, size_t size, const struct udp_addr *from)
{
    struct rtmfp_packet p;
    struct rtmfp_chunk c;
    struct rtmfp_iikeying keying;
    struct rtmfp_rhello hello;
    struct rtmfp_cookie_change change;

    if (!rtmfp_packet_read(&p, rtmfp_bytes(plain, size)))
        return;
    while (rtmfp_chunk_next(&p, &c)) {
        if (c.type == RTMFP_IIKEYING && rtmfp_iikeying_read(&keying, c.body) &&
            keying.cookie.n == RTMFP_COOKIE)
            rtmfp_cookie_make(&responder.cookies, plain + (keying.cookie.p - plain),
                              RTMFP_COOKIE_HELLO, from, now);
        if ((c.type == RTMFP_RHELLO || c.type == RTMFP_REDIRECT) && c.body.n > RTMFP_TAG)
            memcpy(plain + (c.body.p - plain) + 1, initiator.tag, RTMFP_TAG);
        if (c.type == RTMFP_RHELLO && rtmfp_rhello_read(&hello, c.body) &&
            hello.cookie.n == RTMFP_COOKIE)
            memset(plain + (hello.cookie.p - plain), 1, RTMFP_COOKIE);
        if (c.type == RTMFP_COOKIE_CHANGE && rtmfp_cookie_change_read(&change, c.body) &&
            change.old.n == initiator.cookie_size && change.old.n > 0)
            memcpy(plain + (change.old.p - plain), initiator.cookie, initiator.cookie_size);
    }
}

static void say(uint8_t *plain, size_t size)
{
    struct udp_addr from = { .ip = { [10] = 0xff, 0xff, 10, 0, 0, 1 }, .port = 1935 };
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct wr w = rtmfp_seal_begin(&startup.out, datagram, sizeof(datagram), RTMFP_PLAIN_MAX);
    uint32_t id = flags & BACK && initiator.state == RTMFP_KEYING ? initiator.id : 0;

    from.port += flags & ELSEWHERE ? 1 : 0;
    now += flags & LATER ? CO_SECONDS(9) : CO_MS(20);
    responder.redirects = flags & REDIRECTS;
    if (flags & COOKIE)
        mend(plain, size, &from);
    wr_bytes(&w, plain, size);
    size = rtmfp_startup_seal(&startup, id, &w);
    if (flags & BACK)
        to_initiator(datagram, size, &from);
    else
        to_responder(datagram, size, &from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t epd[] = "\x02\x0a" "x";
    struct udp_addr to = { .port = 1 };
    struct rd r = rd_init(data, size);
    uint8_t plain[RTMFP_PLAIN_MAX];

    if (!dh)
        begin();
    session.open = false;
    assert(rtmfp_initiator_init(&initiator, &set, &other, &pair, rtmfp_bytes(epd, 3), 5, &to, now));
    while (rd_left(&r) > 0) {
        size_t n;
        const uint8_t *p;

        flags = rd_u8(&r);
        n = rd_u16(&r);
        p = rd_take(&r, n < rd_left(&r) ? n : rd_left(&r));
        n = p ? (size_t)(r.p - p) : 0;
        if (n > sizeof(plain) || n == 0)
            continue;
        memcpy(plain, p, n);
        say(plain, n);
    }
    return 0;
}
