/* SPDX-License-Identifier: MIT */
/* test_rtsp_client.c - requests of a client, and its handling of responses. */
#include "base/wr.h"
#include "proto/rtsp/client.h"
#include "rtsp_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum rtsp_result hear(struct rtsp_client *c, const char *answer)
{
    struct rtsp_text t;
    enum rtsp_result heard = rtsp_client_response(c, rtsp_text_read(&t, answer, strlen(answer)));

    rtsp_text_free(&t);
    return heard;
}

static void says(struct rtsp_client *c, enum rtsp_method method, const char *url, const char *want)
{
    struct wr w;

    wr_init(&w, 10000);
    rtsp_client_put(c, &w, method, url, NULL, 0, NULL, 0);
    wr_u8(&w, 0);
    assert_ok(wr_err(&w, "request"));
    if (want)
        assert_memory_equal(w.buf, want, strlen(want));
    wr_free(&w);
}

static void begin(struct rtsp_client *c, const char *url)
{
    assert_ok(rtsp_client_init(c, url));
}

static void plays(void **state)
{
    static const struct rtsp_extra more[] = { { "Accept", "application/sdp" }, { "A", "b\r\nc" } };
    struct rtsp_client c;
    struct wr w;

    (void)state;
    begin(&c, "rtsp://h:8554/a?k=v");
    c.agent = "x/1";
    says(&c, RTSP_OPTIONS, NULL, "OPTIONS rtsp://h:8554/a?k=v RTSP/1.0\r\nCSeq: 1\r\n"
         "User-Agent: x/1\r\n\r\n");
    assert_int_equal(hear(&c, "RTSP/1.0 200 OK\r\nCSeq: 1\r\nPublic: PLAY, GET_PARAMETER\r\n\r\n"),
                     RTSP_RESULT_DONE);
    assert_int_equal(c.methods, RTSP_BIT(RTSP_PLAY) | RTSP_BIT(RTSP_GET_PARAMETER));
    wr_init(&w, 10000);
    rtsp_client_put(&c, &w, RTSP_DESCRIBE, NULL, more, 2, "abc", 3);
    wr_u8(&w, 0);
    assert_string_equal((char *)w.buf, "DESCRIBE rtsp://h:8554/a?k=v RTSP/1.0\r\nCSeq: 2\r\n"
                        "User-Agent: x/1\r\nAccept: application/sdp\r\nA: b  c\r\n"
                        "Content-Length: 3\r\n\r\nabc");
    wr_free(&w);
    assert_int_equal(hear(&c, "RTSP/1.0 200 OK\r\nCSeq: 2\r\n\r\n"), RTSP_RESULT_DONE);
    says(&c, RTSP_SETUP, "rtsp://h/a/1", "SETUP rtsp://h/a/1 RTSP/1.0\r\nCSeq: 3\r\n");
    assert_int_equal(hear(&c, "RTSP/1.0 200 OK\r\nCSeq: 3\r\nSession: 12;timeout=30\r\n\r\n"),
                     RTSP_RESULT_DONE);
    assert_string_equal(c.session, "12");
    assert_int_equal(rtsp_client_keepalive_interval(&c), 25);
    says(&c, RTSP_PLAY, NULL, "PLAY rtsp://h:8554/a?k=v RTSP/1.0\r\nCSeq: 4\r\nUser-Agent: x/1\r\n"
         "Session: 12\r\n\r\n");
    assert_int_equal(hear(&c, "RTSP/1.0 454 x\r\nCSeq: 4\r\n\r\n"), RTSP_RESULT_REFUSED);
    assert_int_equal(c.status, 454);
    rtsp_client_fini(&c);
}

/* Other data is not a response. */
static void other_messages(void **state)
{
    static const struct {
        const char *text;
        enum rtsp_result heard;
    } rows[] = {
        { "RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n", RTSP_RESULT_DONE },
        { "RTSP/1.0 200 OK\r\n\r\n", RTSP_RESULT_DONE }, /* some cameras leave it out */
        { "RTSP/1.0 200 OK\r\nCSeq: 7\r\n\r\n", RTSP_RESULT_OTHER },
        { "RTSP/1.0 100 Continue\r\nCSeq: 1\r\n\r\n", RTSP_RESULT_OTHER },
        { "RTSP/1.0 abc\r\nCSeq: 1\r\n\r\n", RTSP_RESULT_OTHER },
        { "OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n", RTSP_RESULT_OTHER },
        { "RTSP/1.0 304 Not Modified\r\nCSeq: 1\r\n\r\n", RTSP_RESULT_REFUSED },
        { "RTSP/1.0 503 Busy\r\nCSeq: 1\r\n\r\n", RTSP_RESULT_REFUSED },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtsp_client c;

        begin(&c, "rtsp://h/a");
        assert_int_equal(hear(&c, rows[i].text), RTSP_RESULT_OTHER); /* there was no request */
        says(&c, RTSP_OPTIONS, NULL, NULL);
        assert_int_equal(hear(&c, rows[i].text), rows[i].heard);
        rtsp_client_fini(&c);
    }
}

#define MD5_OF(nonce, more) "RTSP/1.0 401 x\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"" \
    nonce "\"" more "\r\n\r\n"

static void logs_in(void **state)
{
    struct rtsp_client c;

    (void)state;
    begin(&c, "rtsp://u:p@h/a");
    says(&c, RTSP_DESCRIBE, NULL, "DESCRIBE rtsp://h/a RTSP/1.0\r\nCSeq: 1\r\n\r\n");
    assert_int_equal(hear(&c, MD5_OF("1", "")), RTSP_RESULT_AGAIN);
    says(&c, RTSP_DESCRIBE, NULL, "DESCRIBE rtsp://h/a RTSP/1.0\r\nCSeq: 2\r\n"
         "Authorization: Digest username=\"u\", realm=\"r\", nonce=\"1\", "
         "uri=\"rtsp://h/a\", response=\"");
    assert_int_equal(hear(&c, "RTSP/1.0 200 OK\r\n\r\n"), RTSP_RESULT_DONE);
    /* another nonce with each request, marked stale or not */
    says(&c, RTSP_SETUP, NULL, "SETUP rtsp://h/a RTSP/1.0\r\nCSeq: 3\r\nAuthorization: Digest ");
    assert_int_equal(hear(&c, MD5_OF("2", ", stale=true")), RTSP_RESULT_AGAIN);
    says(&c, RTSP_SETUP, NULL, NULL);
    assert_int_equal(hear(&c, "RTSP/1.0 200 OK\r\n\r\n"), RTSP_RESULT_DONE);
    /* stale forever */
    says(&c, RTSP_PLAY, NULL, NULL);
    assert_int_equal(hear(&c, MD5_OF("3", ", stale=true")), RTSP_RESULT_AGAIN);
    says(&c, RTSP_PLAY, NULL, NULL);
    assert_int_equal(hear(&c, MD5_OF("4", ", stale=true")), RTSP_RESULT_AGAIN);
    says(&c, RTSP_PLAY, NULL, NULL);
    assert_int_equal(hear(&c, MD5_OF("5", ", stale=true")), RTSP_RESULT_LOGIN);
    rtsp_client_fini(&c);
}

static void wrong_password(void **state)
{
    static const struct {
        const char *url, *answer;
        enum rtsp_result first;
    } rows[] = {
        { "rtsp://u:p@h/a", MD5_OF("1", ""), RTSP_RESULT_AGAIN },
        { "rtsp://u:p@h/a", "RTSP/1.0 401 x\r\nWWW-Authenticate: Basic realm=\"r\"\r\n\r\n",
          RTSP_RESULT_AGAIN },
        { "rtsp://h/a", MD5_OF("1", ""), RTSP_RESULT_LOGIN },
        { "rtsp://u:p@h/a", "RTSP/1.0 401 x\r\nWWW-Authenticate: Negotiate\r\n\r\n",
          RTSP_RESULT_LOGIN },
        { "rtsp://u:p@h/a", "RTSP/1.0 401 x\r\n\r\n", RTSP_RESULT_LOGIN },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtsp_client c;

        begin(&c, rows[i].url);
        says(&c, RTSP_DESCRIBE, NULL, NULL);
        assert_int_equal(hear(&c, rows[i].answer), rows[i].first);
        says(&c, RTSP_DESCRIBE, NULL, NULL);
        assert_int_equal(hear(&c, rows[i].answer), RTSP_RESULT_LOGIN);
        assert_int_equal(c.status, 401);
        rtsp_client_fini(&c);
    }
}

/* Cameras that send a new realm and nonce for each request: 401 each time, then 200. */
static void each_request_is_challenged(void **state)
{
    struct rtsp_client c;

    (void)state;
    begin(&c, "rtsp://u:p@h/a");
    for (int i = 0; i < 5; i++) {
        says(&c, RTSP_OPTIONS, NULL, NULL);
        assert_int_equal(hear(&c, MD5_OF("x", "")), RTSP_RESULT_AGAIN);
        says(&c, RTSP_OPTIONS, NULL, NULL);
        assert_int_equal(hear(&c, "RTSP/1.0 200 OK\r\n\r\n"), RTSP_RESULT_DONE);
    }
    rtsp_client_fini(&c);
}

static void moves(void **state)
{
    static const struct {
        const char *url, *location, *to, *user;
        bool hidden;
        enum rtsp_result heard;
    } rows[] = {
        { "rtsp://h/a", "rtsp://o:8554/b", "rtsp://o:8554/b", "", true, RTSP_RESULT_MOVED },
        { "rtsp://u:p@h/a", "rtsp://h:8554/b", "rtsp://h:8554/b", "u", false, RTSP_RESULT_MOVED },
        { "rtsp://u:p@h/a", "rtsp://o/b", "rtsp://o/b", "u", true, RTSP_RESULT_MOVED },
        { "rtsps://u:p@h/a", "rtsp://h/b", "rtsp://h/b", "u", true, RTSP_RESULT_MOVED },
        { "rtsp://u:p@h/a", "rtsp://v:q@o/b", "rtsp://o/b", "v", false, RTSP_RESULT_MOVED },
        { "rtsp://h/a", "http://o/b", "rtsp://h/a", "", false, RTSP_RESULT_REFUSED },
        { "rtsp://h/a", "", "rtsp://h/a", "", false, RTSP_RESULT_REFUSED },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtsp_client c;
        char text[300];

        begin(&c, rows[i].url);
        says(&c, RTSP_DESCRIBE, NULL, NULL);
        (void)snprintf(text, sizeof(text), "RTSP/1.0 302 x\r\nLocation: %s\r\n\r\n",
                       rows[i].location);
        assert_int_equal(hear(&c, text), rows[i].heard);
        assert_string_equal(c.location.url, rows[i].to);
        assert_string_equal(c.login.user, rows[i].user);
        assert_int_equal(c.login.hidden, rows[i].hidden);
        rtsp_client_fini(&c);
    }
}

static void moves_for_ever(void **state)
{
    static const char answer[] = "RTSP/1.0 301 x\r\nLocation: rtsp://h/a\r\n\r\n";
    struct rtsp_client c;

    (void)state;
    begin(&c, "rtsp://h/a");
    for (int i = 0; i <= RTSP_REDIRECTS_MAX; i++) {
        says(&c, RTSP_DESCRIBE, NULL, NULL);
        assert_int_equal(hear(&c, answer), i < RTSP_REDIRECTS_MAX ? RTSP_RESULT_MOVED
                                                                  : RTSP_RESULT_REFUSED);
    }
    says(&c, RTSP_DESCRIBE, NULL, NULL);
    assert_int_equal(hear(&c, "RTSP/1.0 302 x\r\n\r\n"), RTSP_RESULT_REFUSED);
    rtsp_client_fini(&c);
}

/* Basic is not sent where it would reveal the password to another server. */
static void hides_the_password(void **state)
{
    struct rtsp_client c;

    (void)state;
    begin(&c, "rtsp://u:p@h/a");
    says(&c, RTSP_DESCRIBE, NULL, NULL);
    assert_int_equal(hear(&c, "RTSP/1.0 302 x\r\nLocation: rtsp://evil/\r\n\r\n"),
                     RTSP_RESULT_MOVED);
    says(&c, RTSP_DESCRIBE, NULL, "DESCRIBE rtsp://evil/ RTSP/1.0\r\nCSeq: 2\r\n\r\n");
    assert_int_equal(hear(&c, "RTSP/1.0 401 x\r\nWWW-Authenticate: Basic realm=\"r\"\r\n\r\n"),
                     RTSP_RESULT_LOGIN);
    says(&c, RTSP_DESCRIBE, NULL, NULL);
    assert_int_equal(hear(&c, MD5_OF("1", "")), RTSP_RESULT_AGAIN);
    rtsp_client_fini(&c);
}

static void bases(void **state)
{
    static const struct {
        const char *fields, *base;
    } rows[] = {
        { "", "rtsp://h:8554/a?k=v" },
        { "Content-Base: rtsp://h:8554/a/\r\n", "rtsp://h:8554/a/" },
        { "Content-Base: rtsp://10.0.0.1/b/\r\nContent-Location: rtsp://x/c\r\n",
          "rtsp://h:8554/b/" },
        { "Content-Location: rtsp://x/c\r\n", "rtsp://h:8554/c" },
        { "Content-Base:\r\nContent-Location: rtsp://x/c\r\n", "rtsp://h:8554/c" },
        { "Content-Base: /d/\r\n", "rtsp://h:8554/d/" },
        { "Content-Base: d\r\n", "rtsp://h:8554/a?k=v" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[300], *base;
        struct rtsp_client c;
        struct rtsp_text t;

        begin(&c, "rtsp://h:8554/a?k=v");
        (void)snprintf(text, sizeof(text), "RTSP/1.0 200 OK\r\n%s\r\n", rows[i].fields);
        base = rtsp_client_base(&c, rtsp_text_read(&t, text, strlen(text)));
        assert_string_equal(base, rows[i].base);
        free(base);
        rtsp_text_free(&t);
        rtsp_client_fini(&c);
    }
}

static const char *alive_by(struct rtsp_client *c, char out[32])
{
    struct wr w;

    wr_init(&w, 1000);
    if (!rtsp_client_put_keepalive(c, &w, NULL))
        return "none";
    (void)snprintf(out, 32, "%.*s", (int)strcspn((char *)w.buf, " "), (char *)w.buf);
    wr_free(&w);
    return out;
}

/* Cameras that do not support a keepalive request do not get it again; the client does not wait for a response. */
static void signs_of_life(void **state)
{
    struct rtsp_client c;
    char out[32];

    (void)state;
    begin(&c, "rtsp://h/a");
    assert_string_equal(alive_by(&c, out), "OPTIONS"); /* it did not list its methods */
    rtsp_client_fini(&c);

    begin(&c, "rtsp://h/a");
    c.methods = RTSP_BIT(RTSP_GET_PARAMETER);
    assert_string_equal(alive_by(&c, out), "GET_PARAMETER");
    says(&c, RTSP_PAUSE, NULL, NULL);
    assert_int_equal(hear(&c, "RTSP/1.0 501 x\r\nCSeq: 1\r\n\r\n"), RTSP_RESULT_OTHER);
    assert_int_equal(hear(&c, "RTSP/1.0 200 OK\r\nCSeq: 2\r\n\r\n"), RTSP_RESULT_DONE);
    assert_string_equal(alive_by(&c, out), "OPTIONS");
    assert_int_equal(hear(&c, "RTSP/1.0 454 x\r\nCSeq: 3\r\n\r\n"), RTSP_RESULT_OTHER);
    assert_string_equal(alive_by(&c, out), "OPTIONS");
    assert_int_equal(hear(&c, "RTSP/1.0 400 x\r\nCSeq: 4\r\n\r\n"), RTSP_RESULT_OTHER);
    assert_string_equal(alive_by(&c, out), "none");
    rtsp_client_fini(&c);
}

static void how_often(void **state)
{
    static const struct {
        int timeout, every;
    } rows[] = { { 0, 25 }, { 60, 25 }, { 30, 25 }, { 20, 15 }, { 11, 6 }, { 10, 5 }, { 5, 2 },
                 { 1, 1 } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtsp_client c = { .timeout = rows[i].timeout };

        assert_int_equal(rtsp_client_keepalive_interval(&c), rows[i].every);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(plays), TEST(other_messages), TEST(logs_in), TEST(wrong_password),
        TEST(each_request_is_challenged), TEST(moves), TEST(moves_for_ever),
        TEST(hides_the_password), TEST(bases), TEST(signs_of_life), TEST(how_often),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
