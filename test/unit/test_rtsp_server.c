/* SPDX-License-Identifier: MIT */
/* test_rtsp_server.c - requests that a server's connection allows: by state, and in whole conversations. */
#include "base/wr.h"
#include "proto/rtsp/server.h"
#include "proto/rtsp/url.h"
#include "rtsp_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METHODS_ALL = (1 << RTSP_REDIRECT) - 1 };

static const struct rtsp_server_rules rules = {
    .methods = METHODS_ALL, .transports = { .tcp = true, .udp = true }, .own_channels = true,
    .timeout = 60,
};

/* A server that has all streams, each of 16 tracks: answers one request, as text in `w`. */
static void serve(struct rtsp_server *s, const struct rtsp_message *req, struct wr *w)
{
    struct rtsp_transport t = rtsp_transport_none;
    struct rtsp_session *session;
    struct rtsp_target target;
    int status = rtsp_server_check(s, req, 0, &session);
    err_t err = rtsp_target_parse(&target, req->url);

    assert_ok(err);
    if (status == 0 && req->method == RTSP_SETUP)
        status = rtsp_server_setup(s, req, target.track < 0 ? 0 : (unsigned)target.track, 0,
                                   &session, &t);
    else if (status == 0 && req->method == RTSP_ANNOUNCE)
        rtsp_server_announced(s);
    else if (status == 0 && (req->method == RTSP_PLAY || req->method == RTSP_PAUSE ||
                             req->method == RTSP_RECORD))
        rtsp_session_accepted(session, req->method);
    else if (status == 0 && req->method == RTSP_TEARDOWN &&
             rtsp_server_teardown(s, session, target.track))
        session = NULL;
    rtsp_server_put(s, w, status ? status : 200, req, session);
    if (status == 0 && req->method == RTSP_SETUP) {
        rtsp_put_name(w, "Transport");
        rtsp_transport_put(w, &t);
        rtsp_put_line_end(w);
    }
    rtsp_put_body(w, NULL, 0);
    wr_u8(w, 0);
    rtsp_target_free(&target);
}

/* `out` has "@" where the text has the id of the first session. */
static void put_id(const struct rtsp_server *s, const char *text, char *out, size_t size)
{
    size_t n = 0;

    for (; *text && n + RTSP_SESSION_ID + 1 < size; text++) {
        if (*text == '@' && s->sessions)
            n += (size_t)snprintf(out + n, size - n, "%s", s->sessions->id);
        else
            out[n++] = *text;
    }
    out[n] = '\0';
}

/* The response to this text without common parts, the id as "@". */
static void ask(struct rtsp_server *s, const char *text, char *out, size_t size)
{
    char request[2000], id[RTSP_SESSION_ID + 1] = "none";
    struct rtsp_text t;
    const char *p;
    size_t n = 0;
    struct wr w;

    put_id(s, text, request, sizeof(request));
    wr_init(&w, 10000);
    serve(s, rtsp_text_read(&t, request, strlen(request)), &w);
    rtsp_text_free(&t);
    if (s->sessions)
        memcpy(id, s->sessions->id, sizeof(id));
    for (p = (char *)w.buf + strlen("RTSP/1.0 "); *p && n + 1 < size;) {
        if (strncmp(p, id, RTSP_SESSION_ID) == 0) {
            out[n++] = '@';
            p += RTSP_SESSION_ID;
        } else if (strncmp(p, "\r\n", 2) == 0) {
            out[n++] = '|';
            p += 2;
        } else {
            out[n++] = *p++;
        }
    }
    out[n] = '\0';
    wr_free(&w);
}

#define Q(method, url, n) method " " url " RTSP/1.0\r\nCSeq: " n "\r\n"
#define S "Session: @\r\n"
#define T "Transport: "
#define OK_(n) "200 OK|CSeq: " n "|"
#define SS "Session: @;timeout=60|"

struct turn {
    const char *ask, *answer;
};

static const struct turn ffmpeg_play[] = {
    { Q("OPTIONS", "rtsp://h/live/a", "1") "User-Agent: Lavf60\r\n\r\n",
      OK_("1") "Public: OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, ANNOUNCE, RECORD, GET_PARAMETER, "
      "SET_PARAMETER, TEARDOWN||" },
    { Q("DESCRIBE", "rtsp://h/live/a", "2") "Accept: application/sdp\r\n\r\n", OK_("2") "|" },
    { Q("SETUP", "rtsp://h/live/a/trackID=0", "3") T "RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n",
      OK_("3") SS T "RTP/AVP/TCP;unicast;interleaved=0-1||" },
    { Q("SETUP", "rtsp://h/live/a/trackID=1", "4") T "RTP/AVP/TCP;unicast;interleaved=2-3\r\n" S
      "\r\n", OK_("4") SS T "RTP/AVP/TCP;unicast;interleaved=2-3||" },
    { Q("PLAY", "rtsp://h/live/a/", "5") "Range: npt=0.000-\r\n" S "\r\n", OK_("5") SS "|" },
    { Q("GET_PARAMETER", "rtsp://h/live/a/", "6") S "\r\n", OK_("6") SS "|" },
    { Q("PLAY", "rtsp://h/live/a/", "7") S "\r\n", OK_("7") SS "|" },
    { Q("PAUSE", "rtsp://h/live/a/", "8") S "\r\n", OK_("8") SS "|" },
    { Q("PLAY", "rtsp://h/live/a/", "9") S "\r\n", OK_("9") SS "|" },
    { Q("TEARDOWN", "rtsp://h/live/a/", "10") S "\r\n", OK_("10") "|" },
};

static const struct turn ffmpeg_publish[] = {
    { Q("OPTIONS", "rtsp://h/live/a", "1") "\r\n",
      OK_("1") "Public: OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, ANNOUNCE, RECORD, GET_PARAMETER, "
      "SET_PARAMETER, TEARDOWN||" },
    { Q("ANNOUNCE", "rtsp://h/live/a", "2") "Content-Length: 3\r\n\r\nv=0", OK_("2") "|" },
    { Q("SETUP", "rtsp://h/live/a/trackID=0", "3") T "RTP/AVP/UDP;unicast;client_port=20000-20001;"
      "mode=record\r\n\r\n", OK_("3") SS T
      "RTP/AVP;unicast;client_port=20000-20001;mode=record||" },
    { Q("SETUP", "rtsp://h/live/a/trackID=1", "4") T "RTP/AVP/UDP;unicast;client_port=20002-20003;"
      "mode=record\r\n" S "\r\n", OK_("4") SS T
      "RTP/AVP;unicast;client_port=20002-20003;mode=record||" },
    { Q("RECORD", "rtsp://h/live/a", "5") "Range: npt=0.000-\r\n" S "\r\n", OK_("5") SS "|" },
    { Q("TEARDOWN", "rtsp://h/live/a", "6") S "\r\n", OK_("6") "|" },
};

/* Offers every transport; requests its own channels for video, and gets others. */
static const struct turn gstreamer_play[] = {
    { Q("DESCRIBE", "rtsp://h/live/a", "2") "\r\n", OK_("2") "|" },
    { Q("SETUP", "rtsp://h/live/a/trackID=1", "3") T "RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n",
      OK_("3") SS T "RTP/AVP/TCP;unicast;interleaved=2-3||" },
    { Q("SETUP", "rtsp://h/live/a/trackID=0", "4") S T
      "RTP/AVP/UDP;unicast;client_port=5000-5001,RTP/AVP/TCP;unicast;interleaved=2-3\r\n\r\n",
      OK_("4") SS T "RTP/AVP/TCP;unicast;interleaved=0-1||" },
    { Q("PLAY", "rtsp://h/live/a", "5") S "\r\n", OK_("5") SS "|" },
    { Q("SETUP", "rtsp://h/live/a/trackID=2", "6") S T "RTP/AVP/TCP\r\n\r\n",
      "455 Method Not Valid in This State|CSeq: 6|" SS
      "Allow: OPTIONS, DESCRIBE, PLAY, PAUSE, GET_PARAMETER, SET_PARAMETER, TEARDOWN||" },
    { Q("TEARDOWN", "rtsp://h/live/a/trackID=1", "7") S "\r\n", OK_("7") SS "|" },
    { Q("TEARDOWN", "rtsp://h/live/a/trackID=0", "8") S "\r\n", OK_("8") "|" },
};

/* rtspclientsink: ports of 0 first, then TCP; no session at the second track. */
static const struct turn gstreamer_publish[] = {
    { Q("ANNOUNCE", "rtsp://h/live/a", "2") "\r\n", OK_("2") "|" },
    { Q("SETUP", "rtsp://h/live/a/trackID=0", "3") T "RTP/AVP/UDP;unicast;client_port=0-0;"
      "mode=\"RECORD\"\r\n\r\n", "461 Unsupported Transport|CSeq: 3||" },
    { Q("SETUP", "rtsp://h/live/a/trackID=0", "4") T "RTP/AVP/TCP;unicast;mode=\"RECORD\"\r\n\r\n",
      OK_("4") SS T "RTP/AVP/TCP;unicast;interleaved=0-1;mode=record||" },
    { Q("SETUP", "rtsp://h/live/a/trackID=1", "5") T "RTP/AVP/TCP;unicast;mode=\"RECORD\"\r\n\r\n",
      OK_("5") SS T "RTP/AVP/TCP;unicast;interleaved=2-3;mode=record||" },
    { Q("RECORD", "rtsp://h/live/a", "6") S "\r\n", OK_("6") SS "|" },
    { Q("PAUSE", "rtsp://h/live/a", "7") S "\r\n", OK_("7") SS "|" },
    { Q("RECORD", "rtsp://h/live/a", "8") S "\r\n", OK_("8") SS "|" },
};

/* Larix: only audio on 2-3; and channels that are in use. */
static const struct turn larix[] = {
    { Q("ANNOUNCE", "rtsp://h/live/a", "2") "\r\n", OK_("2") "|" },
    { Q("SETUP", "rtsp://h/live/a/trackID=0", "3") T "RTP/AVP/TCP;unicast;interleaved=2-3;"
      "mode=receive\r\n\r\n", OK_("3") SS T "RTP/AVP/TCP;unicast;interleaved=2-3;mode=record||" },
    { Q("SETUP", "rtsp://h/live/a/trackID=1", "4") S T
      "RTP/AVP/TCP;unicast;interleaved=3-4\r\n\r\n",
      "461 Unsupported Transport|CSeq: 4|" SS "|" },
    { Q("SETUP", "rtsp://h/live/a/trackID=1", "5") S T
      "RTP/AVP/TCP;unicast;interleaved=5-5\r\n\r\n",
      "461 Unsupported Transport|CSeq: 5|" SS "|" },
    { Q("SETUP", "rtsp://h/live/a/trackID=1", "6") S T "RTP/AVP/TCP\r\n\r\n",
      OK_("6") SS T "RTP/AVP/TCP;unicast;interleaved=0-1||" },
    { Q("SETUP", "rtsp://h/live/a/trackID=2", "7") S T
      "RTP/AVP/UDP;unicast;client_port=5000-5001\r\n\r\n",
      "461 Unsupported Transport|CSeq: 7|" SS "|" },
};

/* VLC: sets up the only track again before it plays; sends late; ends everything. */
static const struct turn live555[] = {
    { Q("SETUP", "rtsp://h/live/a/trackID=0", "3") T
      "RTP/AVP;unicast;client_port=5000-5001\r\n\r\n",
      OK_("3") SS T "RTP/AVP;unicast;client_port=5000-5001||" },
    { Q("SETUP", "rtsp://h/live/a/trackID=0", "4") S T
      "RTP/AVP;unicast;client_port=5002-5003\r\n\r\n",
      OK_("4") SS T "RTP/AVP;unicast;client_port=5002-5003||" },
    { Q("PLAY", "rtsp://h/live/a/", "5") S "\r\n", OK_("5") SS "|" },
    { Q("OPTIONS", "*", "6") S "\r\n",
      OK_("6") SS "Public: OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, ANNOUNCE, RECORD, GET_PARAMETER, "
      "SET_PARAMETER, TEARDOWN||" },
    { Q("TEARDOWN", "rtsp://h/live/a/", "7") "\r\n", OK_("7") "|" },
    { Q("TEARDOWN", "rtsp://h/live/a/", "8") "\r\n", "454 Session Not Found|CSeq: 8||" },
};

static const struct turn refused[] = {
    { Q("REGISTER", "rtsp://h/a", "1") "\r\n", "501 Not Implemented|CSeq: 1|Public: OPTIONS, "
      "DESCRIBE, SETUP, PLAY, PAUSE, ANNOUNCE, RECORD, GET_PARAMETER, SET_PARAMETER, TEARDOWN||" },
    { Q("REDIRECT", "rtsp://h/a", "1") "\r\n", "501 Not Implemented|CSeq: 1|Public: OPTIONS, "
      "DESCRIBE, SETUP, PLAY, PAUSE, ANNOUNCE, RECORD, GET_PARAMETER, SET_PARAMETER, TEARDOWN||" },
    { "PLAY /a RTSP/1.0\r\n\r\n", "400 Bad Request||" },
    { "PLAY /a RTSP/2.0\r\nCSeq: 1\r\n\r\n", "505 RTSP Version Not Supported|CSeq: 1||" },
    { Q("SETUP", "/a", "2") "Require: www.onvif.org/ver20/backchannel\r\nProxy-Require: x\r\n"
      T "RTP/AVP/TCP\r\n\r\n", "551 Option Not Supported|CSeq: 2|"
      "Unsupported: www.onvif.org/ver20/backchannel|Unsupported: x||" },
    { Q("PLAY", "/a", "3") "\r\n", "454 Session Not Found|CSeq: 3||" },
    { Q("PLAY", "/a", "4") "Session: guessed\r\n\r\n", "454 Session Not Found|CSeq: 4||" },
    { Q("SETUP", "/a", "5") "Session: guessed\r\n" T "RTP/AVP/TCP\r\n\r\n",
      "454 Session Not Found|CSeq: 5||" },
    { Q("TEARDOWN", "/a", "6") "\r\n", "454 Session Not Found|CSeq: 6||" },
    { Q("OPTIONS", "*", "7") "Session: old\r\n\r\n", OK_("7") "Public: OPTIONS, DESCRIBE, SETUP, "
      "PLAY, PAUSE, ANNOUNCE, RECORD, GET_PARAMETER, SET_PARAMETER, TEARDOWN||" },
    { Q("GET_PARAMETER", "/a", "8") "\r\n", OK_("8") "|" },
    { Q("SETUP", "/a", "9") "\r\n", "400 Bad Request|CSeq: 9||" },
    { Q("SETUP", "/a", "10") T "\r\n\r\n", "461 Unsupported Transport|CSeq: 10||" },
    { Q("SETUP", "/a", "11") T "RTP/AVP/TCP;mode=record\r\n\r\n",
      "455 Method Not Valid in This State|CSeq: 11|"
      "Allow: OPTIONS, DESCRIBE, SETUP, ANNOUNCE, GET_PARAMETER, SET_PARAMETER||" },
    { Q("SETUP", "/a/trackID=16", "12") T "RTP/AVP/TCP\r\n\r\n", "404 Not Found|CSeq: 12||" },
    { Q("SETUP", "/a", "13") T "RTP/AVP/TCP;interleaved=255-256\r\n\r\n",
      "461 Unsupported Transport|CSeq: 13||" },
    { Q("SETUP", "/a", "14") T "RTP/AVP;client_port=80-81\r\n\r\n",
      "461 Unsupported Transport|CSeq: 14||" },
    { Q("SETUP", "/a", "15") T "RTP/AVP/TCP\r\n\r\n",
      OK_("15") SS T "RTP/AVP/TCP;unicast;interleaved=0-1||" },
    { Q("RECORD", "/a", "16") S "\r\n", "455 Method Not Valid in This State|CSeq: 16|" SS "Allow: "
      "OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, GET_PARAMETER, SET_PARAMETER, TEARDOWN||" },
    { Q("ANNOUNCE", "/b", "17") "\r\n", "455 Method Not Valid in This State|CSeq: 17|"
      "Allow: OPTIONS, DESCRIBE, SETUP, ANNOUNCE, GET_PARAMETER, SET_PARAMETER||" },
    { Q("SETUP", "/b", "18") T "RTP/AVP/TCP\r\n\r\n",
      OK_("18") SS T "RTP/AVP/TCP;unicast;interleaved=0-1||" },
    { Q("SETUP", "/c", "19") T "RTP/AVP/TCP\r\n\r\n",
      OK_("19") SS T "RTP/AVP/TCP;unicast;interleaved=0-1||" },
    { Q("SETUP", "/d", "20") T "RTP/AVP/TCP\r\n\r\n",
      OK_("20") SS T "RTP/AVP/TCP;unicast;interleaved=0-1||" },
    { Q("SETUP", "/e", "21") T "RTP/AVP/TCP\r\n\r\n", "453 Not Enough Bandwidth|CSeq: 21||" },
};

static void conversations(void **state)
{
    static const struct {
        const char *name;
        const struct turn *turns;
        size_t n;
    } rows[] = {
        { "FFmpeg plays", ffmpeg_play, COUNT(ffmpeg_play) },
        { "FFmpeg publishes", ffmpeg_publish, COUNT(ffmpeg_publish) },
        { "GStreamer plays", gstreamer_play, COUNT(gstreamer_play) },
        { "GStreamer publishes", gstreamer_publish, COUNT(gstreamer_publish) },
        { "Larix", larix, COUNT(larix) },
        { "live555", live555, COUNT(live555) },
        { "refused", refused, COUNT(refused) },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtsp_server s = { .rules = &rules };

        for (size_t k = 0; k < rows[i].n; k++) {
            char answer[2000];

            ask(&s, rows[i].turns[k].ask, answer, sizeof(answer));
            if (strcmp(answer, rows[i].turns[k].answer) != 0)
                print_error("%s, turn %zu\n", rows[i].name, k);
            assert_string_equal(answer, rows[i].turns[k].answer);
        }
        rtsp_server_fini(&s);
    }
}

/* Each method in each state, with its session named: '+' is allowed. */
static void states(void **state)
{
    /* OPTIONS DESCRIBE SETUP PLAY PAUSE ANNOUNCE RECORD GET_PARAMETER SET_PARAMETER TEARDOWN */
    static const struct {
        bool record;
        enum rtsp_state state;
        const char *may;
    } rows[] = {
        { false, RTSP_READY, "+++++--+++" }, { false, RTSP_PLAYING, "++-++--+++" },
        { true, RTSP_READY, "+-+-+-++++" }, { true, RTSP_RECORDING, "+---+-++++" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int m = 0; m < RTSP_REDIRECT; m++) {
            struct rtsp_server s = { .rules = &rules, .announced = rows[i].record };
            struct rtsp_session *session;
            char text[300], answer[300];
            struct rtsp_text t;
            int status;

            ask(&s, Q("SETUP", "/a", "1") T "RTP/AVP/TCP\r\n\r\n", answer, sizeof(answer));
            s.sessions->state = rows[i].state;
            (void)snprintf(text, sizeof(text), Q("%s", "/a", "2") "Session: %s\r\n\r\n",
                           rtsp_method_name((enum rtsp_method)m), s.sessions->id);
            status = rtsp_server_check(&s, rtsp_text_read(&t, text, strlen(text)), 77, &session);
            rtsp_text_free(&t);
            assert_int_equal(status, rows[i].may[m] == '+' ? 0 : 455);
            assert_ptr_equal(session, s.sessions);
            assert_int_equal(session->last_seen, 77);
            rtsp_server_fini(&s);
        }
    }
}

static void play_and_pause_for_ever(void **state)
{
    struct rtsp_server s = { .rules = &rules };
    char answer[300];

    (void)state;
    ask(&s, Q("SETUP", "/a/trackID=3", "1") T "RTP/AVP/TCP\r\n\r\n", answer, sizeof(answer));
    for (int i = 0; i < 10000; i++) {
        ask(&s, i % 2 ? Q("PAUSE", "/a", "2") S "\r\n" : Q("PLAY", "/a", "2") S "\r\n", answer,
            sizeof(answer));
        assert_memory_equal(answer, "200", 3);
    }
    assert_int_equal(s.n_sessions, 1);
    assert_int_equal(s.sessions->n_tracks, 1);
    assert_int_equal(s.sessions->order[0], 3);
    rtsp_server_fini(&s);
}

static void order_of_tracks(void **state)
{
    struct rtsp_server s = { .rules = &rules };
    char answer[300];

    (void)state;
    ask(&s, Q("SETUP", "rtsp://h/a/trackID=1", "1") T "RTP/AVP/TCP\r\n\r\n", answer, 300);
    ask(&s, Q("SETUP", "/a/trackID=0", "2") S T "RTP/AVP/TCP\r\n\r\n", answer, 300);
    ask(&s, Q("SETUP", "/a/trackID=1?k", "3") S T "RTP/AVP/TCP\r\n\r\n", answer, 300);
    assert_int_equal(s.sessions->n_tracks, 2);
    assert_int_equal(s.sessions->order[0], 1);
    assert_int_equal(s.sessions->order[1], 0);
    assert_string_equal(s.sessions->tracks[1].url, "/a/trackID=1?k");
    assert_false(rtsp_server_teardown(&s, s.sessions, 1));
    assert_int_equal(s.sessions->n_tracks, 1);
    assert_int_equal(s.sessions->order[0], 0);
    assert_true(rtsp_server_teardown(&s, s.sessions, 0));
    assert_null(s.sessions);
    rtsp_server_fini(&s);
}

static void session_field(void **state)
{
    static const struct {
        const char *in, *id; /* NULL: invalid */
        int timeout;
    } rows[] = {
        { "12345678", "12345678", 0 }, { "12345678;timeout=60", "12345678", 60 },
        { "a-b_c$d ; Timeout = 30", "a-b_c$d", 30 }, { "x;y=z;timeout=5", "x", 5 },
        { "x;timeout=", "x", 0 }, { "x;timeout=-1", "x", 0 },
        { "x;timeout=99999999999", "x", 86400 },
        { "x;timeout=60.5", "x", 60 }, { "", NULL, 0 }, { ";timeout=60", NULL, 0 },
    };
    char id[RTSP_SESSION_ID_MAX + 1], longest[RTSP_SESSION_ID_MAX + 2];
    int timeout;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(rtsp_session_parse(rows[i].in, id, &timeout), rows[i].id != NULL);
        if (rows[i].id)
            assert_string_equal(id, rows[i].id);
        assert_int_equal(timeout, rows[i].timeout);
    }
    memset(longest, 'x', sizeof(longest));
    longest[RTSP_SESSION_ID_MAX + 1] = '\0';
    assert_false(rtsp_session_parse(longest, id, &timeout));
    assert_true(rtsp_session_parse(longest + 1, id, &timeout));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(conversations), TEST(states), TEST(play_and_pause_for_ever), TEST(order_of_tracks),
        TEST(session_field),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
