/* SPDX-License-Identifier: MIT */
/* pack_av1.c - AV1: OBUs without their sizes, up to three OBUs or fragments in a packet. */
#include "av/av1.h"
#include "base/rd.h"
#include "format/obu.h"
#include "format/rtp/pack_impl.h"

#include <string.h>

/* The number of elements has two bits, and makes the length of the last one unnecessary. */
enum { ELEMENTS_MAX = 3, AV1C = 4 };

struct element { /* an OBU or a fragment of one */
    uint8_t head[2]; /* its header, if it starts here */
    size_t head_size;
    const uint8_t *data;
    size_t size;
};

struct packet {
    struct element e[ELEMENTS_MAX];
    unsigned n;
    size_t size;  /* with the lengths of all elements but the last */
    bool goes_on; /* the first element started in the previous packet */
    bool begins;  /* starts a coded video sequence */
};

/* Stores the sequence header of av1C, which precedes each key frame. */
err_t rtp_av1_configure(struct rtp_packer *p, const struct frame *f)
{
    if (f->size > AV1C)
        wr_bytes(&p->before_key, f->data + AV1C, f->size - AV1C);
    return NULL;
}

static size_t bytes_of(const struct element *e)
{
    return e->head_size + e->size;
}

/* [AV1-RTP] 4.4: Z Y W N. */
static void flush(struct rtp_packer *p, struct packet *k, bool goes_on, bool marker)
{
    uint8_t *at = k->n > 0 ? rtp_pack_packet(p, k->size, marker) : NULL;

    if (at)
        *at++ = (uint8_t)((k->goes_on ? 0x80 : 0) | (goes_on ? 0x40 : 0) | k->n << 4 |
                          (k->begins ? 0x08 : 0));
    for (unsigned i = 0; at && i < k->n; i++) {
        const struct element *e = &k->e[i];

        if (i + 1 < k->n)
            at += obu_leb128_build(at, bytes_of(e));
        memcpy(at, e->head, e->head_size);
        memcpy(at + e->head_size, e->data, e->size);
        at += bytes_of(e);
    }
    *k = (struct packet){ .size = 1, .goes_on = goes_on };
}

/* Returns the space for another element. The previous last element then needs a length. */
static size_t room(const struct rtp_packer *p, const struct packet *k)
{
    size_t used = k->size;

    if (k->n == ELEMENTS_MAX)
        return 0;
    if (k->n > 0)
        used += obu_leb128_size(bytes_of(&k->e[k->n - 1]));
    return used < p->opts.mtu ? p->opts.mtu - used : 0;
}

static void add(struct packet *k, const struct element *e)
{
    if (k->n > 0)
        k->size += obu_leb128_size(bytes_of(&k->e[k->n - 1]));
    k->e[k->n++] = *e;
    k->size += bytes_of(e);
}

/* An OBU that needs fragments starts a new packet, so that its fragments have equal sizes. */
static void send(struct rtp_packer *p, struct packet *k, const struct obu *obu, bool last)
{
    struct element e = { .head = { obu->head[0], obu->head[1] }, .head_size = obu->head_size,
                         .data = obu->data, .size = obu->size };
    size_t each = bytes_of(&e), left = each;

    if (k->n > 0 && each > room(p, k))
        flush(p, k, false, false);
    each = rtp_pack_even(left, p->opts.mtu - 1);
    for (;;) {
        struct element piece = e;

        if (left > each)
            piece.size = each - e.head_size;
        add(k, &piece);
        left -= bytes_of(&piece);
        e = (struct element){ .data = piece.data + piece.size, .size = left };
        if (left == 0)
            break;
        flush(p, k, true, false);
    }
    if (last)
        flush(p, k, false, true);
}

static bool is_sent(const struct obu *obu)
{
    return obu->type != AV1_TEMPORAL_DELIMITER && obu->type != AV1_TILE_LIST &&
           obu->type != AV1_PADDING;
}

static err_t look(struct rd r, unsigned *n, bool *header)
{
    struct obu obu;

    *n = 0;
    *header = false;
    for (int i = 0; rd_left(&r) > 0; i++) {
        if (i == OBU_FRAME_MAX)
            return err_new(ERR_CODEC, "a frame of more than %d OBUs", OBU_FRAME_MAX);
        if (!obu_next(&r, &obu))
            return err_new(ERR_CODEC, "an OBU ends too early");
        *n += is_sent(&obu);
        *header |= obu.type == AV1_SEQUENCE_HEADER;
    }
    return NULL;
}

err_t rtp_av1_pack(struct rtp_packer *p, const struct frame *f)
{
    struct rd r = rd_init(f->data, f->size);
    struct rd before = rd_init(p->before_key.buf, p->before_key.len);
    struct packet k = { .size = 1, .begins = f->key };
    struct obu obu;
    unsigned n;
    bool header;
    err_t err;

    err = look(r, &n, &header);
    if (err || n == 0)
        return err;
    while (f->key && p->opts.sets && !header && obu_next(&before, &obu))
        send(p, &k, &obu, false);
    while (obu_next(&r, &obu)) {
        if (is_sent(&obu))
            send(p, &k, &obu, --n == 0);
    }
    return NULL;
}
