/* SPDX-License-Identifier: MIT */
/* test_intake_ts.c - a transport stream becomes packets of a live stream, with metadata, and
 * information for those that relay it. */
#include "base/log.h"
#include "format/flv/flv.h"
#include "format/ts/mux.h"
#include "intake/ts.h"
#include "live/reader.h"
#include "live_media.h"
#include "media_configs.h"

#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 1 << 20, SEEN = 256, FRAMES = 12, GROUP = 4, STEP = 3600, ENDS = 1 << 16 };

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_OFF, .queue_length = CO_SECONDS(3000),
    .max_bytes = 64 << 20,
};
static const struct ts_intake_opts opts = { .sei_filter = true, .signature = "us" };

struct seen {
    uint8_t kind, codec;
    bool config, key;
    int64_t dts, cts;
    size_t size;
};

static struct {
    struct live_source *src;
    struct live_reader reader;
    struct ts_intake *t;
    unsigned n;
    struct seen v[SEEN];
    char metadata[512];
    size_t metadata_size;
} it;

static const char picture[] = "\0\0\0\4\x65\x88\1\2";

/* Reordered frames, with audio in between. */
static void make(struct wr *out)
{
    struct frame configs[] = { media_config(AV_H264, MEDIA_BYTES(CONFIG_H264)),
                               media_config(AV_AAC, MEDIA_BYTES(CONFIG_AAC)) };
    struct ts_mux m;

    ts_mux_init(&m);
    wr_init(out, LIMIT);
    assert_ok(ts_mux_frame(&m, &configs[0], out));
    assert_ok(ts_mux_frame(&m, &configs[1], out));
    for (int i = 0; i < FRAMES; i++) {
        struct frame v = media_frame(AV_H264, i % GROUP == 0, i * STEP, MEDIA_BYTES(picture));
        struct frame a = media_frame(AV_AAC, false, i * 1920, MEDIA_BYTES("\x21\x10\5"));

        v.pts += (i % 2 + 1) * STEP;
        assert_ok(ts_mux_frame(&m, &v, out));
        assert_ok(ts_mux_frame(&m, &a, out));
    }
    ts_mux_flush(&m, out);
    ts_mux_fini(&m);
}

static void begin(void)
{
    struct av_packet *first = av_packet_new(1);

    memset(&it, 0, sizeof(it));
    it.src = live_begin(&settings);
    first->key = true; /* readers begin at one */
    first->kind = AV_VIDEO;
    live_source_push(it.src, first, 0);
    (void)av_packet_unref(first);
    live_reader_open(&it.reader, it.src);
    assert_non_null(live_reader_next(&it.reader));
    it.t = ts_intake_new(&opts);
}

static void look(void)
{
    const struct av_packet *pkt;

    while ((pkt = live_reader_next(&it.reader))) {
        assert_true(it.n < SEEN);
        it.v[it.n++] = (struct seen){ pkt->kind, pkt->codec, pkt->config, pkt->key, pkt->dts,
                                      pkt->cts, av_packet_payload_size(pkt) };
        if (pkt->kind == AV_DATA) {
            assert_int_equal(pkt->origin, FLV_DATA);
            it.metadata_size = pkt->size < sizeof(it.metadata) ? pkt->size : sizeof(it.metadata);
            memcpy(it.metadata, pkt->data, it.metadata_size);
        }
    }
}

static void end(void)
{
    ts_intake_end(it.t);
    ts_intake_free(it.t);
    live_reader_close(&it.reader);
    live_end(it.src);
}

static bool metadata_has(const char *word)
{
    return memmem(it.metadata, it.metadata_size, word, strlen(word)) != NULL;
}

static unsigned count(enum av_kind kind, bool config)
{
    unsigned n = 0;

    for (unsigned i = 0; i < it.n; i++)
        n += it.v[i].kind == kind && it.v[i].config == config;
    return n;
}

static void test_packets(void **state)
{
    struct ts_intake_stat s;
    struct wr ts;
    unsigned n = 0;

    (void)state;
    make(&ts);
    for (size_t piece = 1; piece <= ts.len; piece += piece < 200 ? 13 : ts.len) {
        begin();
        assert_false(ts_intake_is_ts(it.t));
        ts_intake_begin(it.t, it.src);
        for (size_t at = 0; at < ts.len; at += piece)
            ts_intake_put(it.t, ts.buf + at, piece < ts.len - at ? piece : ts.len - at);
        assert_true(ts_intake_is_ts(it.t));
        ts_intake_end(it.t);
        look();
        assert_int_equal(count(AV_VIDEO, true), 1);
        assert_int_equal(count(AV_AUDIO, true), 1);
        assert_int_equal(count(AV_VIDEO, false), FRAMES);
        assert_int_equal(count(AV_AUDIO, false), FRAMES);
        assert_int_equal(count(AV_DATA, true), 1); /* audio waited for video: it has both */
        assert_true(metadata_has("onMetaData") && metadata_has("width") && metadata_has("stereo") &&
                    metadata_has("us"));
        assert_int_equal(it.v[0].kind, AV_DATA);
        n = 0;
        for (unsigned i = 0; i < it.n; i++) {
            const struct seen *v = &it.v[i];

            if (v->kind != AV_VIDEO || v->config)
                continue;
            assert_int_equal(v->dts, TS_DELAY + n * STEP);
            assert_int_equal(v->cts, (n % 2 + 1) * STEP);
            assert_int_equal(v->size, sizeof(picture) - 1);
            assert_int_equal(v->codec, AV_H264);
            n++;
        }
        ts_intake_stat(it.t, &s);
        assert_true(s.video_frames == FRAMES && s.audio_frames == FRAMES && s.keys == FRAMES);
        assert_true(s.video == AV_H264 && s.audio == AV_AAC && s.no_memory == 0);
        assert_true(s.ts.broken == 0 && s.ts.packets == ts.len / TS_PACKET);
        end();
    }
    wr_free(&ts);
}

/* A relay finds the packet of a key frame by the byte position; without a stream, too. */
static void test_keys(void **state)
{
    uint8_t tables[TS_TABLES_MAX];
    uint64_t at, last = 0;
    unsigned keys = 0;
    struct wr ts;

    (void)state;
    make(&ts);
    begin();
    ts_intake_begin(it.t, NULL);
    assert_false(ts_intake_key(it.t, &at));
    for (size_t i = 0; i < ts.len; i += 100) {
        ts_intake_put(it.t, ts.buf + i, ts.len - i < 100 ? ts.len - i : 100);
        if (!ts_intake_key(it.t, &at) || (keys > 0 && at == last))
            continue;
        keys++;
        last = at;
        assert_int_equal(at % TS_PACKET, 0);
        assert_true(at < i + 100 && ts.buf[at] == 0x47);
        assert_int_equal(ts.buf[at + 1], 0x41); /* a start, of the PID of video */
        assert_int_equal(ts.buf[at + 2], TS_PID_VIDEO & 0xff);
    }
    assert_in_range(keys, FRAMES - 1, FRAMES);
    assert_int_equal(ts_intake_tables(it.t, tables), 2 * TS_PACKET);
    assert_memory_equal(tables + 4, ts.buf + 4, TS_PACKET - 4); /* except for the counter */
    look();
    assert_int_equal(it.n, 0);
    end();
    wr_free(&ts);
}

/* Video that the tables announce and that never comes is not waited for without end. */
static void test_no_video_comes(void **state)
{
    struct frame configs[] = { media_config(AV_H264, MEDIA_BYTES(CONFIG_H264)),
                               media_config(AV_AAC, MEDIA_BYTES(CONFIG_AAC)) };
    enum { MANY = 120, TWO_SECONDS = 94 };
    struct ts_mux m;
    struct wr ts;
    unsigned first = 0;

    (void)state;
    begin();
    ts_intake_begin(it.t, it.src);
    ts_mux_init(&m);
    wr_init(&ts, LIMIT);
    assert_ok(ts_mux_frame(&m, &configs[0], &ts));
    assert_ok(ts_mux_frame(&m, &configs[1], &ts));
    for (unsigned i = 0; i < MANY; i++) {
        struct frame a = media_frame(AV_AAC, false, (int64_t)i * 1920, MEDIA_BYTES("\x21\x10\5"));

        assert_ok(ts_mux_frame(&m, &a, &ts));
        ts_mux_flush(&m, &ts);
        ts_intake_put(it.t, ts.buf, ts.len);
        ts.len = 0;
        look();
        first = it.n ? first : i;
    }
    assert_in_range(first, TWO_SECONDS - 2, TWO_SECONDS + 2);
    ts_intake_end(it.t);
    look();
    assert_int_equal(count(AV_AUDIO, false), MANY);
    end();
    ts_mux_fini(&m);
    wr_free(&ts);
}

/* Missing packets: fewer frames, none of them broken. */
static void test_holes(void **state)
{
    struct ts_intake_stat s;
    struct wr ts;

    (void)state;
    make(&ts);
    for (size_t at = 3; at < ts.len / TS_PACKET; at++) {
        begin();
        ts_intake_begin(it.t, it.src);
        ts_intake_put(it.t, ts.buf, at * TS_PACKET);
        ts_intake_hole(it.t);
        ts_intake_put(it.t, ts.buf + (at + 1) * TS_PACKET, ts.len - (at + 1) * TS_PACKET);
        ts_intake_end(it.t);
        look();
        for (unsigned i = 0; i < it.n; i++)
            assert_true(it.v[i].kind != AV_VIDEO || it.v[i].config ||
                        it.v[i].size == sizeof(picture) - 1);
        assert_in_range(count(AV_VIDEO, false) + count(AV_AUDIO, false), 2 * FRAMES - 5,
                        2 * FRAMES);
        ts_intake_stat(it.t, &s);
        assert_int_equal(s.ts.holes, 1);
        end();
    }
    wr_free(&ts);
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_packets), TEST(test_keys), TEST(test_no_video_comes),
        TEST(test_holes) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
