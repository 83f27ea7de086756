/* SPDX-License-Identifier: MIT */
/* job.c - keys of a session that an initiator asked for, on a helper thread; [PROFILE] 4.6. */
#include "base/must.h"
#include "proto/rtmfp/responder.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

static struct rtmfp_bytes write_skrc(const struct rtmfp_identity *me, const struct rtmfp_pair *pair,
                                     const struct rtmfp_job *job, struct rtmfp_keyed *out)
{
    struct wr w = rtmfp_wr(out->skrc, sizeof(out->skrc));
    uint8_t random[64];

    if (me->is_static) {
        must_be(RAND_bytes(random, sizeof(random)) == 1);
        rtmfp_skrc_write_static(&w, &job->wants, random);
    } else {
        rtmfp_skrc_write(&w, &job->wants, pair);
    }
    out->skrc_size = w.len;
    return rtmfp_bytes(out->skrc, w.len);
}

static void finish(const struct rtmfp_job *job, struct rtmfp_bytes z, struct rtmfp_bytes skrc,
                   struct rtmfp_keyed *out)
{
    struct rtmfp_keys keys;

    rtmfp_keys_derive(&keys, z, rtmfp_bytes(job->skic, job->skic_size), skrc);
    out->send = job->we_send;
    out->receive = job->they_send;
    rtmfp_keys_set(&out->send, &keys, RTMFP_OF_RESPONDER);
    rtmfp_keys_set(&out->receive, &keys, RTMFP_OF_INITIATOR);
    for (int side = 0; side < RTMFP_SIDES; side++)
        memcpy(out->nonce[side], keys.of[side].nonce, RTMFP_HASH);
    OPENSSL_cleanse(&keys, sizeof(keys));
}

bool rtmfp_job_run(struct rtmfp_dh *dh, const struct rtmfp_identity *me, struct rtmfp_pair *pair,
                   const struct rtmfp_job *job, struct rtmfp_keyed *out)
{
    const struct rtmfp_pair *ours = me->is_static ? &me->pair : pair;
    uint8_t z[RTMFP_PUBLIC_MAX];
    size_t n;

    assert(ours->group == job->group);
    n = rtmfp_secret(dh, ours, rtmfp_bytes(job->key, job->key_size), z);
    if (n > 0)
        finish(job, rtmfp_bytes(z, n), write_skrc(me, ours, job, out), out);
    OPENSSL_cleanse(z, sizeof(z));
    if (pair)
        rtmfp_pair_wipe(pair);
    return n > 0;
}
