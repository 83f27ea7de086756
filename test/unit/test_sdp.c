/* SPDX-License-Identifier: MIT */
/* test_sdp.c - session descriptions: from specifications, from cameras, from us. */
#include "proto/sdp/sdp.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The result in one line: "name|control|range", then for each media
 * " kind:port:proto:control:address:kbits:direction[type name/clock/channels fmtp,...]" */
static void note(const struct sdp *s, char *out, size_t room)
{
    size_t n = (size_t)snprintf(out, room, "%s|%s|%s", s->name, s->control, s->range);

    for (unsigned i = 0; i < s->n; i++) {
        const struct sdp_media *m = &s->media[i];

        n += (size_t)snprintf(out + n, room - n, " %c:%u:%s:%s:%s:%u:%d[", "VADO"[m->kind], m->port,
                              m->proto, m->control, m->address, m->kbits, m->direction);
        for (unsigned k = 0; k < m->n; k++) {
            const struct sdp_format *f = &m->formats[k];

            n += (size_t)snprintf(out + n, room - n, "%s%u %s/%u/%u %s", k ? "," : "", f->type,
                                  f->name, f->clock, f->channels, f->fmtp);
        }
        n += (size_t)snprintf(out + n, room - n, "]");
    }
}

static const struct {
    const char *name, *text, *want;
} rows[] = {
    { "RFC 8866, 5: the example",
      "v=0\r\no=jdoe 3724394400 3724394405 IN IP4 198.51.100.1\r\ns=Call to John Smith\r\n"
      "i=SDP Offer #1\r\nu=http://www.jdoe.example.com/home.html\r\n"
      "e=Jane Doe <jane@jdoe.example.com>\r\np=+1 617 555-6011\r\nc=IN IP4 198.51.100.1\r\nt=0 0\r\n"
      "m=audio 49170 RTP/AVP 0\r\nm=audio 49180 RTP/AVP 0\r\n"
      "m=video 51372 RTP/AVP 99\r\nc=IN IP6 2001:db8::2\r\na=rtpmap:99 h263-1998/90000\r\n",
      "Call to John Smith|| A:49170:RTP/AVP:::0:0[0 /0/0 ] A:49180:RTP/AVP:::0:0[0 /0/0 ] "
      "V:51372:RTP/AVP::2001:db8::2:0:0[99 h263-1998/90000/0 ]" },
    { "RFC 2326, C.3: aggregate control",
      "v=0\no=- 2890844256 2890842807 IN IP4 204.34.34.32\ns=I contain\nt=0 0\n"
      "a=control:rtsp://example.com/movie/\nm=video 8002 RTP/AVP 31\na=control:trackID=1\n"
      "m=audio 8004 RTP/AVP 3\na=control:trackID=2\n",
      "I contain|rtsp://example.com/movie/| V:8002:RTP/AVP:trackID=1::0:0[31 /0/0 ] "
      "A:8004:RTP/AVP:trackID=2::0:0[3 /0/0 ]" },
    { "FFmpeg",
      "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=No Name\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
      "a=tool:libavformat 59.27.100\r\nm=video 0 RTP/AVP 96\r\nb=AS:800\r\na=rtpmap:96 H264/90000\r\n"
      "a=fmtp:96 packetization-mode=1; sprop-parameter-sets=Z2QA,aOs=; profile-level-id=64000C\r\n"
      "a=control:streamid=0\r\nm=audio 0 RTP/AVP 97\r\nb=AS:128\r\n"
      "a=rtpmap:97 MPEG4-GENERIC/48000/2\r\na=fmtp:97 profile-level-id=1;mode=AAC-hbr;"
      "sizelength=13;indexlength=3;indexdeltalength=3; config=1190\r\na=control:streamid=1\r\n",
      "No Name|| V:0:RTP/AVP:streamid=0::800:0[96 H264/90000/0 packetization-mode=1; "
      "sprop-parameter-sets=Z2QA,aOs=; profile-level-id=64000C] A:0:RTP/AVP:streamid=1::128:0["
      "97 MPEG4-GENERIC/48000/2 profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;"
      "indexdeltalength=3; config=1190]" },
    { "a camera: no control, odd lines, spaces, directions",
      "v=-0\no=malformed\nc=IN 1.2.3.4\nx\n=\na=control: * \na=range: npt=now-\na=recvonly\n"
      "m=video  0   RTP/AVP  96 \na=rtpmap: 96  H264/90000 \na=fmtp:96   a=b \na=x-dimensions:1,2\n"
      "c=IN 1.2.3.4\nb=AS: 5000\nm=application 0 RTP/AVP 107\na=rtpmap:107 vnd.onvif.metadata/90000\n"
      "a=sendonly\n",
      "|*|npt=now- V:0:RTP/AVP::1.2.3.4:5000:2[96 H264/90000/0 a=b] "
      "D:0:RTP/AVP:::0:1[107 vnd.onvif.metadata/90000/0 ]" },
    { "several types, those of others, late", "m=audio 0/2 RTP/AVP 8 0 x 200 101\na=fmtp:101 0-15\n"
      "a=rtpmap:101 telephone-event/8000\na=rtpmap:99 H264/90000\na=fmtp:99 x\n",
      "|| A:0:RTP/AVP:::0:0[8 /0/0 ,0 /0/0 ,101 telephone-event/8000/0 0-15]" },
    { "more types than we read", "m=audio 0 RTP/AVP 1 2 3 4 5 6 7 8 9 10\n",
      "|| A:0:RTP/AVP:::0:0[1 /0/0 ,2 /0/0 ,3 /0/0 ,4 /0/0 ,5 /0/0 ,6 /0/0 ,7 /0/0 ,8 /0/0 ]" },
    { "ports that are none", "m=audio -1 RTP/AVP 0\na=control:x\nm=video 65536 RTP/AVP 96\n"
      "m=video q RTP/AVP 96\nm=video\nm=\nm=video 1 RTP/AVP 96\na=control:y\n",
      "|| V:1:RTP/AVP:y::0:0[96 /0/0 ]" },
    { "numbers that are none", "m=video 1 RTP/AVP 96\na=rtpmap:96 H264\nb=AS:-5\nb=TIAS:5\nb=AS\n"
      "m=audio 1 RTP/AVP 97\na=rtpmap:97 X/99999999999/2\na=rtpmap:\na=fmtp:\na=rtpmap\na=\n",
      "|| V:1:RTP/AVP:::0:0[96 H264/0/0 ] A:1:RTP/AVP:::0:0[97 X/0/2 ]" },
    { "range in the media, CR alone, names in any case",
      "s=a\rm=video 1 RTP/AVP 96\ra=Range:npt=0-5\ra=RTPMAP:96 H265/90000\rm=audio 1 RTP/AVP 0\r"
      "a=range:npt=0-6\r", "a||npt=0-5 V:1:RTP/AVP:::0:0[96 H265/90000/0 ] A:1:RTP/AVP:::0:0[0 /0/0 ]" },
    { "Latin-1", "s=K\xfc" "che\nm=video 1 RTP/AVP 96\n", "K\xfc" "che|| V:1:RTP/AVP:::0:0[96 /0/0 ]" },
    { "no media", "v=0\r\n", "||" },
};

static void test_rows(void **state)
{
    static struct sdp s;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[2048];

        print_message("  %s\n", rows[i].name);
        assert_ok(sdp_parse(&s, rows[i].text, strlen(rows[i].text)));
        note(&s, out, sizeof(out));
        assert_string_equal(out, rows[i].want);
        sdp_free(&s);
    }
}

/* Each text cut at every byte, in memory of this size: read as far as possible. */
static void test_cut(void **state)
{
    static struct sdp s;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t n = 0; n <= strlen(rows[i].text); n++) {
            char *copy = malloc(n + 1), out[2048];
            err_t err;

            assert_non_null(copy);
            memcpy(copy, rows[i].text, n);
            copy = realloc(copy, n ? n : 1);
            err = sdp_parse(&s, copy, n);
            if (!err) {
                note(&s, out, sizeof(out));
                sdp_free(&s);
            }
            err_free(&err);
            free(copy);
        }
    }
}

static void test_bytes_of_zero(void **state)
{
    static const char text[] = "s=a\0m=video 1 RTP/AVP 96\0\0\0a=control:x\0";
    static struct sdp s;

    (void)state;
    assert_ok(sdp_parse(&s, text, sizeof(text) - 1));
    assert_true(s.n == 1 && strcmp(s.media[0].control, "x") == 0);
    sdp_free(&s);
}

static void test_none(void **state)
{
    static const char *const texts[] = { "", "\r\n\r\n", "hello", "<html>\n</html>", "{\"a\":1}" };
    static struct sdp s;

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_err(sdp_parse(&s, texts[i], strlen(texts[i])), ERR_MALFORMED);
}

static void test_limits(void **state)
{
    static struct sdp s;
    struct wr w;

    (void)state;
    wr_init(&w, 1 << 20);
    for (int i = 0; i < SDP_MEDIA_MAX; i++)
        wr_printf(&w, "m=video 0 RTP/AVP 96\n");
    assert_ok(sdp_parse(&s, (const char *)w.buf, w.len));
    assert_int_equal(s.n, SDP_MEDIA_MAX);
    sdp_free(&s);
    wr_printf(&w, "m=video 0 RTP/AVP 96\n");
    assert_err(sdp_parse(&s, (const char *)w.buf, w.len), ERR_TOO_MANY);
    w.len = 0;
    for (int i = 0; i < 100; i++)
        wr_printf(&w, "m=video -1 RTP/AVP 96\n");
    assert_err(sdp_parse(&s, (const char *)w.buf, w.len), ERR_TOO_MANY);
    w.len = 0;
    while (w.len < SDP_SIZE_MAX)
        wr_text(&w, "a=fmtp:96 ");
    assert_ok(sdp_parse(&s, (const char *)w.buf, SDP_SIZE_MAX));
    sdp_free(&s);
    assert_err(sdp_parse(&s, (const char *)w.buf, SDP_SIZE_MAX + 1), ERR_TOO_LARGE);
    wr_free(&w);
}

static const char ours[] =
    "v=0\r\no=- 12 3 IN IP4 192.0.2.1\r\ns=a_b\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\na=control:*\r\n"
    "a=range:npt=now-\r\n"
    "m=video 0 RTP/AVP 96\r\nb=AS:900\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 x=1;y=2\r\n"
    "a=control:trackID=0\r\n"
    "m=audio 0 RTP/AVP 8\r\na=recvonly\r\na=control:trackID=1\r\n"
    "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 opus/48000/2\r\na=control:trackID=2\r\n";

static void test_ours(void **state)
{
    static struct sdp s;
    struct wr w;
    char out[2048];

    (void)state;
    wr_init(&w, 4096);
    sdp_put_session(&w, &(struct sdp_session_out){ .id = 12, .version = 3, .address = "192.0.2.1",
                                                   .name = "a\nb", .duration = -1 });
    sdp_put_media(&w, &(struct sdp_media_out){ .kind = SDP_VIDEO, .type = 96, .name = "H264",
                                               .clock = 90000, .fmtp = "x=1;y=2z", .fmtp_size = 7,
                                               .control = "trackID=0", .kbits = 900 });
    sdp_put_media(&w, &(struct sdp_media_out){ .kind = SDP_AUDIO, .type = 8,
                                               .control = "trackID=1", .direction = "recvonly" });
    sdp_put_media(&w, &(struct sdp_media_out){ .kind = SDP_AUDIO, .type = 97, .name = "opus",
                                               .clock = 48000, .channels = 2,
                                               .control = "trackID=2" });
    assert_int_equal(w.len, sizeof(ours) - 1);
    assert_memory_equal(w.buf, ours, w.len);
    assert_ok(sdp_parse(&s, (const char *)w.buf, w.len));
    note(&s, out, sizeof(out));
    assert_string_equal(out, "a_b|*|npt=now- V:0:RTP/AVP:trackID=0::900:0[96 H264/90000/0 x=1;y=2] "
                             "A:0:RTP/AVP:trackID=1::0:2[8 /0/0 ] "
                             "A:0:RTP/AVP:trackID=2::0:0[97 opus/48000/2 ]");
    sdp_free(&s);
    w.len = 0;
    sdp_put_session(&w, &(struct sdp_session_out){ .id = 1, .address = "2001:db8::1", .name = "",
                                                   .duration = 12034 });
    wr_u8(&w, 0);
    assert_string_equal((const char *)w.buf,
                        "v=0\r\no=- 1 0 IN IP6 2001:db8::1\r\ns=-\r\nc=IN IP6 ::\r\nt=0 0\r\n"
                        "a=control:*\r\na=range:npt=0-12.034\r\n");
    wr_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rows), TEST(test_cut), TEST(test_bytes_of_zero), TEST(test_none),
        TEST(test_limits), TEST(test_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
