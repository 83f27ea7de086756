/* SPDX-License-Identifier: MIT */
/* test_sdp_offer.c - parsing of WebRTC offers, and its limits. */
#include "proto/sdp/offer.h"
#include "sdp_offers.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sdp_offer offer;

static void read_it(const char *text)
{
    assert_ok(sdp_offer_parse(&offer, text, strlen(text)));
}

/* A section in one line: "kind port mid proto direction setup ufrag flags types ssrcs rids". */
static const char *shape(const struct sdp_section *s)
{
    static char out[512];
    size_t n = (size_t)snprintf(out, sizeof(out), "%c %u %s %s %d %d %s %s%s%s %u", "VADO"[s->kind],
                                s->port, s->mid, s->proto, s->direction, s->setup, s->ufrag,
                                s->bundled ? "b" : "", s->bundle_only ? "o" : "",
                                s->rtcp_mux ? "m" : "", s->n_types);

    for (unsigned i = 0; i < s->n_ssrcs; i++)
        n += (size_t)snprintf(out + n, sizeof(out) - n, " %u", s->ssrcs[i]);
    for (unsigned i = 0; i < s->n_rids; i++)
        n += (size_t)snprintf(out + n, sizeof(out) - n, " %s", s->rids[i]);
    return out;
}

static void test_clients(void **state)
{
    static const struct { const char *text, *want[4]; } rows[] = {
        { offer_chrome_play, { "A 9 0 UDP/TLS/RTP/SAVPF 2 3 3Jx+ bm 8",
                               "V 9 1 UDP/TLS/RTP/SAVPF 2 3 3Jx+ bm 26" } },
        { offer_chrome_publish, { "A 9 0 UDP/TLS/RTP/SAVPF 1 3 3Jx+ bm 8 2883318254",
                                  "V 9 1 UDP/TLS/RTP/SAVPF 1 3 3Jx+ bm 26 1355627471 3026581210" } },
        { offer_chrome_simulcast, { "V 9 0 UDP/TLS/RTP/SAVPF 1 3 3Jx+ bm 2 h m l" } },
        { offer_firefox, { "A 53127 0 UDP/TLS/RTP/SAVPF 1 3 9a1f6b3c bm 5 1410135821",
                           "V 53127 1 UDP/TLS/RTP/SAVPF 1 3 9a1f6b3c bm 6 2402158831 3702451290" } },
        { offer_safari, { "V 9 0 UDP/TLS/RTP/SAVPF 2 3 3Jx+ bm 8",
                          "A 9 1 UDP/TLS/RTP/SAVPF 2 3 3Jx+ bm 5" } },
        { offer_obs, { "A 9 0 UDP/TLS/RTP/SAVPF 1 3 q2Pz bm 1 1234567",
                       "V 9 1 UDP/TLS/RTP/SAVPF 1 3 q2Pz bm 1 1234568" } },
        { offer_ffmpeg, { "V 9 1 UDP/TLS/RTP/SAVPF 1 2 1a2b3c4d bm 1 3735928559" } },
        { offer_gstreamer,
          { "V 9 video0 UDP/TLS/RTP/SAVPF 1 3 Ug0s9vPIbuyMRV0xqzkVqYXJcGIb5hv4 bm 5",
            "A 0 audio1 UDP/TLS/RTP/SAVPF 1 3 Ug0s9vPIbuyMRV0xqzkVqYXJcGIb5hv4 bom 1" } },
        { offer_aiortc, { "A 50001 0 UDP/TLS/RTP/SAVPF 2 3 Fb9U bm 3 95842",
                          "V 50001 1 UDP/TLS/RTP/SAVPF 2 3 Fb9U bm 6 1 2" } },
        { offer_much, { "D 9 d UDP/DTLS/SCTP 0 1 data b 0", "V 0 v UDP/TLS/RTP/SAVPF 0 1  bom 1",
                        "V 9 w UDP/TLS/RTP/SAVPF 0 0  bm 1", "O 9 t UDP/TLS/RTP/SAVPF 0 0  bm 1" } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        unsigned n = 0;

        read_it(rows[i].text);
        for (; n < COUNT(rows[i].want) && rows[i].want[n]; n++) {
            assert_true(n < offer.n);
            assert_string_equal(shape(&offer.sections[n]), rows[i].want[n]);
        }
        assert_int_equal(offer.n, n);
        sdp_offer_free(&offer);
    }
}

static const struct sdp_type *type_of(const struct sdp_section *s, unsigned type)
{
    for (unsigned i = 0; i < s->n_types; i++) {
        if (s->types[i].type == type)
            return &s->types[i];
    }
    fail_msg("no type %u", type);
    return NULL;
}

static void test_types(void **state)
{
    const struct sdp_section *audio, *video;

    (void)state;
    read_it(offer_chrome_publish);
    audio = &offer.sections[0];
    video = &offer.sections[1];
    assert_string_equal(type_of(audio, 111)->name, "opus");
    assert_int_equal(type_of(audio, 111)->clock, 48000);
    assert_int_equal(type_of(audio, 111)->channels, 2);
    assert_int_equal(type_of(audio, 111)->feedback, SDP_FB_TWCC);
    assert_string_equal(type_of(audio, 111)->fmtp, "minptime=10;useinbandfec=1");
    assert_int_equal(type_of(video, 106)->feedback, 31);
    assert_int_equal(type_of(video, 106)->apt, -1);
    assert_int_equal(type_of(video, 107)->apt, 106);
    assert_int_equal(type_of(video, 107)->feedback, 0);
    assert_int_equal(video->rtx[0], 1355627471);
    assert_int_equal(video->rtx[1], 3026581210);
    assert_int_equal(video->ext[SDP_EXT_MID], 4);
    assert_int_equal(video->ext[SDP_EXT_RID], 10);
    assert_int_equal(video->ext[SDP_EXT_DEPENDENCY], 0);
    assert_int_equal(audio->ext[SDP_EXT_AUDIO_LEVEL], 1);
    assert_string_equal(video->msid, "- 7c4a2f6d-51a7-4a4c-93e7-7d3d0c6e2b55");
    assert_true(offer.mixed && !offer.lite && offer.candidates == 0);
    sdp_offer_free(&offer);
}

static void test_inherited(void **state)
{
    (void)state;
    read_it(offer_obs);
    for (unsigned i = 0; i < 2; i++) {
        assert_string_equal(offer.sections[i].pwd, "8pVqzIbnXdYrHXVfJ0VhZ1");
        assert_string_equal(offer.sections[i].fingerprint, "sha-256 " SHA256);
    }
    sdp_offer_free(&offer);
    read_it(offer_firefox);
    assert_string_equal(offer.sections[1].fingerprint, "sha-256 " SHA256);
    assert_int_equal(offer.sections[1].ext[SDP_EXT_PLAYOUT_DELAY], 6);
    sdp_offer_free(&offer);
    read_it(offer_aiortc); /* the strongest of a section, in place of the session's */
    assert_memory_equal(offer.sections[0].fingerprint, "sha-512 ", 8);
    assert_memory_equal(offer.sections[1].fingerprint, "sha-256 ", 8);
    sdp_offer_free(&offer);
    read_it("v=0\na=fingerprint:sha-512 AA\na=fingerprint:sha-256 BB\na=extmap:9 urn:3gpp:video-"
            "orientation\na=recvonly\nm=video 9 X 1\na=fingerprint:sha-256 CC\n"
            "a=fingerprint:md5 DD\nm=audio 9 X 1\na=sendonly\n");
    assert_string_equal(offer.sections[0].fingerprint, "sha-256 CC");
    assert_string_equal(offer.sections[1].fingerprint, "sha-512 AA");
    assert_int_equal(offer.sections[0].ext[SDP_EXT_ORIENTATION], 9);
    assert_int_equal(offer.sections[0].direction, SDP_RECVONLY);
    assert_int_equal(offer.sections[1].direction, SDP_SENDONLY);
    sdp_offer_free(&offer);
}

static void test_candidates(void **state)
{
    (void)state;
    read_it(offer_gstreamer);
    assert_int_equal(offer.candidates, 3);
    assert_string_equal(offer.first_udp, "10.0.0.5 43210");
    assert_string_equal(offer.first_tcp, "10.0.0.5 40001");
    sdp_offer_free(&offer);
    read_it("v=0\na=ice-lite\nm=video 9 X 1\na=candidate:0 1 udp 1   ::1   8000 typ host\n"
            "a=candidate:0 1 udp 1 1.2.3.4 9 typ host\na=candidate:0 1 udp\na=candidate:\n");
    assert_int_equal(offer.candidates, 4);
    assert_string_equal(offer.first_udp, "::1   8000");
    assert_string_equal(offer.first_tcp, "");
    assert_true(offer.lite);
    sdp_offer_free(&offer);
}

static void test_odd_lines(void **state)
{
    (void)state;
    read_it("v=0\r\n\r\n  \r\na=simulcast:recv 1 send a,b;c;;~d \na\n=\na=\nm=video 9/2 X 96 96 x 200 "
            "97\na=rtpmap:98 X/1\na=rtpmap:96\na=fmtp:97 apt=999\na=rtcp-fb:97 nack x\n"
            "a=simulcast:recv 1 send a,b;c;;~d \na=ssrc:x\na=ssrc:1\na=ssrc-group:FID 1\n"
            "a=ssrc-group:SIM 1 2 3\na=extmap:0 urn:3gpp:video-orientation\na=setup:x\na=mid: z  ");
    assert_int_equal(offer.n, 1);
    assert_string_equal(shape(&offer.sections[0]), "V 9 z X 0 0   2 1 a c d");
    assert_int_equal(type_of(&offer.sections[0], 97)->apt, -1);
    assert_int_equal(type_of(&offer.sections[0], 97)->feedback, 0);
    assert_int_equal(offer.sections[0].rtx[0], 0);
    sdp_offer_free(&offer);
}

/* ---- limits: n lines of a kind pass, one more does not */

static const struct {
    const char *name, *head, *line;
    unsigned most;
    enum err_code over;
} bounds[] = {
    { "sections", "v=0\n", "m=video 9 X 96\n", SDP_SECTIONS_MAX, ERR_TOO_MANY },
    { "payload types", "v=0\nm=video 9 X", " 1", SDP_TYPES_MAX, ERR_TOO_MANY },
    { "ssrc lines", "v=0\nm=video 9 X 96\n", "a=ssrc:1 cname:x\n", SDP_SSRCS_MAX, ERR_TOO_MANY },
    { "bytes of a line", "v=0\n", "a", SDP_LINE_MAX, ERR_TOO_LARGE },
    { "lines", "v=0\n", "a\n", SDP_LINES_MAX - 1, ERR_TOO_MANY },
    { "candidates", "v=0\nm=video 9 X 96\n", "a=candidate:1 1 udp 1 1.2.3.4 5 typ host\n",
      (SDP_OFFER_MAX - 19) / 41, ERR_TOO_LARGE },
};

static void test_bounds(void **state)
{
    static char text[2 * SDP_OFFER_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT(bounds); i++) {
        size_t n = strlen(bounds[i].head), k = strlen(bounds[i].line);

        print_message("  %s\n", bounds[i].name);
        memcpy(text, bounds[i].head, n);
        for (unsigned m = 0; m < bounds[i].most; m++, n += k)
            memcpy(text + n, bounds[i].line, k);
        assert_ok(sdp_offer_parse(&offer, text, n));
        sdp_offer_free(&offer);
        memcpy(text + n, bounds[i].line, k);
        assert_err(sdp_offer_parse(&offer, text, n + k), bounds[i].over);
    }
}

static void test_none(void **state)
{
    static const struct { const char *text; size_t size; } rows[] = {
        { "", 0 }, { "\r\n", 2 }, { "{\"sdp\":1}", 9 }, { "v=0\0", 4 }, { "v=0\n\1", 5 },
        { "v=0\n\x7f", 5 }, { "m=video 9 X 1\nv=0\n", 18 }, { "v=0\nm=video\n", 12 },
        { "v=0\nm=video x X 1\n", 18 }, { "v=0\nm=video 65536 X 1\n", 22 }, { "v=0\nm=\n", 7 },
        { "v=0\nm=video 9\n", 14 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_err(sdp_offer_parse(&offer, rows[i].text, rows[i].size), ERR_MALFORMED);
    read_it("v=0");
    assert_int_equal(offer.n, 0);
    sdp_offer_free(&offer);
}

/* Cut at every byte, in memory of that size. */
static void test_cut(void **state)
{
    static const char *const texts[] = { offer_chrome_publish, offer_firefox, offer_gstreamer,
                                         offer_much };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        for (size_t n = 0; n <= strlen(texts[i]); n++) {
            char *cut = malloc(n ? n : 1);
            err_t err;

            assert_non_null(cut);
            memcpy(cut, texts[i], n);
            err = sdp_offer_parse(&offer, cut, n);
            if (!err)
                sdp_offer_free(&offer);
            err_free(&err);
            free(cut);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_clients), TEST(test_types), TEST(test_inherited), TEST(test_candidates),
        TEST(test_odd_lines), TEST(test_bounds), TEST(test_none), TEST(test_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
