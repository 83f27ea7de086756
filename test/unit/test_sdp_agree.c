/* SPDX-License-Identifier: MIT */
/* test_sdp_agree.c - negotiation with WebRTC clients, and the answer. */
#include "proto/sdp/agree.h"
#include "sdp_offers.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sdp_agreed agreed;

static err_t agree_on(const char *text, const struct sdp_spec *w)
{
    static struct sdp_offer offer;
    err_t err;

    assert_ok(sdp_offer_parse(&offer, text, strlen(text)));
    err = sdp_agree(&agreed, &offer, w);
    sdp_offer_free(&offer);
    return err;
}

/* "video: codec type/rtx fb fmtp; audio: ..", "-" without it. */
static const char *shape(void)
{
    static char out[1024];
    size_t n = 0;

    for (int i = 0; i < SDP_TRACKS; i++) {
        const struct sdp_track *t = &agreed.tracks[i];

        n += (size_t)snprintf(out + n, sizeof(out) - n, i ? " | " : "");
        if (t->codec == AV_CODEC_NONE)
            n += (size_t)snprintf(out + n, sizeof(out) - n, "-");
        else
            n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%s %u/%u fb%u %s", t->on ? "" : "off ",
                                  av_codec_name(t->codec), t->type, t->rtx_type, t->feedback,
                                  t->fmtp);
    }
    return out;
}

#define SEND { .publish = true, .nack = true, .twcc = true }
#define PLAY(...) { .nack = true, .twcc = true, __VA_ARGS__ }
#define OPUS "Opus 111/0 fb8 minptime=10;useinbandfec=1"
#define H264_OF(id) "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=" id

static const struct {
    const char *name, *offer;
    struct sdp_spec spec;
    const char *want;
} rows[] = {
    { "Chromium publishes", offer_chrome_publish, SEND,
      "H264 106/107 fb15 " H264_OF("42e01f") " | " OPUS },
    { "without nack", offer_chrome_publish, { .publish = true, .twcc = true },
      "H264 106/0 fb14 " H264_OF("42e01f") " | " OPUS },
    { "with nack, without RTX", offer_chrome_publish,
      { .publish = true, .nack = true, .twcc = true, .no_rtx = true },
      "H264 106/0 fb15 " H264_OF("42e01f") " | " OPUS },
    { "without twcc: goog-remb", offer_chrome_publish, { .publish = true, .nack = true },
      "H264 106/107 fb23 " H264_OF("42e01f") " | Opus 111/0 fb0 minptime=10;useinbandfec=1" },
    { "asks for VP9", offer_chrome_publish,
      { .publish = true, .nack = true, .codec = { [AV_VIDEO] = AV_VP9 } },
      "VP9 98/99 fb23 profile-id=0 | Opus 111/0 fb0 minptime=10;useinbandfec=1" },
    { "asks for AV1 and PCMA", offer_chrome_publish,
      { .publish = true, .nack = true, .codec = { AV_AV1, AV_G711A } },
      "AV1 45/46 fb23 level-idx=5;profile=0;tier=0 | G711A 8/0 fb0 " },
    { "Chromium plays, before there is a stream", offer_chrome_play, PLAY(),
      "H264 106/107 fb15 " H264_OF("42e01f") " | " OPUS },
    { "a High stream", offer_chrome_play,
      PLAY(.codec = { AV_H264, AV_OPUS }, .profile = { 0x64, 0, 40 }),
      "H264 112/113 fb15 " H264_OF("64001f") " | " OPUS },
    { "a Main stream", offer_chrome_play, PLAY(.codec = { AV_H264 }, .profile = { 0x4d, 0, 40 }),
      "H264 127/125 fb15 " H264_OF("4d001f") " | " OPUS },
    { "a Baseline stream", offer_chrome_play, PLAY(.codec = { AV_H264 }, .profile = { 0x42, 0, 30 }),
      "H264 102/103 fb15 " H264_OF("42001f") " | " OPUS },
    { "a constrained Baseline stream", offer_chrome_play,
      PLAY(.codec = { AV_H264 }, .profile = { 0x42, 0xc0, 30 }),
      "H264 106/107 fb15 " H264_OF("42e01f") " | " OPUS },
    { "a High stream for who has Baseline alone", offer_firefox,
      { .publish = true, .nack = true, .profile = { 0x64, 0, 40 } },
      "H264 126/127 fb23 profile-level-id=42e01f;level-asymmetry-allowed=1;packetization-mode=1 | "
      "Opus 109/0 fb0 maxplaybackrate=48000;stereo=1;useinbandfec=1;sprop-stereo=1" },
    { "stereo", offer_chrome_play, PLAY(.channels = 2),
      "H264 106/107 fb15 " H264_OF("42e01f") " | " OPUS ";stereo=1;sprop-stereo=1" },
    { "no audio in the stream", offer_chrome_play, PLAY(.none = { [AV_AUDIO] = true }),
      "H264 106/107 fb15 " H264_OF("42e01f") " | off " OPUS },
    { "Safari, High", offer_safari, PLAY(.codec = { AV_H264 }, .profile = { 0x64, 0, 31 }),
      "H264 96/97 fb15 " H264_OF("640c1f") " | " OPUS },
    { "Safari, H.265", offer_safari, PLAY(.codec = { AV_H265 }),
      "HEVC 100/101 fb15 level-id=93;profile-id=1;tier-flag=0;tx-mode=SRST | " OPUS },
    { "OBS", offer_obs, SEND,
      "H264 96/0 fb19 profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1 | "
      "Opus 111/0 fb0 minptime=10;maxaveragebitrate=96000;stereo=1;sprop-stereo=1;"
      "useinbandfec=1" },
    { "ffmpeg", offer_ffmpeg, SEND, "H264 106/0 fb0 " H264_OF("42c01f") " | -" },
    { "GStreamer", offer_gstreamer, SEND,
      "H264 96/97 fb15 packetization-mode=1;profile-level-id=42c01f;level-asymmetry-allowed=1 | "
      "Opus 101/0 fb8 sprop-maxcapturerate=48000;sprop-stereo=0" },
    { "aiortc", offer_aiortc, PLAY(),
      "H264 101/102 fb3 " H264_OF("42e01f") " | Opus 96/0 fb0 minptime=10;useinbandfec=1" },
    { "aiortc, a VP8 stream of another browser", offer_aiortc, PLAY(.codec = { AV_VP8 }),
      "VP8 97/98 fb3  | Opus 96/0 fb0 minptime=10;useinbandfec=1" },
    { "simulcast", offer_chrome_simulcast, SEND, "H264 106/107 fb15 " H264_OF("42e01f") " | -" },
    { "much", offer_much, SEND, "VP8 96/0 fb1  | -" },
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        assert_ok(agree_on(rows[i].offer, &rows[i].spec));
        assert_string_equal(shape(), rows[i].want);
    }
}

/* ---- invalid offers: one part changed */

static char *replaced(const char *text, const char *from, const char *to)
{
    char *out = calloc(1, 2 * strlen(text) + 4096), *at = out;
    bool any = false;

    assert_non_null(out);
    while (*text) {
        if (from[0] && strncmp(text, from, strlen(from)) == 0) {
            at = stpcpy(at, to);
            text += strlen(from);
            any = true;
        } else {
            *at++ = *text++;
        }
    }
    assert_true(any || !from[0]);
    return out;
}

static const struct {
    const char *name, *offer, *from, *to;
    bool publish;
    enum err_code code;
} wrong[] = {
    { "nothing", offer_chrome_play, "", "", false, ERR_OK },
    { "BUNDLE of one", offer_chrome_play, "BUNDLE 0 1", "BUNDLE 0", false, ERR_RTC_SDP },
    { "no BUNDLE", offer_chrome_play, "a=group:BUNDLE 0 1", "", false, ERR_RTC_SDP },
    { "no BUNDLE of one section", offer_ffmpeg, "a=group:BUNDLE 0 1", "", true, ERR_OK },
    { "no rtcp-mux", offer_chrome_play, "a=rtcp-mux", "a=x", false, ERR_RTC_SDP },
    { "no ufrag", offer_chrome_play, "a=ice-ufrag:", "a=x:", false, ERR_RTC_SDP },
    { "a ufrag of 3", offer_chrome_play, "3Jx+", "3Jx", false, ERR_RTC_SDP },
    { "a ufrag with a colon", offer_chrome_play, "3Jx+", "3Jx:abc", false, ERR_RTC_SDP },
    { "no pwd", offer_chrome_play, "a=ice-pwd:", "a=x:", false, ERR_RTC_SDP },
    { "a pwd of 21", offer_obs, "8pVqzIbnXdYrHXVfJ0VhZ1", "8pVqzIbnXdYrHXVfJ0VhZ", true,
      ERR_RTC_SDP },
    { "no fingerprint", offer_chrome_play, "a=fingerprint", "a=x", false, ERR_RTC_SDP },
    { "sha-1", offer_chrome_play, "sha-256", "sha-1", false, ERR_RTC_SDP },
    { "a digest too short", offer_chrome_play, "5D:2C:9E:11", "5D:2C:9E", false, ERR_RTC_SDP },
    { "holdconn", offer_chrome_play, "actpass", "holdconn", false, ERR_RTC_SDP },
    { "in the clear", offer_chrome_play, "UDP/TLS/RTP/SAVPF", "RTP/AVPF", false, ERR_RTC_SDP },
    { "TCP/TLS, SAVP", offer_chrome_play, "UDP/TLS/RTP/SAVPF", "TCP/TLS/RTP/SAVP", false, ERR_OK },
    { "ports 0", offer_chrome_play, " 9 UDP", " 0 UDP", false, ERR_RTC_SDP },
    { "plays, only sends", offer_chrome_publish, "", "", false, ERR_RTC_SDP },
    { "publishes, only receives", offer_chrome_play, "", "", true, ERR_RTC_SDP },
    { "inactive", offer_chrome_play, "a=recvonly", "a=inactive", false, ERR_RTC_SDP },
    { "a mid of 33", offer_ffmpeg, "a=mid:1", "a=mid:123456789012345678901234567890123", true,
      ERR_RTC_SDP },
    { "a mid of 32", offer_ffmpeg, "a=mid:1", "a=mid:12345678901234567890123456789012", true,
      ERR_OK },
    { "no codec of ours", offer_ffmpeg, "H264", "H261", true, ERR_RTC_NEGOTIATE },
    { "another clock", offer_ffmpeg, "H264/90000", "H264/8000", true, ERR_RTC_NEGOTIATE },
    { "interleaved", offer_ffmpeg, "mode=1", "mode=2", true, ERR_RTC_NEGOTIATE },
    { "no fmtp", offer_ffmpeg, "a=fmtp", "a=x", true, ERR_OK },
    { "no sections", "v=0\r\n", "", "", true, ERR_RTC_SDP },
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct sdp_spec w = { .publish = wrong[i].publish, .nack = true, .twcc = true };
        char *text = replaced(wrong[i].offer, wrong[i].from, wrong[i].to);

        print_message("  %s\n", wrong[i].name);
        assert_err(agree_on(text, &w), wrong[i].code);
        free(text);
    }
}

/* A player whose offer lacks the stream's codec gets both lists. */
static void test_lists(void **state)
{
    struct sdp_spec w = PLAY(.codec = { AV_H265 });
    err_t err = agree_on(offer_aiortc, &w);
    char text[512], *silent;

    (void)state;
    assert_int_equal(err_code(err), ERR_RTC_NEGOTIATE);
    (void)err_text(err, text, sizeof(text));
    assert_non_null(strstr(text, "the stream has HEVC, the offer has VP8, rtx, H264"));
    err_free(&err);
    w.codec[AV_VIDEO] = AV_H264;
    w.none[AV_AUDIO] = true; /* no audio, so that part of the offer does not matter */
    silent = replaced(offer_aiortc, "SAVPF 96 0 8", "SAVPF 95");
    assert_ok(agree_on(silent, &w));
    assert_false(agreed.sections[0].taken);
    free(silent);
}

static void test_transport(void **state)
{
    static const struct { const char *from, *to; bool ours, active; } setups[] = {
        { "actpass", "actpass", false, false }, { "actpass", "actpass", true, true },
        { "actpass", "active", true, false },   { "actpass", "passive", false, true },
        { "a=setup:actpass", "", true, false },
    };
    static const struct sdp_spec send = SEND;

    (void)state;
    for (size_t i = 0; i < COUNT(setups); i++) {
        struct sdp_spec w = { .dtls_active = setups[i].ours };
        char *text = replaced(offer_chrome_play, setups[i].from, setups[i].to);

        assert_ok(agree_on(text, &w));
        assert_int_equal(agreed.active, setups[i].active);
        free(text);
    }
    assert_ok(agree_on(offer_obs, &send));
    assert_string_equal(agreed.peer_ufrag, "q2Pz");
    assert_string_equal(agreed.peer_pwd, "8pVqzIbnXdYrHXVfJ0VhZ1");
    assert_int_equal(agreed.fingerprint.kind, DTLS_SHA256);
    assert_int_equal(agreed.fingerprint.v[1], 0x2c);
    assert_ok(agree_on(offer_aiortc, &(struct sdp_spec){ .nack = true }));
    assert_int_equal(agreed.fingerprint.kind, DTLS_SHA512);
    /* That of a rejected section, if the group is named after it. */
    assert_ok(agree_on(offer_much, &send));
    assert_string_equal(agreed.peer_ufrag, "data");
}

static void test_sources(void **state)
{
    static const struct sdp_spec send = SEND;

    (void)state;
    assert_ok(agree_on(offer_chrome_publish, &send));
    assert_int_equal(agreed.tracks[AV_VIDEO].ssrc, 1355627471);
    assert_int_equal(agreed.tracks[AV_VIDEO].rtx_ssrc, 3026581210);
    assert_int_equal(agreed.tracks[AV_AUDIO].ssrc, 2883318254);
    assert_string_equal(agreed.tracks[AV_AUDIO].mid, "0");
    assert_ok(agree_on(offer_gstreamer, &send));
    assert_int_equal(agreed.tracks[AV_VIDEO].ssrc, 0);
    assert_ok(agree_on(offer_chrome_simulcast, &send));
    assert_int_equal(agreed.tracks[AV_VIDEO].ssrc, 0);
    assert_string_equal(agreed.tracks[AV_VIDEO].rids[0], "h");
    assert_int_equal(agreed.tracks[AV_VIDEO].n_rids, 3);
}

static void test_extensions(void **state)
{
    static const struct {
        const char *name, *offer;
        struct sdp_spec spec;
        uint8_t ext[SDP_EXTS];
    } exts[] = {
        { "Chromium publishes", offer_chrome_publish, SEND, { 4, 10, 11, 2, 3, 0, 0, 13, 0 } },
        { "Chromium plays", offer_chrome_play, PLAY(), { 4, 0, 0, 2, 3, 0, 0, 13, 0 } },
        { "playout-delay, no twcc", offer_chrome_play, { .playout_delay = true },
          { 4, 0, 0, 2, 0, 5, 0, 13, 0 } },
        { "Firefox", offer_firefox, SEND, { 3, 0, 0, 4, 7, 0, 0, 0, 0 } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(exts); i++) {
        print_message("  %s\n", exts[i].name);
        assert_ok(agree_on(exts[i].offer, &exts[i].spec));
        assert_memory_equal(agreed.tracks[AV_VIDEO].ext, exts[i].ext, SDP_EXTS);
    }
}

/* ---- the answer */

#define FINGER "AB:CD"

static const struct sdp_candidate candidates[] = { { "1.2.3.4", 8000, false },
                                                   { "2001:db8::1", 8000, false },
                                                   { "1.2.3.4", 8443, true } };
static struct sdp_answer ours = {
    .signature = "SRS/1.0", .version = "1.0", .id = 77, .app = "live", .stream = "a b", .ufrag = "OURUFRAG",
    .pwd = "ourpasswordourpasswordourpasswor", .fingerprint = FINGER, .cname = "cnamecnm",
    .candidates = candidates, .n_candidates = 3,
};

static const char *written(bool offer)
{
    static char text[8001];
    struct wr w;

    wr_init(&w, 8000);
    (offer ? sdp_offer_write : sdp_answer_write)(&w, &agreed, &ours);
    assert_ok(wr_err(&w, "answer"));
    memcpy(text, w.buf, w.len);
    text[w.len] = '\0';
    wr_free(&w);
    return text;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;

    for (; (text = strstr(text, what)); n++)
        text++;
    return n;
}

static void test_play_answer(void **state)
{
    static const char want[] =
        "v=0\r\no=SRS/1.0 77 2 IN IP4 0.0.0.0\r\ns=SRSPlaySession\r\nt=0 0\r\na=ice-lite\r\n"
        "a=group:BUNDLE 0 1\r\na=extmap-allow-mixed\r\na=msid-semantic: WMS live/a_b\r\n"
        "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 0.0.0.0\r\na=ice-ufrag:OURUFRAG\r\n"
        "a=ice-pwd:ourpasswordourpasswordourpasswor\r\na=fingerprint:sha-256 AB:CD\r\n"
        "a=setup:passive\r\na=mid:0\r\na=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid\r\n"
        "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n"
        "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level\r\na=sendonly\r\na=rtcp-mux\r\n"
        "a=rtcp-rsize\r\na=rtpmap:111 opus/48000/2\r\na=fmtp:111 minptime=10;useinbandfec=1\r\n"
        "a=msid:cnamecnm cnamecnm-audio\r\na=ssrc:11 cname:cnamecnm\r\n"
        "a=ssrc:11 msid:cnamecnm cnamecnm-audio\r\n"
        "a=candidate:0 1 udp 2130706431 1.2.3.4 8000 typ host generation 0\r\n"
        "a=candidate:1 1 udp 2130706175 2001:db8::1 8000 typ host generation 0\r\n"
        "a=candidate:2 1 tcp 1694498303 1.2.3.4 8443 typ host tcptype passive\r\n"
        "m=video 9 UDP/TLS/RTP/SAVPF 106 107\r\nc=IN IP4 0.0.0.0\r\na=ice-ufrag:OURUFRAG\r\n"
        "a=ice-pwd:ourpasswordourpasswordourpasswor\r\na=fingerprint:sha-256 AB:CD\r\n"
        "a=setup:passive\r\na=mid:1\r\na=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid\r\n"
        "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n"
        "a=extmap:13 urn:3gpp:video-orientation\r\na=sendonly\r\na=rtcp-mux\r\na=rtcp-rsize\r\n"
        "a=rtpmap:106 H264/90000\r\na=rtcp-fb:106 ccm fir\r\na=rtcp-fb:106 nack\r\n"
        "a=rtcp-fb:106 nack pli\r\n"
        "a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f\r\n"
        "a=rtpmap:107 rtx/90000\r\na=fmtp:107 apt=106\r\na=msid:cnamecnm cnamecnm-video\r\n"
        "a=ssrc-group:FID 21 22\r\na=ssrc:21 cname:cnamecnm\r\n"
        "a=ssrc:21 msid:cnamecnm cnamecnm-video\r\na=ssrc:22 cname:cnamecnm\r\n"
        "a=ssrc:22 msid:cnamecnm cnamecnm-video\r\n";

    (void)state;
    assert_ok(agree_on(offer_chrome_play, &(struct sdp_spec){ .nack = true }));
    agreed.tracks[AV_AUDIO].ssrc = 11;
    agreed.tracks[AV_VIDEO].ssrc = 21;
    agreed.tracks[AV_VIDEO].rtx_ssrc = 22;
    assert_string_equal(written(false), want);
}

/* Sections keep their places and mids; BUNDLE has the accepted ones. */
static void test_rejected(void **state)
{
    static const struct sdp_spec send = SEND;
    const char *text;

    (void)state;
    assert_ok(agree_on(offer_much, &send));
    text = written(false);
    assert_non_null(strstr(text, "a=group:BUNDLE v\r\n"));
    assert_non_null(strstr(text, "m=application 0 UDP/DTLS/SCTP webrtc-datachannel\r\n"
                                 "c=IN IP4 0.0.0.0\r\na=mid:d\r\na=inactive\r\nm=video 9 "));
    assert_non_null(strstr(text, "m=video 0 UDP/TLS/RTP/SAVPF 97\r\nc=IN IP4 0.0.0.0\r\na=mid:w\r\n"
                                 "a=inactive\r\nm=text 0 UDP/TLS/RTP/SAVPF 98\r\n"
                                 "c=IN IP4 0.0.0.0\r\na=mid:t\r\na=inactive\r\n"));
    assert_int_equal(count(text, "a=candidate:"), 3);
    assert_int_equal(count(text, "a=recvonly"), 1);
}

/* Exactly two if both were offered on one H.264 type, none if none was offered. */
static void test_nacks(void **state)
{
    static const struct { const char *offer; bool nack; unsigned n; } of[] = {
        { offer_chrome_publish, true, 2 }, { offer_obs, true, 2 }, { offer_gstreamer, true, 2 },
        { offer_firefox, true, 2 }, { offer_ffmpeg, true, 0 }, { offer_obs, false, 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(of); i++) {
        struct sdp_spec w = { .publish = true, .twcc = true, .nack = of[i].nack };

        assert_ok(agree_on(of[i].offer, &w));
        assert_int_equal(count(written(false), " nack"), of[i].n);
    }
}

/* A player that reports its clock; a publisher need not. */
static void test_clocks(void **state)
{
    static const char more[] = "a=rtcp-fb:106 rrtr\r\n";
    static const struct { const char *offer; struct sdp_spec spec; unsigned n; } of[] = {
        { offer_chrome_play, PLAY(), 1 }, { offer_chrome_publish, SEND, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(of); i++) {
        static char offer[16 * 1024];

        assert_in_range(snprintf(offer, sizeof(offer), "%s%s", of[i].offer, more), 1,
                        sizeof(offer) - 1);
        assert_ok(agree_on(offer, &of[i].spec));
        assert_int_equal(count(written(false), " rrtr\r\n"), of[i].n);
    }
}

static void test_publish_answer(void **state)
{
    static const struct sdp_spec send = SEND;
    const char *text;

    (void)state;
    assert_ok(agree_on(offer_ffmpeg, &send));
    text = written(false);
    assert_non_null(strstr(text, "s=SRSPublishSession\r\n"));
    assert_non_null(strstr(text, "a=group:BUNDLE 1\r\n"));
    assert_non_null(strstr(text, "a=setup:active\r\n"));
    assert_non_null(strstr(text, "a=recvonly\r\n"));
    assert_int_equal(count(text, "a=ssrc"), 0);
    assert_int_equal(count(text, "rtcp-fb"), 0);
    assert_ok(agree_on(offer_chrome_simulcast, &send));
    assert_non_null(strstr(written(false), "a=rid:h recv\r\na=rid:m recv\r\na=rid:l recv\r\n"
                                           "a=simulcast:recv h;m;l\r\n"));
    assert_ok(agree_on(offer_chrome_play, &(struct sdp_spec){ .none = { true, false } }));
    text = written(false);
    assert_int_equal(count(text, "a=inactive"), 1);
    assert_int_equal(count(text, "a=sendonly"), 1);
}

/* We accept our own offer, and parse our answer in the other direction. */
static void test_both_ways(void **state)
{
    struct sdp_agreed mine;
    static const char finger[] = SHA256;

    (void)state;
    ours.fingerprint = finger;
    for (int publish = 0; publish < 2; publish++) {
        struct sdp_spec w = { .publish = publish, .nack = true, .twcc = true };
        char *offer, *answer;

        assert_ok(agree_on(publish ? offer_chrome_publish : offer_chrome_play, &w));
        agreed.tracks[AV_VIDEO].ssrc = 5;
        agreed.tracks[AV_VIDEO].rtx_ssrc = 6;
        mine = agreed;
        offer = strdup(written(true));
        assert_ok(agree_on(offer, &w));
        assert_int_equal(agreed.active, false);
        assert_int_equal(agreed.tracks[AV_VIDEO].type, mine.tracks[AV_VIDEO].type);
        assert_int_equal(agreed.tracks[AV_VIDEO].ssrc, publish ? 5 : 0);
        assert_memory_equal(agreed.tracks[AV_VIDEO].ext, mine.tracks[AV_VIDEO].ext, SDP_EXTS);
        agreed.tracks[AV_VIDEO].ssrc = 7;
        agreed.tracks[AV_VIDEO].rtx_ssrc = 8;
        answer = strdup(written(false));
        w.publish = !publish; /* the server's role */
        assert_ok(agree_on(answer, &w));
        assert_true(agreed.active);
        assert_string_equal(agreed.peer_ufrag, "OURUFRAG");
        assert_int_equal(agreed.tracks[AV_VIDEO].ssrc, publish ? 0 : 7);
        assert_int_equal(agreed.tracks[AV_VIDEO].rtx_ssrc, publish ? 0 : 8);
        assert_string_equal(agreed.tracks[AV_VIDEO].fmtp, mine.tracks[AV_VIDEO].fmtp);
        free(offer);
        free(answer);
    }
    ours.fingerprint = FINGER;
}

/* Cut at every line, it succeeds or fails; the answer is within its limit. */
static void test_cut(void **state)
{
    static const struct sdp_spec send = SEND;

    (void)state;
    for (const char *at = offer_chrome_publish; at; at = strstr(at + 1, "\r\n")) {
        char *text = strndup(offer_chrome_publish, (size_t)(at - offer_chrome_publish));
        static struct sdp_offer offer;
        err_t err = sdp_offer_parse(&offer, text, strlen(text));

        if (!err)
            err = sdp_agree(&agreed, &offer, &send);
        if (!err)
            (void)written(false);
        err_free(&err);
        sdp_offer_free(&offer);
        free(text);
    }
}

/* ---- fragments */

static void test_fragments(void **state)
{
    static const struct { const char *text, *ufrag, *pwd; int candidates; } of[] = {
        { "a=ice-ufrag:9uB6\r\na=ice-pwd:YH75Fviy6338Vbrhrlp8Yh\r\nm=audio 9 RTP/AVP 0\r\na=mid:1\r\n"
          "a=candidate:1 1 UDP 1 1.2.3.4 5 typ host\r\na=candidate:2 1 UDP 1 1.2.3.4 6 typ host\r\n"
          "a=end-of-candidates\r\n", "9uB6", "YH75Fviy6338Vbrhrlp8Yh", 2 },
        { "a=end-of-candidates", "", "", 0 },
        { "a=ice-ufrag:one\na=ice-ufrag:two", "one", "", 0 },
        { "", NULL, NULL, 0 }, { "\r\n", NULL, NULL, 0 }, { "{}", NULL, NULL, 0 },
        { "a=ice-ufrag:", NULL, NULL, 0 }, { "a=ice-ufrag:a:b", NULL, NULL, 0 },
    };
    char large[600] = "a=ice-ufrag:";
    struct sdp_fragment f;

    (void)state;
    for (size_t i = 0; i < COUNT(of); i++) {
        assert_int_equal(sdp_fragment_parse(&f, of[i].text, strlen(of[i].text)), !!of[i].ufrag);
        if (!of[i].ufrag)
            continue;
        assert_string_equal(f.ufrag, of[i].ufrag);
        assert_string_equal(f.pwd, of[i].pwd);
        assert_int_equal(f.candidates, of[i].candidates);
    }
    for (size_t n = 0; n <= strlen(of[0].text); n++) {
        char *cut = malloc(n ? n : 1);

        assert_non_null(cut);
        memcpy(cut, of[0].text, n);
        (void)sdp_fragment_parse(&f, cut, n);
        free(cut);
    }
    memset(large + 12, 'a', ICE_UFRAG_MAX);
    assert_true(sdp_fragment_parse(&f, large, 12 + ICE_UFRAG_MAX));
    large[12 + ICE_UFRAG_MAX] = 'a';
    assert_false(sdp_fragment_parse(&f, large, 13 + ICE_UFRAG_MAX));
    assert_false(sdp_fragment_parse(&f, "a=b\0", 4));
}

/* The section of the first accepted one. */
static void test_fragment_written(void **state)
{
    static const struct sdp_candidate places[] = { { "1.2.3.4", 8000, false },
                                                       { "1.2.3.4", 8001, true } };
    const struct sdp_answer us = { .ufrag = "ours", .pwd = "secret", .n_candidates = 2,
                                     .candidates = places };
    struct sdp_agreed a = {
        .n = 2, .sections = { { .kind = SDP_AUDIO, .media = "audio", .mid = "a" },
                            { .kind = SDP_VIDEO, .media = "video", .mid = "v", .taken = true,
                              .proto = "UDP/TLS/RTP/SAVPF", .track = AV_VIDEO } } };
    struct sdp_fragment f;
    struct wr w;

    (void)state;
    a.tracks[AV_VIDEO].type = 96;
    wr_init(&w, 1000);
    sdp_fragment_write(&w, &a, &us);
    wr_u8(&w, 0);
    assert_string_equal((const char *)w.buf,
        "a=ice-lite\r\na=ice-ufrag:ours\r\na=ice-pwd:secret\r\n"
        "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:v\r\n"
        "a=candidate:0 1 udp 2130706431 1.2.3.4 8000 typ host generation 0\r\n"
        "a=candidate:1 1 tcp 1694498559 1.2.3.4 8001 typ host tcptype passive\r\n"
        "a=end-of-candidates\r\n");
    assert_true(sdp_fragment_parse(&f, (const char *)w.buf, w.len - 1));
    assert_string_equal(f.ufrag, "ours");
    assert_int_equal(f.candidates, 2);
    wr_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rows), TEST(test_wrong), TEST(test_lists), TEST(test_transport),
        TEST(test_sources), TEST(test_extensions), TEST(test_play_answer), TEST(test_rejected),
        TEST(test_nacks), TEST(test_clocks),
        TEST(test_publish_answer), TEST(test_both_ways), TEST(test_cut),
        TEST(test_fragments), TEST(test_fragment_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
