/* SPDX-License-Identifier: MIT */
/* rtmfp_ends.c - a responder with a small table of sessions, and an initiator. */
#include "rtmfp_ends.h"

struct ends_session *ends_at(struct ends *e, const struct udp_addr *from)
{
    for (size_t i = 0; i < e->n; i++)
        if (udp_addr_same(&e->sessions[i].from, from))
            return &e->sessions[i];
    return NULL;
}

static bool ends_find(void *arg, const struct udp_addr *from, struct rtmfp_known *out)
{
    struct ends_session *s = ends_at(arg, from);

    if (s)
        *out = (struct rtmfp_known){ s->id, s->peer, s->skic, { s->answer, s->answer_size } };
    return s != NULL;
}

static bool ends_is_keying(void *arg, const struct udp_addr *from, uint32_t id)
{
    struct ends *e = arg;

    return udp_addr_same(&e->keying, from) && e->keying_id == id;
}

static bool ends_may_open(void *arg, const struct udp_addr *from)
{
    struct ends *e = arg;

    (void)from;
    return !e->full && e->n < ENDS_SESSIONS;
}

static void ends_stale(void *arg, const struct udp_addr *from)
{
    struct ends *e = arg;
    struct ends_session *s = ends_at(e, from);

    assert_non_null(s);
    *s = e->sessions[--e->n];
    e->stale++;
}

void ends_init(struct ends *e, const struct rtmfp_policies *responder,
                             const struct rtmfp_policies *initiator)
{
    static const struct rtmfp_responder_ops ops = { ends_find, ends_is_keying, ends_may_open,
                                                    ends_stale };
    static const bool groups[RTMFP_GROUPS] = { true, true, true };
    static const uint8_t master[RTMFP_MASTER] = { 1 };

    memset(e, 0, sizeof(*e));
    e->dh = rtmfp_dh_new();
    rtmfp_identity_init(&e->me, true, groups);
    e->responder.me = &e->me;
    e->responder.ops = &ops;
    e->responder.arg = e;
    e->responder.policies = *responder;
    assert_true(rtmfp_responder_init(&e->responder, master));
    assert_true(rtmfp_startup_init(&e->startup));
    e->set = (struct rtmfp_initiator_set){ &e->startup, e->dh, *initiator };
}

void ends_fini(struct ends *e)
{
    rtmfp_responder_fini(&e->responder);
    rtmfp_startup_fini(&e->startup);
    rtmfp_identity_fini(&e->me);
    rtmfp_dh_free(e->dh);
}

struct ends_session *ends_open(struct ends *e, co_usec now)
{
    const struct rtmfp_job *job = &e->out.job;
    struct ends_session *s = &e->sessions[e->n];
    struct rtmfp_pair pair;

    assert_true(e->n < ENDS_SESSIONS);
    if (!e->me.is_static)
        rtmfp_pair_make(e->dh, &pair, job->group);
    if (!rtmfp_job_run(e->dh, &e->me, e->me.is_static ? NULL : &pair, job, &s->keyed))
        return NULL;
    s->from = job->from;
    s->id = job->id;
    memcpy(s->peer, job->peer, sizeof(s->peer));
    memcpy(s->skic, job->skic_hash, sizeof(s->skic));
    s->answer_size = rtmfp_rikeying_body(s->answer, 0x1000 + (uint32_t)e->n, &s->keyed);
    e->out.size = rtmfp_responder_open_with(&e->responder, rtmfp_bytes(s->answer, s->answer_size),
                                            s->id, now, e->out.datagram);
    e->n++;
    e->jobs++;
    return s;
}

bool ends_hear(struct ends *e, const uint8_t *datagram, size_t size,
                             const struct udp_addr *from, co_usec now)
{
    switch (rtmfp_responder_input(&e->responder, datagram, size, from, now, &e->out)) {
    case RTMFP_ANSWERED: return true;
    case RTMFP_JOB: return ends_open(e, now) != NULL;
    default: return false;
    }
}

size_t ends_seal(struct ends *e, struct rtmfp_bytes plain, uint8_t *datagram)
{
    struct wr w = rtmfp_seal_begin(&e->startup.out, datagram, RTMFP_SEALED_MAX, RTMFP_PLAIN_MAX);

    wr_bytes(&w, plain.p, plain.n);
    return rtmfp_startup_seal(&e->startup, 0, &w);
}

struct udp_addr ends_address(uint8_t host, uint16_t port)
{
    struct udp_addr a = { .ip = { [10] = 0xff, 0xff, 10, 0, 0 }, .port = port };

    a.ip[15] = host;
    return a;
}
