/* SPDX-License-Identifier: MIT */
/* unpack_audio.c - assembles frames of AAC, MP3, Opus and G.711. */
#include "av/bits.h"
#include "av/mp3.h"
#include "base/rd.h"
#include "format/rtp/unpack_impl.h"

#include <string.h>

enum { AU_SAMPLES = 1024, AU_HEADERS_MAX = 256, MP3_HEADER = 4, MP3_RATE = 90000 };

/* ---- payloads that are frames without changes */

void rtp_raw_unpack(struct rtp_unpacker *u)
{
    u->has_in = false;
    rtp_unpack_out(u, u->in.ticks, u->in.data, u->in.size);
}

/* ---- fragments */

static void drop_pieces(struct rtp_unpacker *u)
{
    u->stats.broken += u->whole > 0;
    u->whole = 0;
}

static void begin_pieces(struct rtp_unpacker *u, size_t whole)
{
    drop_pieces(u);
    wr_clear(&u->frame);
    u->whole = whole;
    u->ticks = u->in.ticks;
}

/* Adds a fragment, and outputs the frame if it is complete. */
static void add_piece(struct rtp_unpacker *u, const uint8_t *data, size_t size)
{
    wr_bytes(&u->frame, data, size);
    if (u->frame.bad || u->frame.len > u->whole) {
        drop_pieces(u);
    } else if (u->frame.len == u->whole) {
        u->whole = 0;
        rtp_unpack_out(u, u->ticks, u->frame.buf, u->frame.len);
    }
}

static void look_for_holes(struct rtp_unpacker *u)
{
    if (u->in.lost > 0 || u->in.restart) {
        u->skip = u->whole > 0; /* and the rest of that frame */
        u->skip_ticks = u->ticks;
        drop_pieces(u);
    }
    u->in.lost = 0;
    u->in.restart = false;
}

/* ---- [AAC] 3.2 */

/* The headers of the access units are a bit string before their data. */
static bool read_headers(struct rtp_unpacker *u)
{
    struct rd r = rd_init(u->in.data, u->in.size);
    unsigned bits = rd_u16(&r), first = u->size_bits + u->index_bits,
             more = u->size_bits + u->delta_bits;

    (void)rd_take(&r, (bits + 7) / 8);
    if (r.bad || bits < first)
        return false;
    u->headers = 1 + (more > 0 ? (bits - first) / more : 0);
    u->headers_at = 0;
    u->header_bit = 16;
    u->at = u->in.size - rd_left(&r);
    return u->headers <= AU_HEADERS_MAX;
}

/* Reads the next header: size and index of the unit. */
static size_t read_header(struct rtp_unpacker *u)
{
    struct bits b = bits_init(u->in.data, u->in.size);
    unsigned index_bits = u->headers_at == 0 ? u->index_bits : u->delta_bits;
    size_t size;

    bits_skip(&b, u->header_bit);
    size = bits_u(&b, u->size_bits);
    u->index = u->headers_at == 0 ? bits_u(&b, index_bits) : u->index + 1 + bits_u(&b, index_bits);
    u->header_bit += u->size_bits + index_bits;
    u->headers_at++;
    return size;
}

static void take_unit(struct rtp_unpacker *u, size_t size)
{
    const uint8_t *data = u->in.data + u->at;
    size_t left = u->in.size - u->at;

    if (size <= left) {
        drop_pieces(u);
        u->at += size;
        rtp_unpack_out(u, u->in.ticks + u->index * AU_SAMPLES, data, size);
        return;
    }
    u->at = u->in.size;
    if (u->headers > 1) { /* only a single unit may be fragmented */
        drop_pieces(u);
        u->stats.broken++;
        return;
    }
    if (u->skip && u->skip_ticks == u->in.ticks)
        return;
    if (u->whole != size || u->ticks != u->in.ticks)
        begin_pieces(u, size);
    add_piece(u, data, left);
}

/* The last fragment also has the size of the whole unit, which is more than its own size. */
void rtp_aac_unpack(struct rtp_unpacker *u)
{
    look_for_holes(u);
    if (u->headers == 0 && !read_headers(u)) {
        u->stats.broken++;
        u->has_in = false;
        return;
    }
    if (u->headers_at == u->headers || u->at >= u->in.size) {
        u->has_in = false;
        return;
    }
    take_unit(u, read_header(u));
    u->has_in = u->headers_at < u->headers;
}

/* ---- [MP3] 3.5 */

static bool parse_mp3(struct mp3_frame *f, const uint8_t *data, size_t size)
{
    err_t err = mp3_frame_parse(f, data, size);
    bool fine = !err && f->layer == 3;

    err_free(&err);
    return fine;
}

static void take_mp3(struct rtp_unpacker *u)
{
    const uint8_t *data = u->in.data + u->at;
    size_t left = u->in.size - u->at, size;
    struct mp3_frame f;

    drop_pieces(u);
    if (!parse_mp3(&f, data, left)) {
        u->stats.odd++;
        u->has_in = false;
        return;
    }
    size = f.size > 0 ? f.size : left; /* free bit rate: the rest of the payload */
    if (size > left) {
        begin_pieces(u, size);
        add_piece(u, data, left);
        u->has_in = false;
        return;
    }
    rtp_unpack_out(u, u->in.ticks + u->index * f.samples * MP3_RATE / f.rate, data, size);
    u->index++;
    u->at += size;
    u->has_in = u->at < u->in.size;
}

void rtp_mp3_unpack(struct rtp_unpacker *u)
{
    struct rd r = rd_init(u->in.data, u->in.size);
    size_t offset;

    look_for_holes(u);
    if (u->at > 0) {
        take_mp3(u);
        return;
    }
    (void)rd_u16(&r);
    offset = rd_u16(&r);
    if (!r.bad && rd_left(&r) > 0 && offset == 0) {
        u->at = MP3_HEADER;
        u->index = 0;
        take_mp3(u);
        return;
    }
    u->has_in = false;
    if (r.bad || u->whole == 0 || offset != u->frame.len)
        drop_pieces(u);
    else
        add_piece(u, r.p, rd_left(&r));
}
