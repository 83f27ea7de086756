/* SPDX-License-Identifier: MIT */
/* test_load_rtc.c - parts of the WebRTC load tool: answers, key frames, missing packets of a player. */
#include "base/must.h"
#include "proto/rtp/header.h"
#include "tools/load/floor.h"
#include "tools/load/rtc_peer.h"
#include "tools/load/rtp.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PRINT "sha-256 00:01:02:03:04:05:06:07:08:09:0A:0B:0C:0D:0E:0F:10:11:12:13:14:15:16:17:18" \
    ":19:1A:1B:1C:1D:1E:1F"
#define HEAD "v=0\r\no=x 1 2 IN IP4 0.0.0.0\r\ns=x\r\nt=0 0\r\na=ice-lite\r\na=group:BUNDLE 0 1\r\n"
#define TRANSPORT "c=IN IP4 0.0.0.0\r\na=ice-ufrag:abcd\r\na=ice-pwd:0123456789012345678901\r\n" \
    "a=fingerprint:" PRINT "\r\na=rtcp-mux\r\na=sendonly\r\n"
#define SOUND "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n" TRANSPORT "a=mid:0\r\na=rtpmap:111 opus/48000/2\r\n"
#define PICTURE "m=video 9 UDP/TLS/RTP/SAVPF 106\r\n" TRANSPORT "a=mid:1\r\na=rtpmap:106 H264/90000\r\n"
#define CANDIDATE "a=candidate:0 1 udp 2130706431 127.0.0.1 8000 typ host generation 0\r\n"

static struct load_run run; /* large because of its histograms */
static struct load_client client;

static struct load_rtc *player(void)
{
    struct load_rtc *p = must(calloc(1, sizeof(*p)));

    memset(&run, 0, sizeof(run));
    client = (struct load_client){ .run = &run };
    p->c = &client;
    load_rtc_look_init(&p->look);
    (void)snprintf(p->ufrag, sizeof(p->ufrag), "ours");
    return p;
}

static void free_player(struct load_rtc *p)
{
    load_rtc_look_fini(&p->look);
    free(p);
}

static const struct sdp_agreed *offer(void)
{
    static struct sdp_agreed a;

    a.tracks[AV_AUDIO] = (struct sdp_track){ .on = true, .mid = "0", .clock = 48000,
                                             .codec = AV_OPUS };
    a.tracks[AV_VIDEO] = (struct sdp_track){ .on = true, .mid = "1", .clock = 90000,
                                             .codec = AV_H264 };
    return &a;
}

static void answers_are_read(void **state)
{
    static const struct {
        const char *text;
        enum err_code code;
        bool active, sound, picture;
    } rows[] = {
        { HEAD SOUND "a=setup:passive\r\n" CANDIDATE PICTURE "a=setup:passive\r\n", ERR_OK, true,
          true, true },
        { HEAD SOUND "a=setup:active\r\n" CANDIDATE, ERR_OK, false, true, false },
        { HEAD SOUND "a=setup:passive\r\n", ERR_RTC_SDP, false, false, false },
        { HEAD, ERR_RTC_SDP, false, false, false },
        { HEAD "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n" CANDIDATE, ERR_RTC_SDP, false, false,
          false },
        { "", ERR_MALFORMED, false, false, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct load_rtc *p = player();

        assert_err(load_rtc_answer(p, offer(), rows[i].text, strlen(rows[i].text)), rows[i].code);
        if (rows[i].code == ERR_OK) {
            assert_int_equal(p->active, rows[i].active);
            assert_int_equal(p->look.tracks[AV_AUDIO].on, rows[i].sound);
            assert_int_equal(p->look.tracks[AV_VIDEO].on, rows[i].picture);
            assert_int_equal(p->path.peer.port, 8000);
            assert_string_equal(p->username, "abcd:ours");
            assert_string_equal(p->peer_pwd, "0123456789012345678901");
            assert_int_equal(p->fingerprint.v[31], 0x1f);
        }
        free_player(p);
    }
}

static void key_frames_are_seen(void **state)
{
    static const struct {
        enum av_codec codec;
        uint8_t bytes[6];
        size_t size;
        bool key;
    } rows[] = {
        { AV_H264, { 0x65 }, 1, true },
        { AV_H264, { 0x67 }, 1, true },
        { AV_H264, { 0x41 }, 1, false },
        { AV_H264, { 0x78, 0, 2, 0x67 }, 4, true },
        { AV_H264, { 0x78, 0, 2 }, 3, false },
        { AV_H264, { 0x7c, 0x85 }, 2, true },
        { AV_H264, { 0x7c, 0x05 }, 2, false },
        { AV_H264, { 0x7c }, 1, false },
        { AV_H265, { 0x26, 1 }, 2, true },
        { AV_H265, { 0x02, 1 }, 2, false },
        { AV_H265, { 0x60, 1, 0, 2, 0x40 }, 5, true },
        { AV_H265, { 0x62, 1, 0x93 }, 3, true },
        { AV_H265, { 0x62, 1, 0x13 }, 3, false },
        { AV_AV1, { 0x18 }, 1, true },
        { AV_AV1, { 0x10 }, 1, false },
        { AV_VP9, { 0x88 }, 1, true },
        { AV_VP9, { 0xc8 }, 1, false },
        { AV_H264, { 0 }, 0, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(load_rtp_is_key(rows[i].codec, rows[i].bytes, rows[i].size),
                         rows[i].key);
}

/* Packet `seq` of a frame of time 1000 each. */
static void comes(struct load_rtc *p, uint16_t seq, bool key, co_usec now)
{
    uint8_t data[RTP_HEADER + 4] = { 0 };

    rtp_build(data, true, 106, seq, seq * 1000u, 77);
    data[RTP_HEADER] = key ? 0x65 : 0x41;
    load_rtc_look_rtp(p, data, sizeof(data), now);
}

static void what_is_missing_is_counted(void **state)
{
    struct load_rtc *p = player();
    co_usec now = CO_SECONDS(1);
    const struct load_rtc_stat *s = &run.stat.rtc;
    uint16_t seqs[8];

    (void)state;
    p->look.tracks[AV_VIDEO] = (struct load_rtc_track){ .on = true, .video = true, .type = 106,
                                                        .codec = AV_H264, .clock = 90000 };
    rtp_stats_init(&p->look.tracks[AV_VIDEO].stats, 90000);
    comes(p, 65534, false, now);
    assert_false(client.have_key);
    comes(p, 1, true, now); /* 65535 and 0 are missing */
    assert_true(client.have_key);
    assert_int_equal(s->packets, 2);
    assert_int_equal(load_rtc_look_due(p), 0); /* the first report */
    p->look.report_due = now + CO_SECONDS(5);
    assert_in_range(load_rtc_look_due(p), now, now + CO_MS(20));
    now += CO_MS(20);
    assert_int_equal(rtp_nack_request(&p->look.tracks[AV_VIDEO].nack, now, 0, seqs, 8), 2);
    comes(p, 0, false, now);
    assert_int_equal(s->repaired, 1);
    for (int i = 0; i < 100; i++) {
        now += CO_MS(50);
        (void)rtp_nack_request(&p->look.tracks[AV_VIDEO].nack, now, 0, seqs, 8);
    }
    comes(p, 2, false, now);
    assert_int_equal(s->lost, 1);
    comes(p, 2000, false, now); /* too much to request */
    assert_int_equal(s->lost, 1 + 1997);
    assert_true(p->look.want_key);
    load_rtc_look_rtp(p, (const uint8_t *)"\x80\x60", 2, now);
    assert_int_equal(s->odd, 1);
    free_player(p);
}

/* ---- packets of the bare loop */

static void free_cut(struct load_cut *c)
{
    free(c->frames);
    free(c->sizes);
}

static void frames_are_cut_as_a_server_does(void **state)
{
    const char *path = access("doc/source.flv", R_OK) == 0 ? "doc/source.flv"
                                                           : "../../doc/source.flv";
    struct load_cut c;
    size_t packets = 0, bytes = 0;
    uint32_t last = 0;
    err_t err;

    (void)state;
    load_cut_plain(&c, 900, false);
    assert_int_equal(c.n_frames, 3);
    assert_int_equal(c.frames[0].n, 4); /* 4,500 bytes */
    assert_int_equal(c.sizes[0], 1125);
    assert_int_equal(c.frames[2].ms, 20);
    assert_int_equal(c.period, 40);
    free_cut(&c);
    assert_ok(load_cut_file(&c, path));
    for (size_t i = 0; i < c.n_frames; i++) {
        assert_int_equal(c.frames[i].first, packets);
        assert_true(c.frames[i].n > 0 && c.frames[i].ms >= last);
        packets += c.frames[i].n;
        last = c.frames[i].ms;
    }
    assert_int_equal(packets, c.n);
    assert_true(last < c.period);
    for (size_t i = 0; i < c.n; i++) {
        assert_in_range(c.sizes[i], 1, 1200);
        bytes += c.sizes[i];
    }
    assert_true(bytes > 10000);
    free_cut(&c);
    err = load_cut_file(&c, "/nowhere");
    assert_non_null(err);
    err_free(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answers_are_read),
        TEST(key_frames_are_seen),
        TEST(what_is_missing_is_counted),
        TEST(frames_are_cut_as_a_server_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
