/* SPDX-License-Identifier: MIT */
/* out.c - sent packets: [SRTP] 3.3 and 3.4, [GCM] 8 and 9. */
#include "proto/srtp/crypt.h"

#include "base/be.h"
#include "base/must.h"

#include <assert.h>
#include <string.h>

/* A source, and the packets sent: a ring up to the highest index with 4 bytes of each tag, which
 * tell packets apart. */
struct sent {
    uint32_t ssrc, kept; /* kept: entries in the ring */
    bool begun;
    uint64_t top;
    uint32_t *marks;     /* at index % kept; 0: nothing was sent. NULL if kept is 0 */
};

struct srtp_out {
    struct srtp_crypt rtp, rtcp;
    uint32_t next; /* next RTCP index */
    unsigned n;
    struct sent sent[SRTP_SENT_SOURCES];
    uint64_t refused;
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
    for (unsigned i = 0; i < s->n; i++)
        free(s->sent[i].marks);
    free(s);
}

uint64_t srtp_out_refused(const struct srtp_out *s)
{
    return s->refused;
}

/* ---- no index is used for two different packets */

static struct sent *find(struct srtp_out *s, uint32_t ssrc)
{
    for (unsigned i = 0; i < s->n; i++) {
        if (s->sent[i].ssrc == ssrc)
            return &s->sent[i];
    }
    return NULL;
}

static struct sent *add(struct srtp_out *s, uint32_t ssrc, uint32_t kept)
{
    struct sent *t;

    if (s->n == SRTP_SENT_SOURCES)
        return NULL;
    t = &s->sent[s->n++];
    *t = (struct sent){ .ssrc = ssrc, .kept = kept };
    if (kept > 0)
        t->marks = must(calloc(kept, sizeof(*t->marks)));
    return t;
}

bool srtp_out_source(struct srtp_out *s, uint32_t ssrc, uint32_t kept)
{
    assert((kept & (kept - 1)) == 0);
    return !find(s, ssrc) && add(s, ssrc, kept);
}

/* Whether this index is new, or its packet is still known. */
static bool is_known(const struct sent *t, uint64_t index)
{
    return !t->begun || index > t->top || t->top - index < t->kept;
}

/* Records a packet. Returns false if the index was used for a different packet. */
static bool note(struct sent *t, uint64_t index, const uint8_t *tag)
{
    uint32_t mark = be_get32(tag) | 1, *at = t->kept ? &t->marks[index & (t->kept - 1)] : NULL;

    if (!t->begun || index > t->top) {
        uint64_t from = t->begun && index - t->top < t->kept ? t->top + 1 : index - t->kept + 1;

        for (uint64_t i = from; t->kept && i < index; i++)
            t->marks[i & (t->kept - 1)] = 0;
        t->begun = true;
        t->top = index;
    } else if (*at != 0 && *at != mark) {
        return false;
    }
    if (at)
        *at = mark;
    return true;
}

static size_t seal(struct srtp_out *s, uint8_t *to, const uint8_t *head, size_t head_size,
                   const uint8_t *payload, size_t size, uint64_t index)
{
    struct srtp_nonce n = { .ssrc = be_get32(head + 8), .index = index };
    uint8_t tag[SRTP_AUTH], rollovers[4];

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
    (void)be_put32(rollovers, (uint32_t)(index >> 16));
    srtp_cm_tag(&s->rtp, to, size, rollovers, sizeof(rollovers), tag);
    memcpy(to + size, tag, SRTP_TAG_CM);
    return size + SRTP_TAG_CM;
}

size_t srtp_protect(struct srtp_out *s, uint8_t *to, const uint8_t *head, size_t head_size,
                    const uint8_t *payload, size_t size, uint64_t index)
{
    uint32_t ssrc = be_get32(head + 8);
    struct sent *t = find(s, ssrc);
    size_t done;

    assert(head_size >= 12 && index >> 48 == 0);
    if (!t)
        t = add(s, ssrc, 0);
    if (!t || !is_known(t, index)) {
        s->refused++;
        return 0;
    }
    done = seal(s, to, head, head_size, payload, size, index);
    if (done == 0 || note(t, index, to + head_size + size))
        return done;
    s->refused++;
    return 0;
}

/* The word with the index follows the tag with GCM, and precedes it with AES-CM. */
size_t srtcp_protect(struct srtp_out *s, uint8_t *to, const uint8_t *rtcp, size_t size)
{
    struct srtp_nonce n = { .index = s->next };
    uint8_t tag[SRTP_AUTH], word[SRTCP_INDEX];

    if (size < SRTCP_HEADER || s->next & SRTCP_ENCRYPTED) /* 2^31 packets: [SRTP] 9.2 */
        return 0;
    n.ssrc = be_get32(rtcp + 4);
    (void)be_put32(word, s->next++ | SRTCP_ENCRYPTED);
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
