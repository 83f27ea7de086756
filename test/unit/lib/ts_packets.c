/* SPDX-License-Identifier: MIT */
/* ts_packets.c - a multiplexer that writes given packets, and the demuxed frames. */
#include "ts_packets.h"

struct wr ts_bytes;

uint8_t ts_counters[0x2000];

void put_packet(uint16_t pid, bool start, const uint8_t *data, size_t size, size_t stuffing)
{
    uint8_t p[TS_PACKET];

    memset(p, 0xff, sizeof(p));
    p[0] = 0x47;
    p[1] = (uint8_t)((start ? 0x40 : 0) | pid >> 8);
    p[2] = (uint8_t)pid;
    p[3] = (uint8_t)((stuffing ? 0x30 : 0x10) | (ts_counters[pid]++ & 0x0f));
    if (stuffing) {
        p[4] = (uint8_t)(stuffing - 1);
        if (stuffing > 1)
            p[5] = 0;
    }
    assert_int_equal(4 + stuffing + size, TS_PACKET);
    memcpy(p + 4 + stuffing, data, size);
    wr_bytes(&ts_bytes, p, sizeof(p));
}

/* All of it, the last packet stuffed. */
static void cut(uint16_t pid, const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t n = size - at < TS_PACKET - 4 ? size - at : TS_PACKET - 4;

        put_packet(pid, at == 0, data + at, n, TS_PACKET - 4 - n);
        at += n;
    }
}

void put_section(uint16_t pid, uint8_t table, uint16_t id, uint8_t version, const uint8_t *body,
                    size_t size)
{
    uint8_t s[6 * (TS_PACKET - 4)] = { 0, table };
    size_t length = 5 + size + 4, n = 1 + 3 + length;
    uint32_t crc;

    s[2] = (uint8_t)(0xb0 | length >> 8);
    s[3] = (uint8_t)length;
    s[4] = (uint8_t)(id >> 8);
    s[5] = (uint8_t)id;
    s[6] = (uint8_t)(0xc1 | version << 1);
    memcpy(s + 9, body, size);
    crc = ts_crc32(s + 1, 8 + size);
    for (int i = 0; i < 4; i++)
        s[9 + size + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
    while (n % (TS_PACKET - 4) != 0)
        s[n++] = 0xff;
    for (size_t at = 0; at < n; at += TS_PACKET - 4)
        put_packet(pid, at == 0, s + at, TS_PACKET - 4, 0);
}

void put_pat(void)
{
    put_section(0, 0, 1, 0, B("\0\1\xe1\0"));
}

void put_pmt(uint8_t version, const char *streams, size_t size)
{
    uint8_t body[1024] = { 0xe1, 1, 0xf0, 0 };

    memcpy(body + 4, streams, size);
    put_section(PMT, 2, 1, version, body, 4 + size);
}

static void put_time(uint8_t *p, uint8_t mark, int64_t t)
{
    p[0] = (uint8_t)(mark << 4 | (t >> 30 & 7) << 1 | 1);
    p[1] = (uint8_t)(t >> 22);
    p[2] = (uint8_t)((t >> 15 & 0x7f) << 1 | 1);
    p[3] = (uint8_t)(t >> 7);
    p[4] = (uint8_t)((t & 0x7f) << 1 | 1);
}

void put_pes(uint16_t pid, int64_t pts, int64_t dts, int how, const uint8_t *data, size_t size)
{
    static uint8_t buf[LIMIT];
    size_t n = 9;

    memcpy(buf, "\0\0\1\xe0\0\0\x80\0\0", 9);
    if (pid == AUDIO)
        buf[3] = 0xc0;
    if (pts != NO_TIME) {
        buf[7] = dts == NO_TIME ? 0x80 : 0xc0;
        put_time(buf + n, dts == NO_TIME ? 2 : 3, pts);
        n += 5;
        if (dts != NO_TIME)
            put_time(buf + n, 1, dts);
        n += dts != NO_TIME ? 5 : 0;
    }
    buf[8] = (uint8_t)(n - 9);
    memcpy(buf + n, data, size);
    if (how & LENGTH) {
        buf[4] = (uint8_t)((n - 6 + size) >> 8);
        buf[5] = (uint8_t)(n - 6 + size);
    }
    cut(pid, buf, n + size);
}

void put_video(int64_t pts, const char *data, size_t size)
{
    put_pes(VIDEO, pts, NO_TIME, 0, (const uint8_t *)data, size);
}

struct ts_packets_state demuxed;

static void tell(void *arg, const struct ts_told *told)
{
    assert_ptr_equal(arg, &demuxed);
    assert_non_null(told->note == TS_NOTE_PROGRAM ? "" : told->name);
    demuxed.last[demuxed.told++ % 8] = *told;
}

static void forget(void)
{
    for (unsigned i = 0; i < demuxed.n; i++)
        free(demuxed.v[i].data);
    demuxed.n = 0;
}

void demux_take(void)
{
    struct ts_frame f;

    while (ts_demux_next(demuxed.d, &f)) {
        struct got *g = &demuxed.v[demuxed.n++];

        assert_true(demuxed.n <= FRAMES && f.size > 0);
        *g = (struct got){ f.config, f.key, f.codec, f.dts, f.pts, f.size, malloc(f.size), f.at };
        ts_frame_copy(&f, g->data);
    }
}

void demux_start_with(const struct ts_demux_opts *opts)
{
    struct ts_demux_opts o = *opts;

    memset(&demuxed, 0, sizeof(demuxed));
    memset(ts_counters, 0, sizeof(ts_counters));
    o.tell = tell;
    o.arg = &demuxed;
    demuxed.d = ts_demux_new(&o);
    wr_init(&ts_bytes, LIMIT);
}

void demux_start(void)
{
    demux_start_with(&(struct ts_demux_opts){ .sei_filter = true });
}

unsigned demux_feed(void)
{
    unsigned before = demuxed.n;

    assert_false(ts_bytes.bad);
    ts_demux_put(demuxed.d, ts_bytes.buf, ts_bytes.len);
    demux_take();
    ts_bytes.len = 0;
    return demuxed.n - before;
}

void demux_flush(void)
{
    (void)demux_feed();
    ts_demux_flush(demuxed.d);
    demux_take();
}

void demux_stop(void)
{
    demux_flush();
    forget();
    ts_demux_free(demuxed.d);
    wr_free(&ts_bytes);
}

const struct ts_demux_stat *demux_stat(void)
{
    ts_demux_stat(demuxed.d, &demuxed.stat);
    return &demuxed.stat;
}

void demux_expect(unsigned i, bool config, int64_t pts, const uint8_t *data, size_t size)
{
    assert_true(i < demuxed.n);
    assert_int_equal(demuxed.v[i].config, config);
    assert_int_equal(demuxed.v[i].pts, pts);
    assert_int_equal(demuxed.v[i].size, size);
    assert_memory_equal(demuxed.v[i].data, data, size);
}

void demux_begin_h264(void)
{
    demux_start();
    put_pat();
    PMT_OF(0, H264_STREAM AAC_STREAM);
    VIDEO_PES(9000, AUD SPS PPS IDR);
}

void put_adts(struct wr *w, uint8_t n)
{
    struct aac_config c;
    uint8_t head[AAC_ADTS_HEADER];

    assert_ok(aac_asc_parse(&c, MEDIA_BYTES(CONFIG_AAC)));
    assert_ok(aac_adts_build(head, &c, n));
    wr_bytes(w, head, sizeof(head));
    for (uint8_t i = 0; i < n; i++)
        wr_u8(w, n);
}
