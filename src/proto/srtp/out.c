/* SPDX-License-Identifier: MIT */
/* out.c - packets that are sent: [SRTP] 3.3 and 3.4, [GCM] 8 and 9. */
#include "proto/srtp/crypt.h"

#include "base/must.h"

#include <assert.h>
#include <string.h>

struct srtp_out {
    struct srtp_crypt rtp, rtcp;
    uint32_t next; /* index of RTCP */
};

err_t srtp_out_new(struct srtp_out **out, const struct srtp_keys *keys)
{
    struct srtp_out *s = must(calloc(1, sizeof(*s)));
    err_t err = srtp_crypt_both(&s->rtp, &s->rtcp, keys, true);

    if (err)
        srtp_out_free(s);
    else
        *out = s;
    return err;
}

void srtp_out_free(struct srtp_out *s)
{
    if (!s)
        return;
    srtp_crypt_fini(&s->rtp);
    srtp_crypt_fini(&s->rtcp);
    free(s);
}

size_t srtp_protect(struct srtp_out *s, uint8_t *to, const uint8_t *head, size_t head_size,
                    const uint8_t *payload, size_t size, uint64_t index)
{
    struct srtp_nonce n = { .ssrc = srtp_get32(head + 8), .index = index };
    uint8_t tag[SRTP_AUTH], rollovers[4];

    assert(head_size >= 12 && index >> 48 == 0);
    if (to != head)
        memcpy(to, head, head_size);
    if (s->rtp.gcm) {
        struct srtp_known k = { .head = to, .head_size = head_size };

        return srtp_gcm_seal(&s->rtp, &n, &k, payload, to + head_size, size)
                   ? head_size + size + SRTP_TAG_GCM
                   : 0;
    }
    if (!srtp_cm_run(&s->rtp, &n, payload, to + head_size, size))
        return 0;
    size += head_size;
    srtp_put32(rollovers, (uint32_t)(index >> 16));
    srtp_cm_tag(&s->rtp, to, size, rollovers, sizeof(rollovers), tag);
    memcpy(to + size, tag, SRTP_TAG_CM);
    return size + SRTP_TAG_CM;
}

/* The word with the index is behind the tag with GCM, and before it with AES-CM. */
size_t srtcp_protect(struct srtp_out *s, uint8_t *to, const uint8_t *rtcp, size_t size)
{
    struct srtp_nonce n = { .index = s->next };
    uint8_t tag[SRTP_AUTH], word[SRTCP_INDEX];

    if (size < SRTCP_HEADER || s->next & SRTCP_ENCRYPTED) /* 2^31 packets: [SRTP] 9.2 */
        return 0;
    n.ssrc = srtp_get32(rtcp + 4);
    srtp_put32(word, s->next++ | SRTCP_ENCRYPTED);
    memmove(to, rtcp, size);
    if (s->rtcp.gcm) {
        struct srtp_known k = { .head = to, .head_size = SRTCP_HEADER, .more = word,
                                .more_size = sizeof(word) };

        if (!srtp_gcm_seal(&s->rtcp, &n, &k, to + SRTCP_HEADER, to + SRTCP_HEADER,
                           size - SRTCP_HEADER))
            return 0;
        size += SRTP_TAG_GCM;
        memcpy(to + size, word, sizeof(word));
        return size + sizeof(word);
    }
    if (!srtp_cm_run(&s->rtcp, &n, to + SRTCP_HEADER, to + SRTCP_HEADER, size - SRTCP_HEADER))
        return 0;
    memcpy(to + size, word, sizeof(word));
    size += sizeof(word);
    srtp_cm_tag(&s->rtcp, to, size, NULL, 0, tag);
    memcpy(to + size, tag, SRTP_TAG_CM);
    return size + SRTP_TAG_CM;
}
