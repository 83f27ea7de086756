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

void rtmfp_identity_init(struct rtmfp_identity *me, bool server, const bool groups[RTMFP_GROUPS])
{
    struct wr w = rtmfp_wr(me->certificate, sizeof(me->certificate));
    uint8_t extra[RTMFP_EXTRA];

    *me = (struct rtmfp_identity){ .is_static = false };
    memcpy(me->groups, groups, sizeof(me->groups));
    must_be(RAND_bytes(extra, sizeof(extra)) == 1);
    rtmfp_certificate_write(&w, server, extra, groups);
    finish(me, &w);
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
