/* SPDX-License-Identifier: MIT */
/* test_wire.c - what RTMP and FLV players get of packets from RTMP and from other
 * protocols: one end reads what the other writes. */
#include "format/flv/flv.h"
#include "format/frame.h"
#include "proto/http/ws.h"
#include "proto/rtmp/chunk_in.h"
#include "media_configs.h"
#include "unit.h"
#include "wire/flv.h"
#include "wire/fmp4.h"
#include "wire/rtmp.h"

#include <stdlib.h>
#include <string.h>

/* A message as a player reads it. */
struct message {
    uint8_t type;
    uint32_t time;
    size_t size;
    uint8_t data[4096];
};

static uint8_t *render(const struct live_format *f, const uint32_t param[LIVE_PARAMS],
                       const struct av_packet *pkt, size_t *n)
{
    uint8_t *out;

    *n = f->size(param, pkt, pkt->dts);
    out = malloc(*n + 1);
    assert_non_null(out);
    out[*n] = 0x5a;
    if (*n > 0)
        f->render(param, pkt, pkt->dts, out);
    assert_int_equal(out[*n], 0x5a);
    return out;
}

static void by_rtmp(struct message *m, const struct av_packet *pkt, uint32_t chunk)
{
    const uint32_t param[LIVE_PARAMS] = { [RTMP_WIRE_CHUNK_SIZE] = chunk, [RTMP_WIRE_STREAM_ID] = 1 };
    uint8_t set[] = { 2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, (uint8_t)(chunk >> 8),
                      (uint8_t)chunk };
    struct rtmp_in in;
    struct rtmp_msg msg;
    size_t n;
    uint8_t *out = render(&rtmp_wire, param, pkt, &n);

    rtmp_in_init(&in, &rtmp_in_heap);
    assert_ok(rtmp_in_feed(&in, set, sizeof(set)));
    assert_ok(rtmp_in_feed(&in, out, n));
    while (rtmp_in_next(&in, &msg) && msg.type == RTMP_SET_CHUNK_SIZE)
        free(msg.payload);
    assert_int_equal(msg.stream_id, 1);
    assert_true(msg.size <= sizeof(m->data));
    *m = (struct message){ .type = msg.type, .time = msg.time, .size = msg.size };
    memcpy(m->data, msg.payload, msg.size);
    free(msg.payload);
    rtmp_in_fini(&in);
    free(out);
}

static void read_tag(struct message *m, const uint8_t *bytes, size_t size)
{
    struct rd r = rd_init(bytes, size);
    struct flv_tag tag;

    assert_ok(flv_tag_parse(&tag, &r));
    assert_int_equal(rd_left(&r), tag.size + FLV_TAG_TRAILER);
    *m = (struct message){ .type = tag.type, .time = tag.time, .size = tag.size };
    memcpy(m->data, rd_take(&r, tag.size), tag.size);
    assert_int_equal(rd_u32(&r), tag.size + FLV_TAG_HEADER);
}

static void by_flv(struct message *m, const struct av_packet *pkt, bool ws)
{
    const uint32_t param[LIVE_PARAMS] = { 0 };
    size_t n, head = 0;
    uint8_t *out = render(ws ? &flv_wire_ws : &flv_wire, param, pkt, &n);

    if (ws) {
        head = out[1] < 126 ? 2 : 4;
        assert_int_equal(out[0], 0x82);
        assert_int_equal(out[1] < 126 ? out[1] : out[2] << 8 | out[3], n - head);
    }
    read_tag(m, out + head, n - head);
    free(out);
}

/* The player's view of the message must match the packet. */
static void compare(const struct message *m, const struct av_packet *want)
{
    struct av_packet *got = av_packet_new(m->size);

    got->origin = m->type;
    memcpy(got->data, m->data, m->size);
    assert_ok(flv_packet_describe(got));
    assert_int_equal(m->time, (uint32_t)(want->dts / AV_MS(1)));
    assert_int_equal(got->kind, want->kind);
    assert_int_equal(got->codec, want->codec);
    assert_int_equal(got->config, want->config);
    assert_int_equal(got->key, want->key);
    assert_int_equal(got->extra, want->extra);
    assert_int_equal(got->track, want->track);
    assert_int_equal(got->cts, want->cts);
    assert_int_equal(av_packet_payload_size(got), av_packet_payload_size(want));
    assert_memory_equal(av_packet_payload(got), av_packet_payload(want),
                        av_packet_payload_size(want));
    if (want->origin) {
        assert_int_equal(m->size, want->size);
        assert_memory_equal(m->data, want->data, want->size);
    }
    (void)av_packet_unref(got);
}

static void check(const struct av_packet *pkt)
{
    static const uint32_t chunks[] = { 1, 2, 5, 7, 128, 60000 };
    struct message m;

    for (size_t i = 0; i < COUNT(chunks); i++) {
        by_rtmp(&m, pkt, chunks[i]);
        compare(&m, pkt);
    }
    by_flv(&m, pkt, false);
    compare(&m, pkt);
    by_flv(&m, pkt, true);
    compare(&m, pkt);
}

static bool is_left_out(const struct av_packet *pkt)
{
    const uint32_t param[LIVE_PARAMS] = { 128, 1, 0 }, plain[LIVE_PARAMS] = { 0 };
    bool out = rtmp_wire.size(param, pkt, 0) == 0;

    assert_int_equal(flv_wire.size(plain, pkt, 0) == 0, out);
    assert_int_equal(flv_wire_ws.size(plain, pkt, 0) == 0, out);
    return out;
}

static struct av_packet *bare(enum av_codec codec, size_t size)
{
    struct av_packet *pkt = av_packet_new(size);

    pkt->kind = (uint8_t)av_codec_row(codec)->kind;
    pkt->codec = (uint8_t)codec;
    pkt->dts = AV_MS(1234567);
    for (size_t i = 0; i < size; i++)
        pkt->data[i] = (uint8_t)(i + 1);
    return pkt;
}

/* Every form of a packet without an origin. */
static const struct {
    const char *name;
    bool config, key;
    uint16_t track;
    int32_t cts;
    size_t size;
} forms[] = {
    { "a frame", false, false, 0, 0, 300 },
    { "a short frame", false, false, 0, 0, 1 },
    { "a key frame", false, true, 0, 0, 4000 },
    { "a frame shown later", false, false, 0, AV_MS(80), 300 },
    { "a key frame shown later", false, true, 0, AV_MS(8388607), 300 },
    { "a frame shown earlier", false, false, 0, -AV_MS(40), 300 },
    { "a configuration", true, false, 0, 0, 40 },
    { "a frame of another track", false, false, 1, 0, 300 },
    { "a key frame of another track", false, true, 255, AV_MS(40), 300 },
    { "a configuration of another track", true, false, 7, 0, 40 },
};

/* Whether FLV can express it. */
static bool can_say(const struct av_codec_row *row, size_t form)
{
    const struct av_codec_flv *flv = &row->flv;

    if (forms[form].track > 0 || (forms[form].config && !flv->packet_type))
        return flv->fourcc[0][0];
    return true;
}

static void test_without_origin(void **state)
{
    (void)state;
    for (int c = AV_CODEC_NONE + 1; c < AV_CODECS; c++) {
        const struct av_codec_row *row = av_codec_row((enum av_codec)c);

        print_message("  %s\n", row->name);
        for (size_t i = 0; i < COUNT(forms); i++) {
            struct av_packet *pkt = bare((enum av_codec)c, forms[i].size);

            pkt->config = forms[i].config;
            pkt->key = forms[i].key && row->kind == AV_VIDEO;
            pkt->track = forms[i].track;
            pkt->cts = row->flv.cts ? forms[i].cts : 0;
            assert_int_equal(is_left_out(pkt), !can_say(row, i));
            if (can_say(row, i))
                check(pkt);
            (void)av_packet_unref(pkt);
        }
    }
}

/* Exactly the bytes of encoders, for the codecs that players know best. */
static void test_bytes(void **state)
{
    static const struct {
        enum av_codec codec;
        bool config, key;
        int32_t cts;
        const char *head;
        size_t size;
    } rows[] = {
#define B(s) s, sizeof(s) - 1
        { AV_H264, false, true, AV_MS(80), B("\x17\x01\x00\x00\x50") },
        { AV_H264, false, false, 0, B("\x27\x01\x00\x00\x00") },
        { AV_H264, true, false, 0, B("\x17\x00\x00\x00\x00") },
        { AV_H265, false, true, AV_MS(80), B("\x91hvc1\x00\x00\x50") },
        { AV_H265, false, false, 0, B("\xa3hvc1") },
        { AV_H265, true, false, 0, B("\x90hvc1") },
        { AV_AV1, false, true, 0, B("\x91" "av01") },
        { AV_VP9, true, false, 0, B("\x90vp09") },
        { AV_AAC, false, false, 0, B("\xaf\x01") },
        { AV_AAC, true, false, 0, B("\xaf\x00") },
        { AV_MP3, false, false, 0, B("\x2f") },
        { AV_OPUS, false, false, 0, B("\x91Opus") },
        { AV_OPUS, true, false, 0, B("\x90Opus") },
        { AV_G711A, false, false, 0, B("\x72") },
        { AV_SPEEX, false, false, 0, B("\xb2") },
#undef B
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct av_packet *pkt = bare(rows[i].codec, 10);
        struct flv_message m;

        pkt->config = rows[i].config;
        pkt->key = rows[i].key;
        pkt->cts = rows[i].cts;
        flv_message_build(&m, pkt);
        assert_int_equal(m.type, pkt->kind == AV_VIDEO ? FLV_VIDEO : FLV_AUDIO);
        assert_int_equal(m.head_size, rows[i].size);
        assert_memory_equal(m.head, rows[i].head, rows[i].size);
        assert_ptr_equal(m.rest, pkt->data);
        (void)av_packet_unref(pkt);
    }
}

/* Decoding and presentation time in milliseconds differ from the true ones by less than one. */
static void test_rounding(void **state)
{
    (void)state;
    for (int64_t dts = -9009; dts < 400000; dts += 3003) {
        for (int32_t cts = -6006; cts <= 12012; cts += 3003) {
            struct av_packet *pkt = bare(AV_H264, 10);
            struct flv_message m;
            int64_t pts = dts + cts, ms, want;

            pkt->dts = dts;
            pkt->cts = cts;
            flv_message_build(&m, pkt);
            ms = (int32_t)((uint32_t)m.head[2] << 24 | (uint32_t)m.head[3] << 16 |
                           (uint32_t)m.head[4] << 8) >> 8;
            ms += dts / 90 - (dts % 90 < 0);
            want = pts / 90 - (pts % 90 < 0);
            assert_int_equal(ms, want);
            (void)av_packet_unref(pkt);
        }
    }
}

static void test_left_out(void **state)
{
    struct av_packet *pkt = bare(AV_H264, 10);

    (void)state;
    assert_false(is_left_out(pkt));
    pkt->extra = true;
    assert_true(is_left_out(pkt));
    pkt->extra = false;
    pkt->track = AV_TRACK_MANY;
    assert_true(is_left_out(pkt));
    pkt->track = 0;
    pkt->codec = AV_CODEC_NONE;
    assert_true(is_left_out(pkt));
    pkt->kind = AV_DATA;
    assert_true(is_left_out(pkt));
    (void)av_packet_unref(pkt);
    pkt = bare(AV_AAC, 0);
    assert_true(is_left_out(pkt)); /* an empty frame is invalid */
    (void)av_packet_unref(pkt);
    pkt = bare(AV_AAC, 0xffffff);
    assert_true(is_left_out(pkt)); /* it would exceed the size of a message */
    (void)av_packet_unref(pkt);
}

/* Metadata of a stream with Opus, and those for players without it: all but one member. */
static void test_opus_is_left_out(void **state)
{
    static const char all[] = "\2\0\012onMetaData\010\0\0\0\2\0\5width\0@t\0\0\0\0\0\0"
                              "\0\014audiocodecid\0\x41\xd3\xdc\x1d\x5c\xc0\0\0"
                              "\0\6height\0@f\x80\0\0\0\0\0\0\0\011";
    static const char less[] = "\2\0\012onMetaData\010\0\0\0\2\0\5width\0@t\0\0\0\0\0\0"
                               "\0\6height\0@f\x80\0\0\0\0\0\0\0\011";
    const uint32_t rtmp[LIVE_PARAMS] = { 60000, 1, RTMP_WIRE_NO_OPUS };
    const uint32_t flv[LIVE_PARAMS] = { FLV_WIRE_NO_OPUS };
    struct av_packet *opus = bare(AV_OPUS, 100), *aac = bare(AV_AAC, 100);
    struct av_packet *data = av_packet_new(sizeof(all) - 1);
    struct message m;
    size_t n;
    uint8_t *out;

    (void)state;
    data->kind = AV_DATA;
    data->origin = FLV_DATA;
    memcpy(data->data, all, sizeof(all) - 1);
    assert_int_equal(rtmp_wire.size(rtmp, opus, 0), 0);
    assert_int_equal(flv_wire.size(flv, opus, 0), 0);
    assert_int_equal(flv_wire_ws.size(flv, opus, 0), 0);
    assert_int_equal(rtmp_wire.size(rtmp, aac, 0), rtmp_wire.size((uint32_t[3]){ 60000, 1 }, aac, 0));
    out = render(&flv_wire, flv, data, &n);
    read_tag(&m, out, n);
    free(out);
    assert_int_equal(m.size, sizeof(less) - 1);
    assert_memory_equal(m.data, less, sizeof(less) - 1);
    out = render(&rtmp_wire, rtmp, data, &n);
    assert_memory_equal(out + n - m.size, less, m.size);
    free(out);
    data->data[sizeof(all) - 1 - 20 - 8]++; /* another codec: unchanged */
    assert_int_equal(flv_wire.size(flv, data, 0), flv_wire.size((uint32_t[3]){ 0 }, data, 0));
    (void)av_packet_unref(data);
    (void)av_packet_unref(opus);
    (void)av_packet_unref(aac);
}

/* A payload may follow other bytes of the packet. */
static void test_payload_behind(void **state)
{
    struct av_packet *pkt = bare(AV_OPUS, 100);

    (void)state;
    pkt->payload = 16;
    check(pkt);
    (void)av_packet_unref(pkt);
}

#define B(s) s, sizeof(s) - 1
static const struct {
    const char *name, *bytes;
    size_t size;
    uint8_t type;
} origins[] = {
    { "AVC", B("\x17\x01\x00\x00\x28xyz"), 9 },
    { "AVC end", B("\x17\x02\x00\x00\x00"), 9 },
    { "HEVC as before enhanced RTMP", B("\x1c\x01\x00\x00\x28x"), 9 },
    { "enhanced with ModEx", B("\x97\x02\x00\x00\x00\x01hvc1\x00\x00\x28x"), 9 },
    { "an unknown codec", B("\x12\x00\x00xyz"), 9 },
    { "an unknown FourCC", B("\x91xxxxyy"), 9 },
    { "colour information", B("\x94hvc1\x02\x00\x09" "colorInfo"), 9 },
    { "several tracks", B("\x96\x21" "av01\x00\x00\x00\x01xhvc1\x01\x00\x00\x04\x00\x00\x28y"), 9 },
    { "AAC", B("\xaf\x01xyz"), 8 },
    { "MP3 at 8 kHz", B("\xef\xff\xfb"), 8 },
    { "Nellymoser", B("\x6ex"), 8 },
    { "Opus", B("\x91Opusx"), 8 },
    { "metadata", B("\x02\x00\x0aonMetaData\x08"), 18 },
    { "a cue point", B("\x02\x00\x0aonCuePoint"), 18 },
};

static struct av_packet *origin(size_t i)
{
    struct av_packet *pkt = av_packet_new(origins[i].size);

    memcpy(pkt->data, origins[i].bytes, origins[i].size);
    pkt->origin = origins[i].type;
    assert_ok(flv_packet_describe(pkt));
    return pkt;
}

static void test_origin(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(origins); i++) {
        struct av_packet *pkt = origin(i);

        print_message("  %s\n", origins[i].name);
        check(pkt);
        (void)av_packet_unref(pkt);
    }
}

/* HLS, DASH, MPEG-TS and MP4 see no difference between packets from RTMP and others. */
static void test_frames(void **state)
{
    struct av_packet *rtmp = origin(0), *other = bare(AV_H264, 3);
    struct frame_reader a, b;
    struct frame x, y;

    (void)state;
    memcpy(other->data, "xyz", 3);
    other->key = true;
    other->cts = AV_MS(40);
    other->dts = rtmp->dts = AV_MS(10);
    frame_begin(&a, rtmp);
    frame_begin(&b, other);
    assert_true(frame_next(&a, &x) && frame_next(&b, &y));
    assert_int_equal(x.codec, y.codec);
    assert_int_equal(x.key, y.key);
    assert_int_equal(x.pts, y.pts);
    assert_int_equal(x.dts, y.dts);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, y.size);
    assert_false(frame_next(&a, &x) || frame_next(&b, &y));
    (void)av_packet_unref(rtmp);
    (void)av_packet_unref(other);
}

/* RTMP has it in AMF3, a file in AMF0. */
static void test_data_in_amf3(void **state)
{
    struct av_packet *pkt = av_packet_new(5);
    struct message m;

    (void)state;
    pkt->origin = FLV_DATA_AMF3;
    memcpy(pkt->data, "\0\2\0\1x", 5);
    assert_ok(flv_packet_describe(pkt));
    by_rtmp(&m, pkt, 128);
    assert_int_equal(m.type, FLV_DATA_AMF3);
    assert_int_equal(m.size, 5);
    by_flv(&m, pkt, false);
    assert_int_equal(m.type, FLV_DATA);
    assert_int_equal(m.size, 4);
    assert_memory_equal(m.data, "\2\0\1x", 4);
    (void)av_packet_unref(pkt);
}

static void test_time_wraps(void **state)
{
    static const int64_t ms[] = { 0, 0xffffff, 0x1000000, 0xffffffff, 0x100000000, 0x100000018,
                                  0x2345678901 };

    (void)state;
    for (size_t i = 0; i < COUNT(ms); i++) {
        struct av_packet *pkt = bare(AV_H265, 200);

        pkt->dts = AV_MS(ms[i]);
        pkt->cts = AV_MS(40);
        check(pkt);
        (void)av_packet_unref(pkt);
    }
}

static void test_copy(void **state)
{
    struct av_packet *pkt = origin(0), *copy;

    (void)state;
    pkt->dts = AV_MS(77);
    pkt->start = true;
    copy = av_packet_copy(pkt);
    (void)av_packet_unref(pkt);
    assert_int_equal(copy->dts, AV_MS(77));
    assert_true(copy->key && copy->start);
    assert_int_equal(copy->codec, AV_H264);
    assert_int_equal(copy->cts, AV_MS(40));
    assert_int_equal(copy->size, origins[0].size);
    assert_memory_equal(copy->data, origins[0].bytes, origins[0].size);
    check(copy);
    (void)av_packet_unref(copy);
}

/* ---- fragmented MP4: a format with state */

/* The types of the boxes, a letter each: f(typ), v (moov), r (free), o (moof), d (mdat). */
static const char *boxes(const struct wr *w, size_t from)
{
    static const struct { const char *type; char letter; } letters[] = {
        { "ftyp", 'f' }, { "moov", 'v' }, { "free", 'r' }, { "moof", 'o' }, { "mdat", 'd' },
        { "styp", 's' },
    };
    static char said[64];
    size_t n = 0;

    for (size_t at = from; at < w->len;) {
        const uint8_t *b = w->buf + at;
        size_t size = (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];

        assert_true(size >= 8 && size <= w->len - at && n + 1 < sizeof(said));
        said[n] = '?';
        for (size_t i = 0; i < COUNT(letters); i++) {
            if (memcmp(b + 4, letters[i].type, 4) == 0)
                said[n] = letters[i].letter;
        }
        n++;
        at += size;
    }
    said[n] = '\0';
    return said;
}

static const char *made(void *state, const struct av_packet *pkt)
{
    struct wr w;
    const char *said;

    wr_init(&w, 1 << 20);
    fmp4_wire.make(state, pkt, &w);
    said = boxes(&w, 0);
    wr_free(&w);
    return said;
}

static const uint8_t asc[] = { 0x12, 0x10 }, asc_other[] = { 0x11, 0x90 };

/* One packet of the stream: output of the wire. */
static const char *step(void *state, enum av_codec codec, int64_t ms, const uint8_t *config,
                        size_t size, bool key)
{
    struct av_packet *pkt = bare(codec, config ? size : 40);
    const char *said;

    pkt->dts = AV_MS(ms);
    pkt->config = config;
    pkt->key = pkt->start = key;
    if (config)
        memcpy(pkt->data, config, size);
    else
        memcpy(pkt->data, "\0\0\0\x24", 4); /* a NAL unit with its length */
    said = made(state, pkt);
    (void)av_packet_unref(pkt);
    return said;
}

static size_t joined(const struct live_format *f, void *state, const char *codecs)
{
    struct wr w;
    size_t n;

    wr_init(&w, 1 << 20);
    f->join(state, &w);
    n = w.len;
    assert_non_null(memmem(w.buf, w.len, codecs, strlen(codecs)));
    if (f == &fmp4_wire)
        assert_string_equal(boxes(&w, 0), "fvr");
    else
        assert_int_equal(w.buf[0], 0x82); /* a whole binary message */
    wr_free(&w);
    return n;
}

static void test_fmp4(void **unused)
{
    const uint32_t param[LIVE_PARAMS] = { 0 };
    void *s = fmp4_wire.open(param, NULL), *ws;

    (void)unused;
    assert_true(fmp4_wire.behind);
    assert_string_equal(step(s, AV_H264, 0, (const uint8_t *)CONFIG_H264, sizeof(CONFIG_H264) - 1, false), "");
    assert_string_equal(step(s, AV_AAC, 0, asc, sizeof(asc), false), "");
    assert_string_equal(step(s, AV_H264, 0, NULL, 0, true), "");
    assert_string_equal(step(s, AV_AAC, 10, NULL, 0, false), "");
    (void)joined(&fmp4_wire, s, "codecs=avc1.64000c,mp4a.40.2");
    assert_string_equal(step(s, AV_H264, 40, NULL, 0, false), "od"); /* the one before it */
    assert_string_equal(step(s, AV_H264, 80, NULL, 0, false), "od");
    for (int ms = 90; ms < 190; ms += 23) /* audio does not wait for video for long */
        assert_string_equal(step(s, AV_AAC, ms, NULL, 0, false), "");
    assert_string_equal(step(s, AV_AAC, 190, NULL, 0, false), "sod");
    /* another configuration: its frames wait for the key frame, and so does the initialization */
    assert_string_equal(step(s, AV_AAC, 200, asc_other, sizeof(asc_other), false), "od");
    assert_string_equal(step(s, AV_AAC, 210, NULL, 0, false), "");
    assert_string_equal(step(s, AV_H264, 240, NULL, 0, true), "fvr");
    assert_string_equal(step(s, AV_H264, 280, NULL, 0, true), "od"); /* the same: not again */
    /* no audio for three seconds: it is not described until it returns */
    assert_string_equal(step(s, AV_AAC, 290, NULL, 0, false), "");
    assert_string_equal(step(s, AV_H264, 3400, NULL, 0, false), "od");
    assert_string_equal(step(s, AV_H264, 3440, NULL, 0, true), "odfvr");
    (void)joined(&fmp4_wire, s, "codecs=avc1.64000c");
    assert_string_equal(step(s, AV_AAC, 3450, NULL, 0, false), "");
    assert_string_equal(step(s, AV_H264, 3480, NULL, 0, true), "odfvr");
    (void)joined(&fmp4_wire, s, "codecs=avc1.64000c,mp4a.40.2");
    fmp4_wire.close(s);
    ws = fmp4_wire_ws.open(param, NULL);
    (void)step(ws, AV_H264, 0, (const uint8_t *)CONFIG_H264, sizeof(CONFIG_H264) - 1, false);
    assert_true(joined(&fmp4_wire_ws, ws, "codecs=avc1.64000c") > 500);
    fmp4_wire_ws.close(ws);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_without_origin), TEST(test_bytes),        TEST(test_rounding),
        TEST(test_left_out),       TEST(test_payload_behind), TEST(test_origin),
        TEST(test_data_in_amf3),   TEST(test_time_wraps),   TEST(test_copy),
        TEST(test_frames),         TEST(test_fmp4),         TEST(test_opus_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
