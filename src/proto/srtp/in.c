/* SPDX-License-Identifier: MIT */
/* in.c - received packets: [SRTP] 3.3 and 3.4, [GCM] 8 and 9.
 *
 * A source is remembered only after a packet of it was authenticated, so peers without the key use
 * no memory.
 */
#include "proto/srtp/crypt.h"

#include "base/be.h"
#include "base/must.h"

#include <openssl/crypto.h>
#include <string.h>

/* ---- replay list of [SRTP] 3.3.2: a ring of bits, indexed by packet index, so nothing moves when
 * a newer packet arrives */

/* `bits` has `size` bits, a power of two of at least 64; `top` is the highest index. */
static bool window_has(const uint64_t *bits, unsigned size, uint64_t at)
{
    return bits[at % size / 64] >> (at % 64) & 1;
}

/* Returns false if this index was received or is older than the window. */
static bool window_new(const uint64_t *bits, unsigned size, uint64_t top, uint64_t at)
{
    return at > top || (top - at < size && !window_has(bits, size, at));
}

/* Marks `at`, which must be new, as received. Returns the new top. */
static uint64_t window_add(uint64_t *bits, unsigned size, uint64_t top, uint64_t at)
{
    uint64_t from = at > top && at - top >= size ? at - size + 1 : top + 1;

    for (uint64_t i = from; i <= at; i++)
        bits[i % size / 64] &= ~(UINT64_C(1) << (i % 64));
    bits[at % size / 64] |= UINT64_C(1) << (at % 64);
    return at > top ? at : top;
}

/* ---- */

enum { WINDOW = 1024, RTCP_WINDOW = 128, RTP_HEADER = 12 };

struct source {
    uint32_t ssrc;
    bool rtp, rtcp;    /* a packet was received */
    uint64_t top, rtcp_top;
    uint64_t seen[WINDOW / 64], rtcp_seen[RTCP_WINDOW / 64];
};

struct srtp_in {
    struct srtp_crypt rtp, rtcp;
    struct srtp_in_stat stat;
    unsigned n, last; /* number of sources; index of the last one used, which is likely next */
    struct source sources[SRTP_SOURCES];
};

err_t srtp_in_new(struct srtp_in **out, const struct srtp_keys *keys)
{
    struct srtp_in *s = must(calloc(1, sizeof(*s)));
    err_t err = srtp_crypt_both(&s->rtp, &s->rtcp, keys, false);

    if (err)
        srtp_in_free(s);
    else
        *out = s;
    return err;
}

void srtp_in_free(struct srtp_in *s)
{
    if (!s)
        return;
    srtp_crypt_fini(&s->rtp);
    srtp_crypt_fini(&s->rtcp);
    free(s);
}

const struct srtp_in_stat *srtp_in_stat(const struct srtp_in *s)
{
    return &s->stat;
}

/* ---- sources */

static struct source *find(struct srtp_in *s, uint32_t ssrc)
{
    if (s->last < s->n && s->sources[s->last].ssrc == ssrc)
        return &s->sources[s->last];
    for (unsigned i = 0; i < s->n; i++) {
        if (s->sources[i].ssrc != ssrc)
            continue;
        s->last = i;
        return &s->sources[i];
    }
    return NULL;
}

/* Adds a source after authentication; returns NULL if there are too many. */
static struct source *add(struct srtp_in *s, uint32_t ssrc)
{
    if (s->n == SRTP_SOURCES) {
        s->stat.sources++;
        return NULL;
    }
    s->last = s->n++;
    s->sources[s->last].ssrc = ssrc;
    return &s->sources[s->last];
}

static bool forged(struct srtp_in *s)
{
    s->stat.forged++;
    return false;
}

static bool replayed(struct srtp_in *s)
{
    s->stat.replayed++;
    return false;
}

/* ---- RTP */

/* Returns the size of the header, or 0 if it is not RTP or truncated. */
static size_t header_size(const uint8_t *p, size_t size)
{
    size_t at = RTP_HEADER;

    if (size < at || p[0] >> 6 != 2)
        return 0;
    at += 4 * (size_t)(p[0] & 15);
    if (p[0] & 0x10) {
        if (size < at + 4)
            return 0;
        at += 4 + 4 * (size_t)be_get16(p + at + 2);
    }
    return at <= size ? at : 0;
}

/* Returns the index with these low bits that is nearest to the highest one, [SRTP] 3.3.1. Negative:
 * before the first packet. */
static int64_t estimate(const struct source *src, uint16_t seq)
{
    if (!src || !src->rtp)
        return seq;
    return (int64_t)src->top + (int16_t)(uint16_t)(seq - (uint16_t)src->top);
}

static bool open_cm(struct srtp_crypt *c, const struct srtp_nonce *n, uint8_t *p, size_t head,
                    size_t size)
{
    uint8_t tag[SRTP_AUTH], rollovers[4];

    (void)be_put32(rollovers, (uint32_t)(n->index >> 16));
    srtp_cm_tag(c, p, size, rollovers, sizeof(rollovers), tag);
    return CRYPTO_memcmp(tag, p + size, SRTP_TAG_CM) == 0 &&
           srtp_cm_run(c, n, p + head, p + head, size - head);
}

static bool open_rtp(struct srtp_in *s, const struct srtp_nonce *n, uint8_t *p, size_t head,
                     size_t size)
{
    struct srtp_known k = { .head = p, .head_size = head };

    return s->rtp.gcm ? srtp_gcm_open(&s->rtp, n, &k, p + head, size - head)
                      : open_cm(&s->rtp, n, p, head, size);
}

bool srtp_unprotect(struct srtp_in *s, uint8_t *packet, size_t *size)
{
    size_t tag = s->rtp.gcm ? SRTP_TAG_GCM : SRTP_TAG_CM, plain = *size > tag ? *size - tag : 0;
    size_t head = header_size(packet, plain);
    struct srtp_nonce n;
    struct source *src;
    int64_t index;

    if (head == 0)
        return forged(s);
    n.ssrc = be_get32(packet + 8);
    src = find(s, n.ssrc);
    index = estimate(src, be_get16(packet + 2));
    if (index < 0 || index >> 48 ||
        (src && src->rtp && !window_new(src->seen, WINDOW, src->top, (uint64_t)index)))
        return replayed(s);
    n.index = (uint64_t)index;
    if (!open_rtp(s, &n, packet, head, plain))
        return forged(s);
    if (!src && !(src = add(s, n.ssrc)))
        return false;
    src->top = window_add(src->seen, WINDOW, src->rtp ? src->top : n.index, n.index);
    src->rtp = true;
    *size = plain;
    return true;
}

/* ---- RTCP */

/* Decrypts RTCP, whose parts are at the positions of [SRTP] 3.4 or [GCM] 9.2. */
static bool open_rtcp(struct srtp_in *s, const struct srtp_nonce *n, uint8_t *p, size_t plain,
                      const uint8_t *word)
{
    uint8_t tag[SRTP_AUTH];

    if (s->rtcp.gcm) {
        struct srtp_known k = { .head = p, .head_size = SRTCP_HEADER, .more = word,
                                .more_size = SRTCP_INDEX };

        return srtp_gcm_open(&s->rtcp, n, &k, p + SRTCP_HEADER, plain - SRTCP_HEADER);
    }
    srtp_cm_tag(&s->rtcp, p, plain + SRTCP_INDEX, NULL, 0, tag);
    return CRYPTO_memcmp(tag, p + plain + SRTCP_INDEX, SRTP_TAG_CM) == 0 &&
           srtp_cm_run(&s->rtcp, n, p + SRTCP_HEADER, p + SRTCP_HEADER, plain - SRTCP_HEADER);
}

bool srtcp_unprotect(struct srtp_in *s, uint8_t *packet, size_t *size)
{
    size_t tag = s->rtcp.gcm ? SRTP_TAG_GCM : SRTP_TAG_CM, tail = tag + SRTCP_INDEX, plain;
    struct srtp_nonce n;
    struct source *src;
    const uint8_t *word;

    if (*size < SRTCP_HEADER + tail || packet[0] >> 6 != 2)
        return forged(s);
    plain = *size - tail;
    word = packet + plain + (s->rtcp.gcm ? tag : 0);
    n.index = be_get32(word);
    if (!(n.index & SRTCP_ENCRYPTED)) /* RTCP must be encrypted, RFC 8827 section 6.5 */
        return forged(s);
    n.index &= ~(uint64_t)SRTCP_ENCRYPTED;
    n.ssrc = be_get32(packet + 4);
    src = find(s, n.ssrc);
    if (src && src->rtcp && !window_new(src->rtcp_seen, RTCP_WINDOW, src->rtcp_top, n.index))
        return replayed(s);
    if (!open_rtcp(s, &n, packet, plain, word))
        return forged(s);
    if (!src && !(src = add(s, n.ssrc)))
        return false;
    src->rtcp_top = window_add(src->rtcp_seen, RTCP_WINDOW,
                                    src->rtcp ? src->rtcp_top : n.index, n.index);
    src->rtcp = true;
    *size = plain;
    return true;
}
