/* SPDX-License-Identifier: MIT */
/* test_rtsp_describe.c - live streams as session descriptions, and when these are complete. */
#include "wire/rtsp_describe.h"

#include "av/packet.h"
#include "live_media.h"
#include "media_configs.h"
#include "unit.h"
#include "wire/rtp.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_FULL, .gop_cache_max_frames = 100000,
    .queue_length = CO_SECONDS(30), .max_bytes = 64 << 20,
};
static const struct sdp_session_out session = { .id = 1, .version = 1, .name = "s",
                                                .duration = -1 };

static struct live_source *begin(void)
{
    return live_begin(&settings);
}

static void push_frame(struct live_source *src, enum av_codec codec, int64_t ms)
{
    struct frame f = media_frame(codec, true, AV_MS(ms), MEDIA_BYTES("some frame"));

    push(src, &f);
}

#define PUSH_CONFIG(src, codec, bytes) do {                              \
        struct frame f_ = media_config(codec, MEDIA_BYTES(bytes));       \
        push(src, &f_);                                                  \
    } while (0)

/* ---- descriptions */

#define HEAD "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=s\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\n"             \
             "a=control:*\r\na=range:npt=now-\r\n"
#define H264 "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"                              \
             "a=fmtp:96 packetization-mode=1;profile-level-id=64000C;sprop-parameter-sets="    \
             "Z2QADKzZQUGfnwFsgAAAAwCAAAAZB4oUyw==,aOvjyyLA\r\na=control:trackID=0\r\n"
#define AAC "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPEG4-GENERIC/48000/2\r\n"                    \
            "a=fmtp:97 streamtype=5;profile-level-id=1;mode=AAC-hbr;config=1190;"              \
            "sizelength=13;indexlength=3;indexdeltalength=3\r\na=control:trackID=1\r\n"

static void check(const struct live_source *src, const char *want)
{
    struct wr sdp;

    wr_init(&sdp, 65536);
    rtsp_describe_live(src, &session, &sdp);
    wr_u8(&sdp, 0);
    assert_ok(wr_err(&sdp, "a description"));
    assert_string_equal((const char *)sdp.buf, want);
    wr_free(&sdp);
}

static void test_video_and_audio(void **state)
{
    struct live_source *src = begin();

    (void)state;
    check(src, HEAD);
    PUSH_CONFIG(src, AV_AAC, CONFIG_AAC); /* in any order */
    check(src, HEAD AAC);
    PUSH_CONFIG(src, AV_H264, CONFIG_H264);
    check(src, HEAD H264 AAC);
    assert_int_equal(rtsp_describe_tracks(src), RTP_WIRE_VIDEO | RTP_WIRE_AUDIO);
    live_source_end(src, &me);
    check(src, HEAD);
    live_end(src);
}

static void test_codecs(void **state)
{
    static const struct {
        enum av_codec codec;
        const char *config;
        size_t size;
        const char *want;
    } rows[] = {
        { AV_H265, CONFIG_H265, sizeof(CONFIG_H265) - 1,
          "m=video 0 RTP/AVP 98\r\na=rtpmap:98 H265/90000\r\n"
          "a=fmtp:98 sprop-vps=QAEMAQ==;sprop-pps=RAHB\r\na=control:trackID=0\r\n" },
        { AV_AV1, CONFIG_AV1, sizeof(CONFIG_AV1) - 1,
          "m=video 0 RTP/AVP 99\r\na=rtpmap:99 AV1/90000\r\n"
          "a=fmtp:99 profile=0;level-idx=0;tier=0\r\na=control:trackID=0\r\n" },
        { AV_VP9, CONFIG_VP9, sizeof(CONFIG_VP9) - 1,
          "m=video 0 RTP/AVP 100\r\na=rtpmap:100 VP9/90000\r\n"
          "a=fmtp:100 profile-id=0\r\na=control:trackID=0\r\n" },
        { AV_VP9, NULL, 0,
          "m=video 0 RTP/AVP 100\r\na=rtpmap:100 VP9/90000\r\n"
          "a=fmtp:100 profile-id=0\r\na=control:trackID=0\r\n" },
        { AV_OPUS, CONFIG_OPUS, sizeof(CONFIG_OPUS) - 1,
          "m=audio 0 RTP/AVP 101\r\na=rtpmap:101 opus/48000/2\r\n"
          "a=fmtp:101 sprop-stereo=1\r\na=control:trackID=1\r\n" },
        { AV_MP3, NULL, 0, "m=audio 0 RTP/AVP 14\r\na=control:trackID=1\r\n" },
        { AV_G711A, NULL, 0, "m=audio 0 RTP/AVP 8\r\na=control:trackID=1\r\n" },
        { AV_G711U, NULL, 0, "m=audio 0 RTP/AVP 0\r\na=control:trackID=1\r\n" },
        { AV_H264, NULL, 0, "" }, /* the decoder configuration is not known */
        { AV_AAC, NULL, 0, "" },
        { AV_SPEEX, NULL, 0, "" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct live_source *src = begin();
        struct frame f = media_config(rows[i].codec, (const uint8_t *)rows[i].config,
                                      rows[i].size);
        char want[1024];

        if (rows[i].config)
            push(src, &f);
        push_frame(src, rows[i].codec, 0);
        (void)snprintf(want, sizeof(want), HEAD "%s", rows[i].want);
        check(src, want);
        live_end(src);
    }
}

/* A publisher that changes to audio without a configuration leaves the old one behind. */
static void test_audio_changes(void **state)
{
    struct live_source *src = begin();

    (void)state;
    PUSH_CONFIG(src, AV_AAC, CONFIG_AAC);
    push_frame(src, AV_AAC, 0);
    push_frame(src, AV_G711A, 20);
    check(src, HEAD "m=audio 0 RTP/AVP 8\r\na=control:trackID=1\r\n");
    live_end(src);
}

static void push_metadata(struct live_source *src, const uint8_t *data, size_t size)
{
    struct av_packet *pkt = av_packet_new(size);

    pkt->kind = AV_DATA;
    pkt->config = true;
    memcpy(pkt->data, data, size);
    live_source_push(src, pkt, 0);
    (void)av_packet_unref(pkt);
}

#define NAMED "\x02\x00\x0aonMetaData"
#define VIDEO_RATE "\x00\x0dvideodatarate\x00"
#define AUDIO_RATE "\x00\x0d" "audiodatarate\x00"
#define END "\x00\x00\x09"

/* Bit rates are from the metadata, in any form; invalid ones are ignored. */
static void test_rates(void **state)
{
    static const struct {
        const char *data;
        size_t size;
        unsigned video, sound;
    } rows[] = {
#define ROW(text, video, sound) { text, sizeof(text) - 1, video, sound }
        ROW(NAMED "\x03" VIDEO_RATE "\x40\x9f\x40\0\0\0\0\0" AUDIO_RATE
            "\x40\x60\0\0\0\0\0\0" END, 2000, 128),
        ROW("\x02\x00\x0d@setDataFrame" NAMED "\x08\0\0\0\1" VIDEO_RATE
            "\x40\x9f\x40\0\0\0\0\0" END, 2000, 0),
        ROW(NAMED "\x03" VIDEO_RATE "\x40\x9f", 0, 0),
        ROW(NAMED "\x03" VIDEO_RATE "\x7f\xf8\0\0\0\0\0\0" AUDIO_RATE
            "\xc0\x60\0\0\0\0\0\0" END, 0, 0), /* not a number, negative */
        ROW(NAMED "\x03" VIDEO_RATE "\x7f\xe0\0\0\0\0\0\0" END, 0, 0),
        ROW(NAMED "\x05", 0, 0),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct live_source *src = begin();
        unsigned kbits[2];

        push_metadata(src, (const uint8_t *)rows[i].data, rows[i].size);
        rtsp_describe_rates(src, kbits);
        assert_int_equal(kbits[0], rows[i].video);
        assert_int_equal(kbits[1], rows[i].sound);
        if (i == 0) {
            push_frame(src, AV_G711A, 0);
            check(src, HEAD "m=audio 0 RTP/AVP 8\r\nb=AS:128\r\na=control:trackID=1\r\n");
        }
        live_end(src);
    }
}

/* ---- completeness */

static void test_state(void **state)
{
    struct live_source *src = live_source_new("v/a/s", &settings);
    co_usec rest;

    (void)state;
    assert_int_equal(rtsp_describe_state(src, &rest), RTSP_DESCRIBE_WAIT);
    assert_true(rest == CO_FOREVER);
    assert_ok(live_source_begin(src, &me, &rule));
    assert_int_equal(rtsp_describe_state(src, &rest), RTSP_DESCRIBE_WAIT);
    PUSH_CONFIG(src, AV_H264, CONFIG_H264);
    assert_int_equal(rtsp_describe_state(src, &rest), RTSP_DESCRIBE_WAIT);
    assert_true(rest == CO_FOREVER);
    push_frame(src, AV_H264, 0); /* from here on audio may be waited for */
    assert_int_equal(rtsp_describe_state(src, &rest), RTSP_DESCRIBE_WAIT);
    assert_in_range(rest, CO_MS(1), CO_SECONDS(1));
    push_frame(src, AV_H264, 900);
    assert_int_equal(rtsp_describe_state(src, &rest), RTSP_DESCRIBE_WAIT);
    push_frame(src, AV_H264, 1000);
    assert_int_equal(rtsp_describe_state(src, &rest), RTSP_DESCRIBE_DONE);
    live_end(src);
}

static void test_state_of_others(void **state)
{
    struct live_source *src = begin();
    co_usec rest;

    (void)state;
    PUSH_CONFIG(src, AV_H264, CONFIG_H264);
    push_frame(src, AV_SPEEX, 0); /* it has audio without data */
    assert_int_equal(rtsp_describe_state(src, &rest), RTSP_DESCRIBE_DONE);
    assert_int_equal(rtsp_describe_tracks(src), RTP_WIRE_VIDEO);
    live_end(src);
    src = begin();
    push_frame(src, AV_SPEEX, 0);
    assert_int_equal(rtsp_describe_state(src, &rest), RTSP_DESCRIBE_WAIT);
    push_frame(src, AV_SPEEX, 1000);
    assert_int_equal(rtsp_describe_state(src, &rest), RTSP_DESCRIBE_NONE);
    live_end(src);
}

/* ---- waiting */

enum { WAITERS = 100 };

struct waiter {
    struct live_source *src;
    co_usec most, took;
    enum rtsp_described found;
};

static err_t wait_for_it(void *arg)
{
    struct waiter *w = arg;
    co_usec since = co_clock();
    err_t err = rtsp_describe_wait(w->src, w->most, &w->found);

    w->took = co_clock() - since;
    return err;
}

static void test_wait(void **state)
{
    struct live_source *src = live_source_new("v/a/s", &settings);
    struct waiter waiters[WAITERS];
    struct co_group g;

    (void)state;
    co_group_init(&g);
    for (unsigned i = 0; i < WAITERS; i++) { /* one of them does not wait that long */
        waiters[i] = (struct waiter){ .src = src, .most = i ? CO_SECONDS(20) : CO_MS(5) };
        assert_ok(co_go(&g, "waiter", wait_for_it, &waiters[i]));
    }
    co_yield(); /* all wait: creating them may have taken long */
    assert_ok(co_sleep(CO_MS(20)));
    assert_int_equal(g.count, WAITERS - 1);
    assert_int_equal(waiters[0].found, RTSP_DESCRIBE_WAIT);
    assert_ok(live_source_begin(src, &me, &rule));
    PUSH_CONFIG(src, AV_H264, CONFIG_H264);
    assert_ok(co_sleep(CO_MS(5)));
    assert_int_equal(g.count, WAITERS - 1);
    PUSH_CONFIG(src, AV_AAC, CONFIG_AAC);
    assert_ok(co_group_wait(&g));
    for (unsigned i = 1; i < WAITERS; i++)
        assert_int_equal(waiters[i].found, RTSP_DESCRIBE_DONE);
    live_end(src);
}

/* One track: it ends when the other one has not come in time, and when it is stopped. */
static void test_wait_ends(void **state)
{
    struct live_source *src = begin();
    struct waiter w = { .src = src, .most = CO_SECONDS(20) };
    struct waiter stopped = w, late = { .src = src, .most = CO_MS(50) };
    struct co_group g;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "stopped", wait_for_it, &stopped));
    co_yield();
    assert_err(co_group_stop(&g), ERR_STOPPED);
    PUSH_CONFIG(src, AV_H264, CONFIG_H264);
    push_frame(src, AV_H264, 0);
    co_group_init(&g);
    assert_ok(co_go(&g, "waiter", wait_for_it, &w));
    assert_ok(co_go(&g, "late", wait_for_it, &late));
    assert_ok(co_group_wait(&g));
    assert_int_equal(late.found, RTSP_DESCRIBE_DONE); /* with the existing tracks */
    assert_in_range(late.took, CO_MS(45), CO_MS(700));
    assert_int_equal(w.found, RTSP_DESCRIBE_DONE);
    assert_in_range(w.took, CO_MS(700), CO_SECONDS(10));
    live_end(src);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_video_and_audio), TEST(test_codecs), TEST(test_audio_changes), TEST(test_rates),
        TEST(test_state), TEST(test_state_of_others), TEST(test_wait), TEST(test_wait_ends),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
