/* SPDX-License-Identifier: MIT */
/* identity.c - who one end is, [PROFILE] 4.3. */
#include "proto/rtmfp/identity.h"

#include "base/must.h"

#include <assert.h>
#include <openssl/rand.h>

static void finish(struct rtmfp_identity *me, const struct wr *w)
{
    bool fine;

    me->size = w->len;
    fine = !w->bad && rtmfp_certificate_read(&me->parsed, rtmfp_identity_certificate(me));
    assert(fine);
    (void)fine;
    rtmfp_certificate_id(&me->parsed, me->id);
}

static void write_shorter(struct rtmfp_shorter *s, bool server, struct rtmfp_bytes extra,
                          const bool groups[RTMFP_GROUPS])
{
    struct wr w = rtmfp_wr(s->certificate, sizeof(s->certificate));

    rtmfp_certificate_write(&w, server, extra, groups);
    assert(!w.bad);
    s->size = w.len;
    rtmfp_sha256(rtmfp_bytes(s->certificate, s->size), s->id); /* it has no marker */
}

/* The shortest has one group and nothing that makes it unique: old clients that say the app alone
 * send 36 bytes, and know group 2. */
static void write_all_shorter(struct rtmfp_identity *me, bool server, const uint8_t *extra)
{
    bool one[RTMFP_GROUPS] = { false };
    int g = 0;

    while (g < RTMFP_GROUPS - 1 && !me->groups[g])
        g++;
    one[g] = me->groups[g];
    write_shorter(&me->shorter[0], server, rtmfp_bytes(extra, RTMFP_EXTRA / 2), me->groups);
    write_shorter(&me->shorter[1], server, rtmfp_bytes(NULL, 0), one);
}

void rtmfp_identity_init(struct rtmfp_identity *me, bool server, const bool groups[RTMFP_GROUPS])
{
    struct wr w = rtmfp_wr(me->certificate, sizeof(me->certificate));
    uint8_t extra[RTMFP_EXTRA];

    *me = (struct rtmfp_identity){ .is_static = false };
    memcpy(me->groups, groups, sizeof(me->groups));
    must_be(RAND_bytes(extra, sizeof(extra)) == 1);
    rtmfp_certificate_write(&w, server, rtmfp_bytes(extra, sizeof(extra)), groups);
    finish(me, &w);
    write_all_shorter(me, server, extra);
}

void rtmfp_identity_init_static(struct rtmfp_identity *me, bool server,
                                const struct rtmfp_pair *pair)
{
    struct wr w = rtmfp_wr(me->certificate, sizeof(me->certificate));

    *me = (struct rtmfp_identity){ .is_static = true, .pair = *pair };
    me->groups[pair->group] = true;
    rtmfp_certificate_write_static(&w, server, pair->group, rtmfp_pair_public(pair));
    finish(me, &w);
}

void rtmfp_identity_fini(struct rtmfp_identity *me)
{
    rtmfp_pair_wipe(&me->pair);
}
