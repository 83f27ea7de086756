/* SPDX-License-Identifier: MIT */
/* test_rtsp_fields.c - values of RTSP fields, and its urls. */
#include "base/wr.h"
#include "proto/rtsp/range.h"
#include "proto/rtsp/rtp_info.h"
#include "proto/rtsp/transport.h"
#include "proto/rtsp/url.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void assert_text(struct wr *w, const char *want, const char *name)
{
    wr_u8(w, 0);
    assert_ok(wr_err(w, "text"));
    if (strcmp((char *)w->buf, want) != 0)
        print_error("%s\n", name);
    assert_string_equal((char *)w->buf, want);
    wr_free(w);
}

/* Read, and each transport written again. */
static const struct {
    const char *name, *in, *out;
} transports[] = {
    { "FFmpeg, TCP", "RTP/AVP/TCP;unicast;interleaved=0-1",
      "RTP/AVP/TCP;unicast;interleaved=0-1 " },
    { "FFmpeg, UDP", "RTP/AVP/UDP;unicast;client_port=19398-19399",
      "RTP/AVP;unicast;client_port=19398-19399 " },
    { "FFmpeg, publishing", "RTP/AVP/TCP;unicast;interleaved=0-1;mode=record",
      "RTP/AVP/TCP;unicast;interleaved=0-1;mode=record " },
    { "FFmpeg, multicast", "RTP/AVP/UDP;multicast", "RTP/AVP;multicast " },
    { "live555", "RTP/AVP;unicast;client_port=50030-50031",
      "RTP/AVP;unicast;client_port=50030-50031 " },
    { "GStreamer offers several", "RTP/AVP/UDP;unicast;client_port=5000-5001,RTP/AVP/UDP;multicast,"
      "RTP/AVP/TCP;unicast;interleaved=0-1",
      "RTP/AVP;unicast;client_port=5000-5001 RTP/AVP;multicast "
      "RTP/AVP/TCP;unicast;interleaved=0-1 " },
    { "GStreamer, publishing", "RTP/AVP/TCP;unicast;interleaved=2-3;mode=\"record\"",
      "RTP/AVP/TCP;unicast;interleaved=2-3;mode=record " },
    { "in quotes", "RTP/AVP/TCP;unicast;mode=\"RECORD\";interleaved=\"4-5\"",
      "RTP/AVP/TCP;unicast;interleaved=4-5;mode=record " },
    { "a list in quotes", "RTP/AVP;unicast;mode=\"PLAY,RECORD\";client_port=2000-2001,RTP/AVP/TCP",
      "RTP/AVP;unicast;client_port=2000-2001 RTP/AVP/TCP;unicast " },
    { "receive", "RTP/AVP/TCP;unicast;mode=receive", "RTP/AVP/TCP;unicast;mode=record " },
    { "case and spaces", " rtp/avp/tcp ; UNICAST ; Interleaved = 2 - 3 ",
      "RTP/AVP/TCP;unicast;interleaved=2-3 " },
    { "no numbers", "RTP/AVP/TCP", "RTP/AVP/TCP;unicast " },
    { "one port", "RTP/AVP;unicast;client_port=4588", "RTP/AVP;unicast;client_port=4588-4589 " },
    { "an answer over UDP", "RTP/AVP/UDP;unicast;client_port=1234-1235;server_port=8560-8561;"
      "ssrc=0000aBcD;mode=play", "RTP/AVP;unicast;client_port=1234-1235;server_port=8560-8561;"
      "ssrc=0000ABCD " },
    { "an answer, multicast", "RTP/AVP;multicast;destination=239.1.2.3;source=10.0.0.1;"
      "port=8570-8571;ttl=16", "RTP/AVP;multicast;destination=239.1.2.3;source=10.0.0.1;"
      "port=8570-8571;ttl=16 " },
    { "secure", "RTP/SAVP;unicast;client_port=5000-5001",
      "RTP/SAVP;unicast;client_port=5000-5001 " },
    { "an SSRC that is none", "RTP/AVP/TCP;ssrc=123456789", "RTP/AVP/TCP;unicast " },
    { "an address that is none", "RTP/AVP/TCP;destination="
      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
      "RTP/AVP/TCP;unicast " },
    { "unknown words", "RTP/AVP/TCP;unicast;append;layers=1;x=y;;=;x", "RTP/AVP/TCP;unicast " },
    { "other protocols", "RAW/RAW/UDP;unicast,MP2T/H2221/UDP;unicast,RTP/AVP/TCP;unicast",
      "RTP/AVP/TCP;unicast " },
    { "the last channels", "RTP/AVP/TCP;interleaved=254-255",
      "RTP/AVP/TCP;unicast;interleaved=254-255 " },
    { "channels over the last", "RTP/AVP/TCP;interleaved=255-256", "" },
    { "a channel over the last", "RTP/AVP/TCP;interleaved=255", "" },
    { "negative", "RTP/AVP/TCP;interleaved=-1-0,RTP/AVP;client_port=-5", "" },
    { "a port over the last", "RTP/AVP;unicast;client_port=65535-65536", "" },
    { "a huge port", "RTP/AVP;unicast;client_port=99999999999999999999", "" },
    { "no number", "RTP/AVP;unicast;client_port=a-b", "" },
    { "an open quote", "RTP/AVP/TCP;mode=\"record,RTP/AVP/TCP", "RTP/AVP/TCP;unicast " },
    { "nothing", "", "" },
    { "commas", ",,,", "" },
    { "too many", "RTP/AVP/TCP,RTP/AVP/TCP,RTP/AVP/TCP,RTP/AVP/TCP,RTP/AVP/TCP,RTP/AVP/TCP,"
      "RTP/AVP/TCP;mode=record,RTP/AVP;multicast,RTP/AVP;multicast",
      "RTP/AVP/TCP;unicast RTP/AVP/TCP;unicast RTP/AVP/TCP;unicast RTP/AVP/TCP;unicast "
      "RTP/AVP/TCP;unicast RTP/AVP/TCP;unicast RTP/AVP/TCP;unicast;mode=record "
      "RTP/AVP;multicast " },
};

static void transport(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(transports); i++) {
        struct rtsp_transport offers[RTSP_OFFERS_MAX];
        size_t n = 0;
        struct wr w;

        rtsp_transport_parse(transports[i].in, offers, &n);
        wr_init(&w, 10000);
        for (size_t k = 0; k < n; k++) {
            rtsp_transport_put(&w, &offers[k]);
            wr_text(&w, " ");
        }
        assert_text(&w, transports[i].out, transports[i].name);
    }
}

static void transport_choice(void **state)
{
    static const struct {
        const char *name, *in;
        struct rtsp_transport_rules rules;
        int chosen; /* -1: none */
    } rows[] = {
        { "the first", "RTP/AVP;client_port=5000-5001,RTP/AVP/TCP", { .tcp = 1, .udp = 1 }, 0 },
        { "no UDP", "RTP/AVP;client_port=5000-5001,RTP/AVP/TCP", { .tcp = 1 }, 1 },
        { "no TCP", "RTP/AVP/TCP,RTP/AVP;client_port=5000-5001", { .udp = 1 }, 1 },
        { "nothing fits", "RTP/AVP/TCP,RTP/AVP;multicast", { .udp = 1 }, -1 },
        { "multicast", "RTP/AVP;multicast", { .multicast = 1 }, 0 },
        { "another client's port", "RTP/AVP;client_port=53-54", { .udp = 1 }, -1 },
        { "at the border", "RTP/AVP;client_port=1024-1023", { .udp = 1 }, -1 },
        { "port 0", "RTP/AVP;client_port=0-0,RTP/AVP/TCP", { .tcp = 1, .udp = 1 }, 1 },
        { "no port", "RTP/AVP;unicast", { .udp = 1 }, -1 },
        { "secure, and we are not", "RTP/SAVP/TCP,RTP/AVP/TCP", { .tcp = 1 }, 1 },
        { "secure", "RTP/SAVP/TCP", { .tcp = 1, .secure = 1 }, 0 },
        { "nothing offered", "", { .tcp = 1, .udp = 1 }, -1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtsp_transport offers[RTSP_OFFERS_MAX];
        const struct rtsp_transport *t;
        size_t n = 0;

        print_message("  %s\n", rows[i].name);
        rtsp_transport_parse(rows[i].in, offers, &n);
        t = rtsp_transport_choose(offers, n, &rows[i].rules);
        assert_int_equal(t ? (int)(t - offers) : -1, rows[i].chosen);
    }
}

/* "?" is invalid, "s" and "c" other units. */
static const struct {
    const char *in, *out;
} ranges[] = {
    { "npt=0-", "npt=0.000-" },
    { "npt=0.000-", "npt=0.000-" },
    { "npt=now-", "npt=now-" },
    { "npt=NOW-100", "npt=now-100.000" },
    { "npt=-20", "npt=-20.000" },
    { "npt=12.5-20.1234567", "npt=12.500-20.123" },
    { "npt=12:05:35.3-", "npt=43535.300-" },
    { "npt=0:00:00-100:59:59", "npt=0.000-363599.000" },
    { "npt = 1 - 2 ", "npt=1.000-2.000" },
    { "NPT=1-2;time=19970123T153600Z", "npt=1.000-2.000" },
    { "npt=5", "npt=5.000-" },
    { "npt=1.-", "npt=1.000-" },
    { "npt=315360000-", "npt=315360000.000-" },
    { "npt=-", "?" },
    { "npt=", "?" },
    { "npt", "?" },
    { "", "?" },
    { "npt=2-1", "?" },
    { "npt=nan-", "?" },
    { "npt=-inf", "?" },
    { "npt=1e400-", "?" },
    { "npt=0x10-", "?" },
    { "npt=99999999999999999999-", "?" },
    { "npt=400000000-", "?" },
    { "npt=--5", "?" },
    { "npt=1-2-3", "?" },
    { "npt=1:02-", "?" },
    { "npt=1:60:00-", "?" },
    { "npt=9999999:00:00-", "?" },
    { "npt=1,5-", "?" },
    { "np=1-", "?" },
    { "bytes=0-", "?" },
    { "clock=19961108T142300Z-19961108T143520Z", "c" },
    { "smpte=10:07:00-10:07:33:05.01", "s" },
    { "smpte-30-drop=0:10:20-", "s" },
};

static void range(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ranges); i++) {
        struct rtsp_range r;
        struct wr w;

        wr_init(&w, 100);
        if (!rtsp_range_parse(ranges[i].in, &r))
            wr_text(&w, "?");
        else if (r.unit != RTSP_RANGE_NPT)
            wr_text(&w, r.unit == RTSP_RANGE_CLOCK ? "c" : "s");
        else
            rtsp_range_put(&w, &r);
        assert_text(&w, ranges[i].out, ranges[i].in);
    }
}

static void rate(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "1", "1.000" }, { "1.5", "1.500" }, { "-2.0", "-2.000" }, { "+0.5", "0.500" },
        { " 4 ", "4.000" }, { "0", "0.000" }, { "1000", "1000.000" }, { "1000.5", "?" },
        { "0.0009", "0.000" }, { "-0.25", "-0.250" },
        { "", "?" }, { "-", "?" }, { "nan", "?" }, { "-inf", "?" }, { "1e400", "?" },
        { "1e3", "?" }, { "0x1", "?" }, { "99999999999999999999", "?" }, { "1 2", "?" },
        { ".5", "?" }, { "--1", "?" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct wr w;
        int v;

        wr_init(&w, 100);
        if (rtsp_rate_parse(rows[i].in, &v))
            rtsp_rate_put(&w, v);
        else
            wr_text(&w, "?");
        assert_text(&w, rows[i].out, rows[i].in);
    }
}

static const struct {
    const char *in, *out;
} infos[] = {
    { "url=rtsp://h/a/trackID=0;seq=1;rtptime=2", "rtsp://h/a/trackID=0 1 2|" },
    { "url=rtsp://h/a/trackID=0;seq=1;rtptime=2,url=rtsp://h/a/trackID=1;seq=65535;"
      "rtptime=4294967295", "rtsp://h/a/trackID=0 1 2|rtsp://h/a/trackID=1 65535 4294967295|" },
    { "url=a;seq=1 , url=b;rtptime=5", "a 1 -|b - 5|" },
    { "URL=\"a,b\"; Seq=7; RTPTime=8", "a,b 7 8|" },
    { "url=\"a,b\";seq=7; rtptime=8", "a,b 7 8|" },
    { "url=rtsp://h/cam?a=1,2;x=3;seq=9;rtptime=1", "rtsp://h/cam?a=1,2;x=3 9 1|" },
    { "url=a", "a - -|" },
    { "url=", " - -|" },
    { "url=a;seq=65536;rtptime=4294967296", "a - -|" },
    { "url=a;seq=-1;rtptime=x", "a - -|" },
    { "url=a;rtptime=3;seq=4", "a 4 3|" },
    { "seq=1;rtptime=2", "" },
    { "", "" },
    { ",,,", "" },
};

static void rtp_info(void **state)
{
    struct rtsp_rtp_info e[RTSP_RTP_INFO_MAX];
    char many[400] = "";
    struct wr w;

    (void)state;
    for (size_t i = 0; i < COUNT(infos); i++) {
        size_t n = rtsp_rtp_info_parse(infos[i].in, e);

        wr_init(&w, 1000);
        for (size_t k = 0; k < n; k++) {
            wr_printf(&w, "%.*s ", (int)e[k].url_size, e[k].url);
            wr_printf(&w, e[k].has_seq ? "%u " : "- ", e[k].seq);
            wr_printf(&w, e[k].has_time ? "%u|" : "-|", e[k].time);
        }
        assert_text(&w, infos[i].out, infos[i].in);
    }
    for (int i = 0; i < 50; i++)
        strcat(many, "url=a,");
    assert_int_equal(rtsp_rtp_info_parse(many, e), RTSP_RTP_INFO_MAX);
    assert_int_equal(rtsp_rtp_info_parse("url=rtsp://h/a;seq=1;rtptime=2,url=b", e), 2);
    wr_init(&w, 1000);
    rtsp_rtp_info_put(&w, e, 2);
    assert_text(&w, "url=rtsp://h/a;seq=1;rtptime=2,url=b", "written");
}

/* "host:port path ?query #track", or the error. */
static const struct {
    const char *in, *out;
} targets[] = {
    { "*", "all" },
    { "rtsp://h/live/a", "h:0 /live/a ? #-1" },
    { "rtsp://H.Example:8554/live/a/", "h.example:8554 /live/a ? #-1" },
    { "rtsps://u:p@h/live/a", "h:0 /live/a ? #-1" },
    { "rtsp://[::1]:554/a", "::1:554 /a ? #-1" },
    { "rtsp://h", "h:0  ? #-1" },
    { "rtsp://h/", "h:0  ? #-1" },
    { "/live/a", ":0 /live/a ? #-1" },
    { "rtsp://h//live//a//", "h:0 /live/a ? #-1" },
    { "rtsp://h/live/%61%20b", "h:0 /live/a b ? #-1" },
    { "rtsp://h/live/./b/../a", "h:0 /live/a ? #-1" },
    { "rtsp://h/live/a/trackID=0", "h:0 /live/a ? #0" },
    { "rtsp://h/live/a/trackID=15/", "h:0 /live/a ? #15" },
    { "rtsp://h/live/a/TRACKid=1", "h:0 /live/a ? #1" },
    { "rtsp://h/live/a?k=v/trackID=1", "h:0 /live/a ?k=v #1" },
    { "rtsp://h/live/a?k=v&l=/x/trackID=1/", "h:0 /live/a ?k=v&l=/x #1" },
    { "rtsp://h/live/a/trackID=1?k=v", "h:0 /live/a ?k=v #1" },
    { "rtsp://h/live/a/?k=v/", "h:0 /live/a ?k=v/ #-1" },
    { "rtsp://h/live/trackID=0", "h:0 /live ? #0" },
    { "/trackID=0", ":0  ? #0" },
    { "rtsp://h/live/a?k=v#trackID=0", "h:0 /live/a ?k=v #-1" },
    { "rtsp://h/live/trackID=", "h:0 /live/trackID= ? #-1" },
    { "rtsp://h/live/trackID=x", "h:0 /live/trackID=x ? #-1" },
    { "rtsp://h/live/trackID=10000", "h:0 /live/trackID=10000 ? #-1" },
    { "rtsp://h/live/atrackID=1", "h:0 /live/atrackID=1 ? #-1" },
    { "rtsp://h:99999/a", "h:0 /a ? #-1" },
    { "live/a", "!" },
    { "rtsp:/a", "!" },
    { "rtsp://h/../a", "!" },
    { "rtsp://h/%2e%2e/a", "!" },
    { "rtsp://h/a%00b", "!" },
    { "rtsp://h/a%0ab", "!" },
    { "rtsp://h/a%zz", "!" },
};

static void target(void **state)
{
    char *longest = malloc(5000);
    struct rtsp_target t;

    (void)state;
    for (size_t i = 0; i < COUNT(targets); i++) {
        err_t err = rtsp_target_parse(&t, targets[i].in);
        struct wr w;

        wr_init(&w, 1000);
        if (err)
            wr_text(&w, err_code(err) == ERR_RTSP ? "!" : "?");
        else if (t.all)
            wr_text(&w, "all");
        else
            wr_printf(&w, "%s:%d %s ?%s #%d", t.host, t.port, t.path, t.query, t.track);
        assert_text(&w, targets[i].out, targets[i].in);
        err_free(&err);
        rtsp_target_free(&t);
    }
    memset(longest, '/', 4999);
    longest[4999] = '\0';
    assert_err(rtsp_target_parse(&t, longest), ERR_RTSP);
    free(longest);
}

static void place(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "rtsp://h/a", "- h 554  :  rtsp://h/a" },
        { "RTSP://h:8554/a?b=c#d", "- h 8554  :  rtsp://h:8554/a?b=c" },
        { "rtsps://h", "tls h 322  :  rtsps://h" },
        { "rtsp://u:p@h/a", "- h 554 u : p rtsp://h/a" },
        { "rtsp://u@h/a", "- h 554 u :  rtsp://h/a" },
        { "rtsp://u:p@ss@h:1/a@b", "- h 1 u : p@ss rtsp://h:1/a@b" },
        { "rtsp://u%40x:p%3a@h/a", "- h 554 u@x : p: rtsp://h/a" },
        { "rtsp://[fe80::1]:8554/a", "- fe80::1 8554  :  rtsp://[fe80::1]:8554/a" },
        { "rtsp://[fe80::1]/a", "- fe80::1 554  :  rtsp://[fe80::1]/a" },
        { "rtsp://10.0.0.9/cam/realmonitor?channel=1&subtype=0",
          "- 10.0.0.9 554  :  rtsp://10.0.0.9/cam/realmonitor?channel=1&subtype=0" },
        { "http://h/a", "!" }, { "rtsp:///a", "!" }, { "rtsp://", "!" }, { "h/a", "!" },
        { "rtsp://h:0/a", "!" }, { "rtsp://h:65536/a", "!" }, { "rtsp://h:x/a", "!" },
        { "rtsp://h:99999999999/a", "!" }, { "rtsp://[::1/a", "!" },
        { "rtsp://u:%zz@h/a", "!" }, { "rtsp://h/a b", "!" }, { "rtsp://h/a\r\nX: y", "!" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtsp_location p;
        err_t err = rtsp_location_parse(&p, rows[i].in);
        struct wr w;

        wr_init(&w, 1000);
        if (err)
            wr_text(&w, "!");
        else
            wr_printf(&w, "%s %s %d %s : %s %s", p.tls ? "tls" : "-", p.host, p.port, p.user,
                      p.password, p.url);
        assert_text(&w, rows[i].out, rows[i].in);
        err_free(&err);
        rtsp_location_free(&p);
    }
}

static void join(void **state)
{
    static const struct {
        const char *base, *control, *out;
    } rows[] = {
        { "rtsp://h/a", "trackID=0", "rtsp://h/a/trackID=0" },
        { "rtsp://h/a/", "trackID=0", "rtsp://h/a/trackID=0" },
        { "rtsp://h/a", "/trackID=0", "rtsp://h/a/trackID=0" },
        { "rtsp://h/a", "", "rtsp://h/a" },
        { "rtsp://h/a", "*", "rtsp://h/a" },
        { "rtsp://h/cam/realmonitor?x=1", "trackID=0", "rtsp://h/cam/realmonitor?x=1/trackID=0" },
        { "rtsp://h/a", "?ctype=video", "rtsp://h/a?ctype=video" },
        { "rtsp://h:554/a", "rtsp://10.0.0.1/b/track1", "rtsp://h:554/b/track1" },
        { "rtsp://h", "rtsp://10.0.0.1", "rtsp://h" },
        { "rtsp://h", "track1", "rtsp://h/track1" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *url = rtsp_url_join(rows[i].base, rows[i].control);

        assert_string_equal(url, rows[i].out);
        free(url);
    }
}

static void tracks_of_a_publisher(void **state)
{
    static const struct {
        const char *url, *base, *control;
        bool is;
    } rows[] = {
        { "rtsp://h/live/a/streamid=0", "rtsp://h/live/a", "streamid=0", true },
        { "rtsp://1.2.3.4:8554/live/a/streamid=0/", "rtsp://h/live/a/", "streamid=0", true },
        { "/live/a/streamid=0", "rtsp://h/live/a", "streamid=0", true },
        { "rtsp://h/live/a?k=v/streamid=0", "rtsp://h/live/a?k=v", "streamid=0", true },
        { "rtsp://h/live/a/streamid=0", "rtsp://h/live/a", "rtsp://x/live/a/streamid=0", true },
        { "rtsp://h/live/a/", "rtsp://h/live/a", "", true },
        { "rtsp://h/live/a/streamid=1", "rtsp://h/live/a", "streamid=0", false },
        { "rtsp://h/live/b/streamid=0", "rtsp://h/live/a", "streamid=0", false },
        { "rtsp://h/live/a", "rtsp://h/live/a", "streamid=0", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(rtsp_url_is_track(rows[i].url, rows[i].base, rows[i].control),
                         rows[i].is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(transport), TEST(transport_choice), TEST(range), TEST(rate), TEST(rtp_info),
        TEST(target), TEST(place), TEST(join), TEST(tracks_of_a_publisher),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
