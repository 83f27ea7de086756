/* SPDX-License-Identifier: MIT */
/* test_rtsp_auth.c - Basic and Digest, both sides: separately, and with each other. */
#include "base/wr.h"
#include "proto/http/basic.h"
#include "proto/rtsp/auth.h"
#include "rtsp_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The examples of the specifications. */
static void responses(void **state)
{
    static const struct {
        const char *name;
        struct rtsp_digest d;
        enum rtsp_hash hash;
        const char *password, *method, *want;
    } rows[] = {
        { "RFC 2617 3.5",
          { .username = "Mufasa", .realm = "testrealm@host.com",
            .nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093", .uri = "/dir/index.html", .qop = "auth",
            .nc = "00000001", .cnonce = "0a4f113b" },
          RTSP_MD5, "Circle Of Life", "GET", "6629fae49393a05397450978507c4ef1" },
        { "RFC 7616 3.9.1, MD5",
          { .username = "Mufasa", .realm = "http-auth@example.org",
            .nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", .uri = "/dir/index.html",
            .qop = "auth", .nc = "00000001",
            .cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ" },
          RTSP_MD5, "Circle of Life", "GET", "8ca523f5e9506fed4657c9700eebdbec" },
        { "RFC 7616 3.9.1, SHA-256",
          { .username = "Mufasa", .realm = "http-auth@example.org",
            .nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", .uri = "/dir/index.html",
            .qop = "auth", .nc = "00000001",
            .cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ" },
          RTSP_SHA256, "Circle of Life", "GET",
          "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1" },
        { "without qop, as cameras do",
          { .username = "u", .realm = "r", .nonce = "n", .uri = "rtsp://h/a", .qop = "" },
          RTSP_MD5, "p", "DESCRIBE", "d5ff52dc472e71f47f704480e7d03eb4" },
    };
    char out[RTSP_RESPONSE_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        assert_string_equal(rtsp_digest_response(&rows[i].d, rows[i].hash, rows[i].password,
                                                 rows[i].method, out), rows[i].want);
    }
}

/* "scheme realm nonce algorithm qop stale|" of each challenge. */
static void challenges(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "Digest realm=\"a b\", nonce=\"n\"", "Digest a b n   |" },
        { "Basic realm=\"x\"", "Basic x    |" },
        { "Digest realm=r,nonce=n,stale=TRUE", "Digest r n   TRUE|" },
        { "digest  realm = \"r\" ,  nonce=\"n\",algorithm=MD5 , qop=\"auth,auth-int\"",
          "digest r n MD5 auth,auth-int |" },
        { "Digest realm=\"with \\\"quotes\\\" and \\\\\", nonce=\"n\"",
          "Digest with \\\"quotes\\\" and \\\\ n   |" },
        { "Digest realm=\"r\", nonce=\"n\", Basic realm=\"s\"", "Digest r n   |Basic s    |" },
        { "Negotiate, Basic realm=\"s\"", "Negotiate     |Basic s    |" },
        { "NTLM abc==, Digest nonce=n", "NTLM     |Digest  n   |" },
        { "Digest realm=\"open, nonce=n", "Digest open, nonce=n    |" },
        { "Digest realm=\"\\", "Digest \\    |" },
        { "Digest =x, nonce=n", "Digest  n   |" },
        { "Digest", "Digest     |" },
        { "Digest realm=", "Digest     |" },
        { "", "" }, { " , ,", "" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *copy = strdup(rows[i].in), *rest = copy;
        struct rtsp_digest d;
        struct wr w;

        wr_init(&w, 1000);
        while (rtsp_digest_next(&rest, &d))
            wr_printf(&w, "%s %s %s %s %s %s|", d.scheme, d.realm, d.nonce, d.algorithm, d.qop,
                      d.stale);
        wr_u8(&w, 0);
        assert_string_equal((char *)w.buf, rows[i].out);
        wr_free(&w);
        free(copy);
    }
}

static void basic(void **state)
{
    static const struct {
        const char *value, *text; /* NULL: invalid */
    } rows[] = {
        { "Basic dTpw", "u:p" }, { "basic   dTpw", "u:p" }, { "Basic dTpwcA==", "u:pp" },
        { "Basic dTo=", "u:" }, { "Basic ", NULL }, { "Basic dTp", NULL }, { "Basic ====", NULL },
        { "Basic dT*w", NULL }, { "Bearer dTpw", NULL }, { "Basic dQBw", NULL }, { NULL, NULL },
    };
    char out[HTTP_BASIC_MAX], *large = malloc(2000);
    size_t size;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(http_basic_get(rows[i].value, out, &size), rows[i].text != NULL);
        if (rows[i].text)
            assert_string_equal(out, rows[i].text);
    }
    memset(large, 'A', 1999);
    memcpy(large, "Basic ", 6);
    large[6 + HTTP_BASIC_MAX + 4] = '\0';
    assert_false(http_basic_get(large, out, &size));
    free(large);
    assert_true(http_basic_same("a", 1, "a", 1));
    assert_false(http_basic_same("a", 1, "ab", 2));
}

static const char *password_of(void *arg, const char *user)
{
    (void)arg;
    return strcmp(user, "u") == 0 ? "p:1" : strcmp(user, "v") == 0 ? "" : NULL;
}

static struct rtsp_auth_rules rules_of(unsigned schemes)
{
    return (struct rtsp_auth_rules){ .realm = "SRS", .schemes = schemes, .password = password_of };
}

static enum rtsp_auth_result ask(struct rtsp_auth *a, unsigned schemes, struct wr *request,
                                 co_usec now)
{
    const struct rtsp_auth_rules rules = rules_of(schemes);
    struct rtsp_text t;
    enum rtsp_auth_result said;

    rtsp_put_body(request, NULL, 0);
    assert_ok(wr_err(request, "request"));
    said = rtsp_auth_check(a, &rules, rtsp_text_read(&t, request->buf, request->len), now);
    rtsp_text_free(&t);
    wr_free(request);
    return said;
}

static void begin(struct wr *w, enum rtsp_method method, const char *url)
{
    wr_init(w, 100000);
    rtsp_put_request(w, method, url, 1);
}

/* A 401 for the client; returns whether it may try again. */
static bool refuse(struct rtsp_auth *a, unsigned schemes, struct rtsp_login *l, co_usec now)
{
    const struct rtsp_auth_rules rules = rules_of(schemes);
    struct rtsp_text t;
    struct wr w;
    bool again;

    wr_init(&w, 10000);
    rtsp_put_status(&w, 401, 1);
    rtsp_auth_put(a, &rules, now, &w);
    rtsp_put_body(&w, NULL, 0);
    again = rtsp_login_challenged(l, rtsp_text_read(&t, w.buf, w.len));
    rtsp_text_free(&t);
    wr_free(&w);
    return again;
}

static enum rtsp_auth_result say(struct rtsp_auth *a, unsigned schemes, struct rtsp_login *l,
                                 const char *url, co_usec now)
{
    struct wr w;

    begin(&w, RTSP_DESCRIBE, url);
    rtsp_login_put(l, &w, "DESCRIBE", url);
    return ask(a, schemes, &w, now);
}

enum { ALL = RTSP_AUTH_BASIC | RTSP_AUTH_MD5 | RTSP_AUTH_SHA256 };

/* A client that gets 401 tries again, once, and is admitted or not. */
static void both_sides(void **state)
{
    static const struct {
        const char *user, *password;
        unsigned schemes;
        enum rtsp_login_scheme scheme;
        enum rtsp_auth_result said;
    } rows[] = {
        { "u", "p:1", RTSP_AUTH_BASIC, RTSP_LOGIN_BASIC, RTSP_AUTH_RIGHT },
        { "u", "p:1", RTSP_AUTH_MD5, RTSP_LOGIN_DIGEST, RTSP_AUTH_RIGHT },
        { "u", "p:1", RTSP_AUTH_SHA256, RTSP_LOGIN_DIGEST, RTSP_AUTH_RIGHT },
        { "u", "p:1", RTSP_AUTH_BASIC | RTSP_AUTH_MD5, RTSP_LOGIN_DIGEST, RTSP_AUTH_RIGHT },
        { "u", "p:1", ALL, RTSP_LOGIN_DIGEST, RTSP_AUTH_RIGHT },
        { "v", "", ALL, RTSP_LOGIN_DIGEST, RTSP_AUTH_RIGHT },
        { "u", "p", RTSP_AUTH_BASIC, RTSP_LOGIN_BASIC, RTSP_AUTH_WRONG },
        { "u", "p", ALL, RTSP_LOGIN_DIGEST, RTSP_AUTH_WRONG },
        { "w", "", ALL, RTSP_LOGIN_DIGEST, RTSP_AUTH_WRONG },
        { "w", "", RTSP_AUTH_BASIC, RTSP_LOGIN_BASIC, RTSP_AUTH_WRONG },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtsp_auth a = { .failures = 0 };
        struct rtsp_login l;

        rtsp_login_init(&l, rows[i].user, rows[i].password);
        rtsp_login_begin(&l);
        assert_int_equal(say(&a, rows[i].schemes, &l, "rtsp://h/a", 0), RTSP_AUTH_NOTHING);
        assert_int_equal(a.failures, 0);
        assert_true(refuse(&a, rows[i].schemes, &l, 0));
        assert_int_equal(l.scheme, rows[i].scheme);
        assert_int_equal(say(&a, rows[i].schemes, &l, "rtsp://h/a", 0), rows[i].said);
        assert_int_equal(a.failures, rows[i].said == RTSP_AUTH_WRONG);
        if (rows[i].said == RTSP_AUTH_WRONG)
            assert_false(refuse(&a, rows[i].schemes, &l, 0));
        rtsp_login_fini(&l);
    }
}

/* After some time a nonce is stale: that is not a failure, and the client need not ask its user. */
static void nonces_end(void **state)
{
    struct rtsp_auth a = { .failures = 0 };
    struct rtsp_login l;
    char old[RTSP_NONCE_SIZE];
    co_usec now = 0;

    (void)state;
    rtsp_login_init(&l, "u", "p:1");
    rtsp_login_begin(&l);
    assert_true(refuse(&a, ALL, &l, now));
    memcpy(old, a.nonce, sizeof(old));
    now = RTSP_NONCE_TIME - 1;
    assert_int_equal(say(&a, ALL, &l, "rtsp://h/a", now), RTSP_AUTH_RIGHT);
    now = RTSP_NONCE_TIME;
    rtsp_login_begin(&l);
    assert_int_equal(say(&a, ALL, &l, "rtsp://h/a", now), RTSP_AUTH_STALE);
    assert_true(refuse(&a, ALL, &l, now));
    assert_string_not_equal(old, a.nonce);
    assert_int_equal(say(&a, ALL, &l, "rtsp://h/a", now), RTSP_AUTH_RIGHT);
    assert_int_equal(a.failures, 0);
    /* a client that ignores it is told once */
    now += RTSP_NONCE_TIME;
    assert_int_equal(say(&a, ALL, &l, "rtsp://h/a", now), RTSP_AUTH_STALE);
    assert_int_equal(say(&a, ALL, &l, "rtsp://h/a", now), RTSP_AUTH_WRONG);
    rtsp_login_fini(&l);
}

/* A wrong password with a stale nonce is a wrong password, too. */
static void guesses_are_counted(void **state)
{
    struct rtsp_auth a = { .failures = 0 };

    (void)state;
    for (unsigned i = 1; i <= RTSP_AUTH_FAILURES; i++) {
        struct wr w;

        begin(&w, RTSP_DESCRIBE, "rtsp://h/a");
        rtsp_put_field(&w, "Authorization", "Digest username=\"u\", realm=\"SRS\", nonce=\"x\", "
                       "uri=\"rtsp://h/a\", response=\"00000000000000000000000000000000\"");
        assert_int_equal(ask(&a, ALL, &w, 0), RTSP_AUTH_WRONG);
        assert_int_equal(a.failures, i);
    }
}

/* The uri of the credentials, and the url of the request. */
static void uris(void **state)
{
    static const struct {
        const char *uri, *url;
        enum rtsp_auth_result said;
    } rows[] = {
        { "rtsp://h/live/a", "rtsp://h/live/a", RTSP_AUTH_RIGHT },
        { "rtsp://h/live/a/", "rtsp://h/live/a", RTSP_AUTH_RIGHT },
        { "rtsp://h/live/a", "rtsp://h/live/a/trackID=0", RTSP_AUTH_RIGHT },
        { "rtsp://h/live/a", "rtsp://h/live/a?k=v/trackID=0", RTSP_AUTH_RIGHT },
        { "/live/a", "rtsp://h/live/a/trackID=0", RTSP_AUTH_RIGHT },
        { "rtsp://10.0.0.1:8554/live/a", "rtsp://h/live/a", RTSP_AUTH_RIGHT },
        { "*", "*", RTSP_AUTH_RIGHT },
        { "rtsp://h/live/b", "rtsp://h/live/a", RTSP_AUTH_WRONG },
        { "rtsp://h/live/a", "rtsp://h/live/ab", RTSP_AUTH_WRONG },
        { "rtsp://h/live/a/trackID=0", "rtsp://h/live/a", RTSP_AUTH_WRONG },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtsp_auth a = { .failures = 0 };
        struct rtsp_login l;
        struct wr w;

        print_message("  %s for %s\n", rows[i].uri, rows[i].url);
        rtsp_login_init(&l, "u", "p:1");
        assert_true(refuse(&a, RTSP_AUTH_MD5, &l, 0));
        begin(&w, RTSP_SETUP, rows[i].url);
        rtsp_login_put(&l, &w, "SETUP", rows[i].uri);
        assert_int_equal(ask(&a, RTSP_AUTH_MD5, &w, 0), rows[i].said);
        rtsp_login_fini(&l);
    }
}

/* Credentials of a scheme that was not offered prove nothing, and count only as an attempt. */
static void other_credentials(void **state)
{
    static const struct {
        const char *value;
        unsigned schemes;
        enum rtsp_auth_result said;
    } rows[] = {
        { "", ALL, RTSP_AUTH_NOTHING },
        { "Bearer abc", ALL, RTSP_AUTH_NOTHING },
        { "Basic dTpwOjE=", RTSP_AUTH_MD5, RTSP_AUTH_NOTHING },
        { "Basic dTpwOjE=", ALL, RTSP_AUTH_RIGHT },
        { "Basic dXA=", ALL, RTSP_AUTH_WRONG },
        { "Basic !", ALL, RTSP_AUTH_WRONG },
        { "Digest ", ALL, RTSP_AUTH_NOTHING },
        { "Digest x", ALL, RTSP_AUTH_WRONG },
        { "Digest username=\"u\", algorithm=SHA-512", ALL, RTSP_AUTH_WRONG },
        { "Digest username=\"u\", qop=auth-int, realm=\"SRS\"", ALL, RTSP_AUTH_WRONG },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtsp_auth a = { .failures = 0 };
        struct wr w;

        begin(&w, RTSP_DESCRIBE, "rtsp://h/a");
        rtsp_put_field(&w, "Authorization", rows[i].value);
        assert_int_equal(ask(&a, rows[i].schemes, &w, 0), rows[i].said);
    }
}

/* Challenges of cameras, and the beginning of the responses. */
static void cameras(void **state)
{
    static const struct {
        const char *name, *fields, *want;
        bool again;
    } rows[] = {
        { "Basic alone", "WWW-Authenticate: Basic realm=\"x\"\r\n", "Authorization: Basic dTpw\r\n",
          true },
        { "Digest before Basic", "WWW-Authenticate: Basic realm=\"x\"\r\n"
          "WWW-Authenticate: Digest realm=\"IP Camera(1)\", nonce=\"abc\", stale=\"FALSE\"\r\n",
          "Authorization: Digest username=\"u\", realm=\"IP Camera(1)\", nonce=\"abc\", "
          "uri=\"rtsp://h/a\", response=\"", true },
        { "qop", "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n",
          "Authorization: Digest username=\"u\", realm=\"r\", nonce=\"n\", uri=\"rtsp://h/a\", "
          "response=\"", true },
        { "the best of all", "WWW-Authenticate: Digest realm=\"r\", nonce=\"5\"\r\n"
          "WWW-Authenticate: Digest realm=\"r\", nonce=\"256\", algorithm=\"SHA-256\"\r\n",
          "Authorization: Digest username=\"u\", realm=\"r\", nonce=\"256\", ", true },
        { "quotes in the realm", "WWW-Authenticate: Digest realm=\"a \\\"b\\\"\", nonce=\"n\"\r\n",
          "Authorization: Digest username=\"u\", realm=\"a \\\"b\\\"\", nonce=\"n\", ", true },
        { "auth-int alone", "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=auth-int\r\n",
          "", false },
        { "MD5-sess", "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", algorithm=MD5-sess\r\n",
          "", false },
        { "nothing", "", "", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[1000];
        struct rtsp_login l;
        struct rtsp_text t;
        struct wr w;

        print_message("  %s\n", rows[i].name);
        (void)snprintf(text, sizeof(text), "RTSP/1.0 401 x\r\nCSeq: 1\r\n%s\r\n", rows[i].fields);
        rtsp_login_init(&l, "u", "p");
        rtsp_login_begin(&l);
        assert_int_equal(rtsp_login_challenged(&l, rtsp_text_read(&t, text, strlen(text))),
                         rows[i].again);
        rtsp_text_free(&t);
        wr_init(&w, 1000);
        rtsp_login_put(&l, &w, "DESCRIBE", "rtsp://h/a");
        wr_u8(&w, 0);
        assert_memory_equal(w.buf, rows[i].want, strlen(rows[i].want) + !*rows[i].want);
        wr_free(&w);
        rtsp_login_fini(&l);
    }
}

/* A name from an escaped url stays in its line, and in its quotes. */
static void names_stay_in_quotes(void **state)
{
    static const char answer[] = "RTSP/1.0 401 x\r\n"
                                 "WWW-Authenticate: Digest realm=\"r\", nonce=n\r\n\r\n";
    struct rtsp_login l;
    struct rtsp_text t;
    struct wr w;

    (void)state;
    rtsp_login_init(&l, "a\"b\\\r\nX: y", "p");
    assert_true(rtsp_login_challenged(&l, rtsp_text_read(&t, answer, strlen(answer))));
    rtsp_text_free(&t);
    wr_init(&w, 1000);
    rtsp_login_put(&l, &w, "PLAY", "/");
    wr_u8(&w, 0);
    assert_non_null(strstr((char *)w.buf, "username=\"a\\\"b\\\\X: y\", "));
    wr_free(&w);
    rtsp_login_fini(&l);
}

/* The exact text of our server. */
static void offers(void **state)
{
    static const struct {
        unsigned schemes;
        const char *want;
    } rows[] = {
        { RTSP_AUTH_BASIC, "WWW-Authenticate: Basic realm=\"SRS\"\r\n" },
        { RTSP_AUTH_BASIC | RTSP_AUTH_MD5,
          "WWW-Authenticate: Digest realm=\"SRS\", nonce=\"N\"\r\n"
          "WWW-Authenticate: Basic realm=\"SRS\"\r\n" },
        { ALL, "WWW-Authenticate: Digest realm=\"SRS\", nonce=\"N\", algorithm=SHA-256\r\n"
          "WWW-Authenticate: Digest realm=\"SRS\", nonce=\"N\"\r\n"
          "WWW-Authenticate: Basic realm=\"SRS\"\r\n" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct rtsp_auth_rules rules = rules_of(rows[i].schemes);
        struct rtsp_auth a = { .nonce = "N", .created_at = 0 };
        struct wr w;

        wr_init(&w, 1000);
        rtsp_auth_put(&a, &rules, 1, &w);
        wr_u8(&w, 0);
        assert_string_equal((char *)w.buf, rows[i].want);
        wr_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(responses), TEST(challenges), TEST(basic), TEST(both_sides), TEST(nonces_end),
        TEST(guesses_are_counted), TEST(uris), TEST(other_credentials), TEST(cameras),
        TEST(names_stay_in_quotes), TEST(offers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
