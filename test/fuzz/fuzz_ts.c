/* SPDX-License-Identifier: MIT */
/* fuzz_ts.c - any bytes as a transport stream; and any payloads in valid packets and sections. */
#include "base/rd.h"
#include "format/ts/demux.h"
#include "format/ts/mux.h"
#include "format/ts/pes.h"
#include "fuzz.h"

#include <assert.h>
#include <string.h>

enum { RAW = 0x80, FILTER = 1, SMALL = 2, PES_SMALL = 4096, PMT = 0x100,
       START = 4, STUFFED = 8, JUMP = 0x10, REPEAT = 0x20, HOLE = 0x40, ODD = 0x80 };

static struct {
    struct ts_demux *d;
    size_t most;   /* bytes of a frame */
    uint8_t cc[4];
    unsigned told;
} it;

static void tell(void *arg, const struct ts_told *told)
{
    assert(arg == &it && (told->name || told->note == TS_NOTE_PROGRAM));
    it.told++;
}

/* Units after their lengths add up. */
static void look(const struct ts_frame *f)
{
    size_t size = 0;
    uint8_t sum = 0;

    assert(f->size > 0 && f->n_pieces > 0 && f->n_pieces <= 512);
    for (unsigned i = 0; i < f->n_pieces; i++) {
        const struct ts_piece *p = &f->pieces[i];

        size += p->head_size + p->size;
        for (size_t k = 0; k < p->size; k++)
            sum ^= p->data[k];
        if (!f->config && (f->codec == AV_H264 || f->codec == AV_H265))
            assert(p->size > 0 && p->head_size == 4);
    }
    (void)sum;
    assert(size == f->size && size <= it.most + 512 * 11);
    if (f->config) {
        struct av_info info;
        err_t err = av_info_parse(&info, f->codec, f->pieces[0].data, f->size);

        err_free(&err);
    }
}

static void take(void)
{
    struct ts_frame f;

    while (ts_demux_next(it.d, &f))
        look(&f);
}

static void put(const uint8_t *data, size_t size)
{
    ts_demux_put(it.d, data, size);
    take();
}

/* Exactly as large as needed: a read after its end is noticed. */
static void put_raw(struct rd *r)
{
    size_t n = rd_u8(r) + (size_t)1;

    while (rd_left(r) > 0) {
        size_t size = n < rd_left(r) ? n : rd_left(r);

        put(rd_take(r, size), size);
    }
}

/* A section around this content, in one packet. */
static size_t section(uint8_t *out, bool pat, const uint8_t *body, size_t size)
{
    uint32_t crc;
    size_t n = size < 170 ? size : 170;

    memset(out, 0xff, 184);
    memcpy(out, pat ? "\0\0\xb0\0\0\1\xc1\0\0" : "\0\2\xb0\0\0\1\xc1\0\0", 9);
    out[3] = (uint8_t)(5 + n + 4);
    if (n > 0)
        out[6] = (uint8_t)(0xc1 | (body[0] & 0x3e));
    memcpy(out + 9, body, n);
    crc = ts_crc32(out + 1, 8 + n);
    for (size_t i = 0; i < 4; i++)
        out[9 + n + i] = (uint8_t)(crc >> (24 - 8 * i));
    return 184;
}

/* How, how many bytes, and these. */
static void put_packet(struct rd *r)
{
    static const uint16_t pids[] = { 0x101, 0x102, PMT, 0 };
    uint8_t how = rd_u8(r), p[TS_PACKET], body[184];
    size_t n = rd_u8(r) % 185, size = n < rd_left(r) ? n : rd_left(r);
    const uint8_t *data = rd_take(r, size);
    unsigned which = how & 3;

    if (how & HOLE) {
        ts_demux_hole(it.d);
        take();
    }
    memset(p, 0xff, sizeof(p));
    p[0] = 0x47;
    p[1] = (uint8_t)((how & START ? 0x40 : 0) | pids[which] >> 8);
    p[2] = (uint8_t)pids[which];
    it.cc[which] = (uint8_t)(it.cc[which] + (how & JUMP ? 3 : 1));
    p[3] = (uint8_t)(0x10 | (it.cc[which] & 0x0f));
    if (data && which >= 2 && how & START) {
        size = section(body, which == 3, data, size);
        data = body;
    } else if (how & ODD && size > 0) {
        p[3] ^= data[0] & 0xf0;
    }
    if (how & STUFFED && size < 183) {
        p[3] |= 0x20;
        p[4] = (uint8_t)(183 - size);
        p[5] = 0;
    }
    if (data)
        memcpy(p + TS_PACKET - size, data, size);
    put(p, sizeof(p));
    if (how & REPEAT)
        put(p, sizeof(p));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    uint8_t how = rd_u8(&r), tables[TS_TABLES_MAX];
    struct ts_demux_opts opts = { .sei_filter = how & FILTER, .tell = tell, .arg = &it };
    struct ts_demux_stat stat;

    memset(&it, 0, sizeof(it));
    it.most = opts.pes_max = how & SMALL ? PES_SMALL : 0;
    if (it.most == 0)
        it.most = TS_PES_MAX;
    it.d = ts_demux_new(&opts);
    if (how & RAW)
        put_raw(&r);
    while (!(how & RAW) && rd_left(&r) > 2)
        put_packet(&r);
    ts_demux_flush(it.d);
    take();
    assert(ts_demux_tables(it.d, tables) % TS_PACKET == 0);
    ts_demux_stat(it.d, &stat);
    assert(it.told <= 32);
    ts_demux_free(it.d);
    assert(err_live() == 0);
    return 0;
}
