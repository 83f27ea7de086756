/* SPDX-License-Identifier: MIT */
/* fragment.c - reassembles startup packets that arrive in pieces, [RTMFP] 2.3.1 and 3.4. */
#include "proto/rtmfp/fragment.h"

#include "base/must.h"

#define PATIENCE CO_SECONDS(10)

/* An incomplete packet. Its pieces are in `data` in the order of arrival. */
struct whole {
    uint64_t hash;      /* hash of address and packet id, never 0 */
    struct udp_addr from;
    uint64_t packet;
    co_usec since;
    uint8_t *data;      /* RTMFP_WHOLE_MAX bytes */
    size_t used;
    uint32_t have;      /* one bit per piece */
    unsigned n;         /* number of pieces; 0: the last one has not arrived */
    struct {
        uint16_t at, size;
    } pieces[RTMFP_PIECES_MAX];
};

struct rtmfp_fragments {
    uint8_t key[SIPHASH_KEY];
    size_t n;
    struct whole wholes[RTMFP_WHOLES];
    uint8_t out[RTMFP_WHOLE_MAX];
};

struct rtmfp_fragments *rtmfp_fragments_new(void)
{
    struct rtmfp_fragments *f = must(calloc(1, sizeof(*f)));

    siphash_new_key(f->key);
    return f;
}

static void drop(struct rtmfp_fragments *f, struct whole *w)
{
    free(w->data);
    *w = f->wholes[--f->n];
    f->wholes[f->n] = (struct whole){ .hash = 0 };
}

void rtmfp_fragments_free(struct rtmfp_fragments *f)
{
    if (!f)
        return;
    while (f->n > 0)
        drop(f, &f->wholes[0]);
    free(f);
}

size_t rtmfp_fragments_count(const struct rtmfp_fragments *f)
{
    return f->n;
}

static void drop_old(struct rtmfp_fragments *f, co_usec now)
{
    for (size_t i = f->n; i-- > 0;)
        if (now - f->wholes[i].since >= PATIENCE)
            drop(f, &f->wholes[i]);
}

static uint64_t hash_of(const struct rtmfp_fragments *f, const struct udp_addr *from,
                        uint64_t packet)
{
    struct siphash h;

    siphash_begin(&h, f->key);
    siphash_more(&h, from->ip, sizeof(from->ip));
    siphash_more(&h, &from->port, sizeof(from->port));
    siphash_more(&h, &packet, sizeof(packet));
    return siphash_end(&h) | 1;
}

static struct whole *find(struct rtmfp_fragments *f, uint64_t hash, const struct udp_addr *from,
                          uint64_t packet)
{
    for (size_t i = 0; i < f->n; i++) {
        struct whole *w = &f->wholes[i];

        if (w->hash == hash && w->packet == packet && udp_addr_same(&w->from, from))
            return w;
    }
    return NULL;
}

/* A peer that retransmits starts a new packet each time, so its oldest packet is dropped. */
static void make_room(struct rtmfp_fragments *f, const struct udp_addr *from)
{
    struct whole *oldest = NULL;
    unsigned n = 0;

    for (size_t i = 0; i < f->n; i++) {
        struct whole *w = &f->wholes[i];

        if (memcmp(w->from.ip, from->ip, sizeof(from->ip)) != 0)
            continue;
        n++;
        if (!oldest || w->since < oldest->since)
            oldest = w;
    }
    if (n >= RTMFP_WHOLES_OF_ONE)
        drop(f, oldest);
}

static struct whole *begin(struct rtmfp_fragments *f, const struct udp_addr *from, uint64_t packet,
                           co_usec now)
{
    uint64_t hash = hash_of(f, from, packet);
    struct whole *w = find(f, hash, from, packet);

    if (w)
        return w;
    make_room(f, from);
    if (f->n == RTMFP_WHOLES)
        return NULL;
    w = &f->wholes[f->n++];
    *w = (struct whole){ .hash = hash, .from = *from, .packet = packet, .since = now,
                         .data = must(malloc(RTMFP_WHOLE_MAX)) };
    return w;
}

/* Returns false if the piece contradicts the others, or exceeds a limit. */
static bool add(struct whole *w, const struct rtmfp_piece *piece)
{
    unsigned i = (unsigned)piece->index;

    if (piece->index >= RTMFP_PIECES_MAX || piece->data.n > RTMFP_WHOLE_MAX - w->used)
        return false;
    if (!piece->more && (w->n != 0 || w->have >> i > 1))
        return w->n == i + 1;
    if (w->n != 0 && i >= w->n)
        return false;
    if (w->have >> i & 1)
        return true;
    if (!piece->more)
        w->n = i + 1;
    w->have |= UINT32_C(1) << i;
    w->pieces[i].at = (uint16_t)w->used;
    w->pieces[i].size = (uint16_t)piece->data.n;
    if (piece->data.n > 0)
        memcpy(w->data + w->used, piece->data.p, piece->data.n);
    w->used += piece->data.n;
    return true;
}

static bool is_whole(const struct whole *w)
{
    return w->n != 0 && w->have == UINT32_MAX >> (RTMFP_PIECES_MAX - w->n);
}

bool rtmfp_fragments_add(struct rtmfp_fragments *f, const struct udp_addr *from,
                         const struct rtmfp_piece *piece, co_usec now, struct rtmfp_bytes *whole)
{
    struct whole *w;
    size_t n = 0;

    drop_old(f, now);
    w = begin(f, from, piece->packet, now);
    if (!w)
        return false;
    if (!add(w, piece)) {
        drop(f, w);
        return false;
    }
    if (!is_whole(w))
        return false;
    for (unsigned i = 0; i < w->n; i++) {
        memcpy(f->out + n, w->data + w->pieces[i].at, w->pieces[i].size);
        n += w->pieces[i].size;
    }
    drop(f, w);
    *whole = rtmfp_bytes(f->out, n);
    return true;
}
