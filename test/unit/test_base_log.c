/* SPDX-License-Identifier: MIT */
/* test_base_log.c - log lines that peers cause: which of their texts they contain, and how many lines. */
#include "base/log.h"
#include "base/log_clean.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- content */

static const struct {
    const char *name, *text, *shown, *hidden; /* hidden NULL: unchanged */
} texts[] = {
    { "plain", "client finished, app=live", "client finished, app=live", NULL },
    { "a line of its own", "x\n[2026-01-02 03:04:05.678][ERROR]", "x?[2026-01-02 03:04:05.678][ERROR]", NULL },
    { "over the one before", "x\r[2026", "x?[2026", NULL },
    { "colours", "\033[31mred\033[0m", "?[31mred?[0m", NULL },
    { "all controls", "\001\t\b\177z", "????z", NULL },
    { "C1: CSI, next line", "\302\233" "2Jx\302\205y", "?2Jx?y", NULL },
    { "C1 in one byte", "\233" "2J\205", "?2J?", NULL },
    { "no UTF-8", "a\377\300\257\355\240\200b", "a??????b", NULL },
    { "cut in a character", "a\347\233", "a??", NULL },
    { "other scripts", "\347\233\264\346\222\255 \303\251 \360\237\216\245", "\347\233\264\346\222\255 \303\251 \360\237\216\245", NULL },
    { "line separator, direction", "a\342\200\250b\342\200\256c\342\201\246d", "a?b?c?d", NULL },
    { "dashes stay", "a\342\200\223b", "a\342\200\223b", NULL },
    { "parameters", "tcUrl=rtmp://h/live?token=x&a=b, pageUrl=http://p?q, vhost=v",
      "tcUrl=rtmp://h/live?token=x&a=b, pageUrl=http://p?q, vhost=v",
      "tcUrl=rtmp://h/live?***, pageUrl=http://p?***, vhost=v" },
    { "with commas", "url=/x?a=1,b=2, status=200", "url=/x?a=1,b=2, status=200",
      "url=/x?***, status=200" },
    { "in quotes", "{\"param\":\"?token=x\",\"code\":0}", "{\"param\":\"?token=x\",\"code\":0}",
      "{\"param\":\"?***\",\"code\":0}" },
    { "on a command line", "ffmpeg -i rtmp://h/a/s?t=1 -y x?b", "ffmpeg -i rtmp://h/a/s?t=1 -y x?b",
      "ffmpeg -i rtmp://h/a/s?*** -y x?***" },
    { "questions", "ours? see ulimit -n", "ours? see ulimit -n", NULL },
    { "name and password", "to rtmp://me:secret@h:1935/a, x", "to rtmp://me:secret@h:1935/a, x",
      "to rtmp://***@h:1935/a, x" },
    { "a name alone", "rtsp://TOKEN@h/a", "rtsp://TOKEN@h/a", "rtsp://***@h/a" },
    { "one slash, none", "\"rtsp:/me:secret@h\" me:secret@h/x", "\"rtsp:/me:secret@h\" me:secret@h/x",
      "\"rtsp:/***@h\" ***@h/x" },
    { "escaped", "rtsp:%2F%2Fme%3Asecret%40h/live/x%3Ftoken=1 y", "rtsp:%2F%2Fme%3Asecret%40h/live/x%3Ftoken=1 y",
      "rtsp:%2F%2F***%40h/live/x%3F*** y" },
    { "values of secrets", "stream=x;token=abc&k=v, Api_Key%3Dabc,m=1 {x=1,secret=a b}",
      "stream=x;token=abc&k=v, Api_Key%3Dabc,m=1 {x=1,secret=a b}",
      "stream=x;token=***&k=***, Api_Key%3D***,m=1 {x=1,secret=*** b}" },
    { "escaped parameters", "x%26sid%3Dabc y%26token=1 %2F:a@", "x%26sid%3Dabc y%26token=1 %2F:a@",
      "x%26sid%3D*** y%26token=*** %2F***@" },
    { "quotes alone", "\" :   \"a\" :\"", "\" :   \"a\" :\"", NULL },
    { "in JSON", "{\"token\": \"a=b\",\"code\":0,\"key\":\"x\"}", "{\"token\": \"a=b\",\"code\":0,\"key\":\"x\"}",
      "{\"token\": \"***\",\"code\":0,\"key\":\"***\"}" },
    { "other values", "keys=3, monkey=1, app=live, key 12, code=2055(TOKEN)(x) 12:30",
      "keys=3, monkey=1, app=live, key 12, code=2055(TOKEN)(x) 12:30", NULL },
    { "none", "rtmp://h:1935/a@b", "rtmp://h:1935/a@b", NULL },
    { "HTTP", "Authorization: Bearer abc.d, Basic YTpi", "Authorization: Bearer abc.d, Basic YTpi",
      "Authorization: Bearer ***, Basic ***" },
    { "session description of WebRTC", "a=ice-ufrag:Zp/Q\r\na=ice-pwd:9e1/Xa+\r\na=fingerprint:sha-256 AB:CD",
      "a=ice-ufrag:Zp/Q??a=ice-pwd:9e1/Xa+??a=fingerprint:sha-256 AB:CD",
      "a=ice-ufrag:Zp/Q??a=ice-pwd:***??a=fingerprint:sha-256 AB:CD" },
    { "SDES, RFC 4568", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0Rm/cA+|2^20|1:4 KDR=1",
      "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0Rm/cA+|2^20|1:4 KDR=1",
      "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:*** KDR=1" },
    { "MIKEY, RFC 4567", "a=key-mgmt:mikey AQAFgM0X==\r\nm=", "a=key-mgmt:mikey AQAFgM0X==??m=",
      "a=key-mgmt:mikey ***??m=" },
    { "a colon behind an address", "forward to srt://h:1?streamid=a:b: publishing",
      "forward to srt://h:1?streamid=a:b: publishing", "forward to srt://h:1?***: publishing" },
    { "controls in what is hidden", "a?b\nc", "a?b?c", "a?***?c" },
    { "a sign that stands for a control is no query", "a\001b", "a?b", NULL },
    { "empty", "", "", NULL },
};

static void what_lines_show(void **state)
{
    char got[200];

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        const char *want[] = { texts[i].shown, texts[i].hidden ? texts[i].hidden : texts[i].shown };

        for (int hide = 0; hide < 2; hide++) {
            size_t n = log_clean(got, sizeof(got) - 1, texts[i].text, hide);

            got[n] = '\0';
            if (strcmp(got, want[hide]) != 0)
                fail_msg("%s, hide %d: %s", texts[i].name, hide, got);
            for (size_t room = 0; room < n; room++) { /* never over it */
                memset(got, '#', sizeof(got));
                assert_true(log_clean(got, room, texts[i].text, hide) <= room);
                assert_int_equal(got[room], '#');
            }
        }
    }
}

/* ---- how many */

static void a_bucket(void **state)
{
    const struct log_rate rate = { 2, 5 }, none = { 0, 5 };
    int64_t full_at = 0;
    int n = 0;

    (void)state;
    while (n < 100 && log_budget_take(&full_at, &rate, 1000))
        n++;
    assert_int_equal(n, 5);
    assert_false(log_budget_take(&full_at, &rate, 1000 + 499000));
    assert_true(log_budget_take(&full_at, &rate, 1000 + 500000));
    assert_false(log_budget_take(&full_at, &rate, 1000 + 500000));
    for (n = 0; n < 100 && log_budget_take(&full_at, &rate, 3600000000); n++)
        continue;
    assert_int_equal(n, 5); /* unused budget is not kept */
    full_at = 0;
    for (n = 0; n < 1000; n++)
        assert_true(log_budget_take(&full_at, &none, 1000));
}

static struct log_budget *now_runs;
static char lines[1 << 20];
static size_t size;

static void keep(enum log_level level, const char *text, size_t n)
{
    (void)level;
    assert_true(size + n < sizeof(lines));
    memcpy(lines + size, text, n);
    size += n;
    lines[size] = '\0';
}

static struct log_budget *who_runs(void)
{
    return now_runs;
}

static size_t count(const char *what)
{
    size_t n = 0;

    for (const char *p = strstr(lines, what); p; p = strstr(p + 1, what))
        n++;
    return n;
}

static int begin(void **state)
{
    const struct log_setup setup = { LOG_TRACE, false, NULL, keep, who_runs };
    const struct log_rules rules = { false, { 1, 30 }, { 1, 200 }, { 1, 100 } };

    (void)state;
    log_init(&setup);
    log_rule(&rules);
    now_runs = NULL;
    size = 0;
    lines[0] = '\0';
    return 0;
}

static int end(void **state)
{
    const struct log_setup setup = { LOG_TRACE, false, NULL, NULL, NULL };
    const struct log_rules rules = { true, { 0, 0 }, { 0, 0 }, { 0, 0 } };

    (void)state;
    now_runs = NULL;
    log_report_left_out();
    log_init(&setup);
    log_rule(&rules);
    return 0;
}

static void parameters_of_our_own(void **state)
{
    (void)state;
    log_trace("ws://h/a?key=1");
    log_public("http://h/b?app=live");
    log_trace("http://h/c?key=2");
    assert_int_equal(count("a?***"), 1);
    assert_int_equal(count("b?app=live"), 1);
    assert_int_equal(count("c?***"), 1);
}

static void one_who_talks(void **state)
{
    struct log_budget b = { .source = LOG_CLIENT };

    (void)state;
    now_runs = &b;
    for (int i = 0; i < 10000; i++)
        log_trace("player pauses");
    assert_in_range(count("pauses"), 30, 31);
    log_error("a fault of ours");
    log_always(LOG_TRACE, "statistics");
    assert_int_equal(count("a fault of ours"), 1);
    assert_int_equal(count("statistics"), 1);
    now_runs = NULL;
    log_warn("the server's own");
    assert_int_equal(count("the server's own"), 1);
    now_runs = &b;
    b.full_at = 0; /* time passes */
    log_trace("goes on");
    assert_non_null(strstr(lines, "lines more of this client were left out: over limits.log_lines\n"));
    assert_true(strstr(lines, "left out") < strstr(lines, "goes on"));
    assert_int_equal(b.left_out, 0);
}

static void many_who_come(void **state)
{
    struct log_budget b;

    (void)state;
    now_runs = &b;
    for (int i = 0; i < 10000; i++) {
        b = (struct log_budget){ .source = LOG_UNTRUSTED };
        log_trace("client ip=1.2.3.4:%d", i);
        log_warn("denied");
        log_forget(&b);
    }
    assert_in_range(count("\n"), 200, 210);
    b = (struct log_budget){ .source = LOG_CLIENT };
    log_trace("one who plays");
    assert_int_equal(count("one who plays"), 1);
    now_runs = NULL;
    for (int i = 0; i < 300; i++)
        log_trace("ours");
    assert_int_equal(count("ours"), 300);
    log_report_left_out();
    assert_in_range(count("neither publish nor play were left out: over limits.log_strangers"), 1, 2);
}

/* An admitted client returns often; clients of other addresses lose nothing. */
static void one_who_comes_again(void **state)
{
    struct log_budget b;

    (void)state;
    now_runs = &b;
    for (int i = 0; i < 10000; i++) {
        b = (struct log_budget){ .source = LOG_CLIENT };
        log_budget_from(&b, i % 2 ? "192.0.2.7" : "::ffff:192.0.2.7", 1);
        log_trace("plays");
        log_trace("has gone");
        log_forget(&b);
    }
    assert_in_range(count("plays") + count("has gone"), 100, 110);
    for (int i = 0; i < 50; i++) {
        char text[32];

        (void)snprintf(text, sizeof(text), "192.0.2.%d", 8 + i);
        b = (struct log_budget){ .source = LOG_CLIENT };
        log_budget_from(&b, text, 1);
        log_trace("another one");
    }
    assert_int_equal(count("another one"), 50);
    b = (struct log_budget){ .source = LOG_CLIENT };
    log_budget_from(&b, NULL, 10);
    log_trace("of a private network");
    assert_int_equal(count("of a private network"), 1);
    log_report_left_out();
    assert_in_range(count("left out, the last one of 192.0.2.7: over limits.log_address"), 1, 2);
}

/* A private address may stand for many clients: it has ten times the budget. */
static void private_ones_that_come_again(void **state)
{
    static const struct {
        const char *address, *reported;
    } all[] = { { "10.0.0.5", "10.0.0.5" }, { "127.0.0.1", "127.0.0.1" },
                { "fd00::1", "fd00::/64" } };
    struct log_budget b;
    char report[80];

    (void)state;
    now_runs = &b;
    for (size_t k = 0; k < COUNT(all); k++) {
        size = 0;
        for (int i = 0; i < 10000; i++) {
            b = (struct log_budget){ .source = LOG_CLIENT };
            log_budget_from(&b, all[k].address, 10);
            log_trace("plays");
            log_forget(&b);
        }
        assert_in_range(count("plays"), 1000, 1010);
        log_report_left_out();
        (void)snprintf(report, sizeof(report), "left out, the last one of %s:", all[k].reported);
        assert_in_range(count(report), 1, 2);
    }
    now_runs = NULL;
}

/* All clients together have 50 times the budget of one address, regardless of the number of addresses. */
static void clients_of_many_networks(void **state)
{
    struct log_budget b;

    (void)state;
    now_runs = &b;
    for (int i = 0; i < 20000; i++) {
        char text[40];

        (void)snprintf(text, sizeof(text), "2001:db8:%x::1", i);
        b = (struct log_budget){ .source = LOG_CLIENT };
        log_budget_from(&b, text, 1);
        log_trace("plays");
        log_forget(&b);
    }
    assert_in_range(count("plays"), 5000, 5010);
    now_runs = NULL;
}

/* ---- long lines */

static char long_text[6001];

static const char *text_of(size_t n)
{
    memset(long_text, 'x', n);
    long_text[n] = '\0';
    return long_text;
}

/* A budget is a number of bytes, regardless of the length of lines. */
static void bytes_count(void **state)
{
    static const struct {
        const char *name;
        enum log_source source;
        size_t line, most; /* bytes of all lines: 200 for each unit, and one line more */
    } rows[] = {
        { "short lines of a connection", LOG_CLIENT, 20, 30 * 200 },
        { "long lines of a connection", LOG_CLIENT, 2000, 30 * 200 + 2200 },
        { "longest lines of a connection", LOG_CLIENT, 6000, 30 * 200 + 6200 },
        { "short lines of untrusted clients", LOG_UNTRUSTED_ALL, 20, 200 * 200 },
        { "long lines of untrusted clients", LOG_UNTRUSTED_ALL, 6000, 200 * 200 + 1200 },
    };

    (void)state;
    for (size_t k = 0; k < COUNT(rows); k++) {
        struct log_budget b = { .source = rows[k].source };

        b.from[0] = (uint8_t)(k + 1);
        now_runs = &b;
        size = 0;
        for (int i = 0; i < 1000; i++)
            log_trace("%s", text_of(rows[k].line));
        if (size > rows[k].most + 400) /* and the note about the rest */
            fail_msg("%s: %zu bytes", rows[k].name, size);
        assert_true(size > 1000);
        now_runs = NULL;
        (void)end(state);
        (void)begin(state);
    }
}

static void clients_of_one_address_by_bytes(void **state)
{
    struct log_budget b;

    (void)state;
    now_runs = &b;
    for (int i = 0; i < 1000; i++) {
        b = (struct log_budget){ .source = LOG_CLIENT };
        log_budget_from(&b, "192.0.2.9", 1);
        log_trace("%s", text_of(5000));
        log_forget(&b);
    }
    assert_in_range(size, 100 * 200, 100 * 200 + 5200 + 400);
    now_runs = NULL;
}

static void a_line_of_an_untrusted_client_is_cut(void **state)
{
    const struct log_setup more = { LOG_DEBUG, false, NULL, keep, who_runs };
    const struct log_rules all = { false, { 0, 0 }, { 0, 0 }, { 0, 0 } };
    struct log_budget b = { .source = LOG_UNTRUSTED };

    for (size_t n = 900; n < 1100; n++) { /* not inside of a character */
        (void)end(state);
        (void)begin(state);
        now_runs = &b;
        b.full_at = 0;
        log_trace("%s\346\222\255\346\222\255%s", text_of(n), "tail");
        assert_true(size < 1024 + 40);
        assert_null(strchr(lines, '?'));
    }
    (void)end(state);
    (void)begin(state);
    now_runs = &b;
    b.full_at = 0;
    log_trace("%s", text_of(6000));
    assert_true(size < 1024 + 40);
    assert_non_null(strstr(lines, "x ... and "));
    assert_non_null(strstr(lines, " bytes more\n"));
    b = (struct log_budget){ .source = LOG_CLIENT, .from = { 99 } };
    size = 0;
    log_trace("%s", text_of(6000));
    assert_true(size > 6000);
    b = (struct log_budget){ .source = LOG_UNTRUSTED };
    log_rule(&all);
    size = 0;
    log_trace("%s", text_of(6000));
    assert_true(size > 6000); /* without limits */
    log_init(&more);
    size = 0;
    log_debug("%s", text_of(6000));
    assert_true(size > 6000); /* at a more detailed level */
    now_runs = NULL;
}

/* Errors have a separate budget, so they appear even if that of lines is used up. */
static void errors_that_a_peer_causes(void **state)
{
    struct log_budget b = { .source = LOG_UNTRUSTED };

    (void)state;
    now_runs = &b;
    for (int i = 0; i < 1000; i++)
        log_trace("talks");
    for (int i = 0; i < 1000; i++)
        log_error("fault");
    assert_in_range(count("fault"), 200, 210);
    now_runs = NULL;
    size = 0;
    for (int i = 0; i < 1000; i++)
        log_error("fault");
    assert_int_equal(count("fault"), 1000);
    now_runs = NULL;
}

/* For IPv6 the network counts, regardless of the number of addresses. */
static void one_with_many_addresses(void **state)
{
    struct log_budget b;

    (void)state;
    now_runs = &b;
    for (int i = 0; i < 10000; i++) {
        char text[40];

        (void)snprintf(text, sizeof(text), "2001:db8:0:1::%x", i);
        b = (struct log_budget){ .source = LOG_CLIENT };
        log_budget_from(&b, text, 1);
        log_trace("plays");
    }
    assert_in_range(count("plays"), 100, 110);
    b = (struct log_budget){ .source = LOG_CLIENT };
    log_budget_from(&b, "2001:db8:0:2::1", 1);
    log_trace("a neighbour");
    assert_int_equal(count("a neighbour"), 1);
    log_report_left_out();
    assert_in_range(count("of 2001:db8:0:1::/64: over limits.log_address"), 1, 2);
}

/* Addresses beyond the table share a budget, and write no more. */
static void a_great_many_addresses(void **state)
{
    static struct log_addresses t;
    const struct log_rate rate = { 1, 10 };
    unsigned taken = 0;

    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < 20000; i++) {
            const uint8_t v4[4] = { 10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i };
            uint8_t of[IP_SIZE];

            ip_from_v4(v4, of);
            taken += log_budget_take(log_addresses_at(&t, of, 1000000), &rate, 1000000);
        }
    }
    assert_in_range(taken, LOG_ADDRESSES * 9, LOG_ADDRESSES * 10);
}

static void a_forged_line(void **state)
{
    (void)state;
    log_trace("connect app, tcUrl=%s", "rtmp://h/live\n[2026-01-01 00:00:00.000][ERROR][1][-][0] x");
    assert_int_equal(count("\n"), 1);
}

/* ---- destinations of streams */

static void stream_keys(void **state)
{
    static const struct {
        const char *url, *key, *name; /* with the last part hidden, and without */
    } targets[] = {
        { "rtmp://h/app/KEY", "rtmp://h/app/***", "rtmp://h/app/KEY" },
        { "rtmps://me:pw@h:443/a/b/KEY?x=1/2", "rtmps://***@h:443/a/b/***", "rtmps://***@h:443/a/b/KEY?***" },
        { "rtmp://h/app/KEY/", "rtmp://h/app/***", "rtmp://h/app/KEY/" },
        { "rtmp://h:1935", "rtmp://h:1935", "rtmp://h:1935" },
        { "rtmp://h/", "rtmp://h/", "rtmp://h/" },
        { "srt://h:1?streamid=x", "srt://h:1?***", "srt://h:1?***" },
        { "rtmp://[::1]:1935/app?b=1/KEY", "rtmp://[::1]:1935/***", "rtmp://[::1]:1935/app?***" },
        { "", "", "" }, { "x", "x", "x" }, { "x:", "x:", "x:" }, { "x://", "x://", "x://" },
    };
    static const struct {
        const char *text, *elsewhere, *all;
    } said[] = {
        { "ffmpeg -i rtmp://127.0.0.1/a/s -f flv rtmps://h/app/KEY?x -y", "ffmpeg -i rtmp://127.0.0.1/a/s -f flv rtmps://h/app/*** -y",
          "ffmpeg -i rtmp://127.0.0.1/a/*** -f flv rtmps://h/app/*** -y" },
        { "{\"urls\":[\"rtmp://h/a/K\",\"rtmp://localhost:1/a/K\"]}", "{\"urls\":[\"rtmp://h/a/***\",\"rtmp://localhost:1/a/K\"]}",
          "{\"urls\":[\"rtmp://h/a/***\",\"rtmp://localhost:1/a/***\"]}" },
        { "[f=flv]rtmp://h/a/KEY|[f=flv]rtmps://i/b/KEY", "[f=flv]rtmp://h/a/***|[f=flv]rtmps://i/b/***",
          "[f=flv]rtmp://h/a/***|[f=flv]rtmps://i/b/***" },
        { "rtmp://h/a/KEY: Broken pipe", "rtmp://h/a/***: Broken pipe", "rtmp://h/a/***: Broken pipe" },
        { "rtmp:// rtmp rtmp://h http://h/a/K", "rtmp:// rtmp rtmp://h http://h/a/K", "rtmp:// rtmp rtmp://h http://h/a/K" },
        { "", "", "" },
    };

    (void)state;
    for (size_t i = 0; i < 2 * COUNT(targets); i++) {
        char *got = log_hide_target(targets[i / 2].url, i % 2);

        assert_string_equal(got, i % 2 ? targets[i / 2].name : targets[i / 2].key);
        free(got);
    }
    for (size_t i = 0; i < 2 * COUNT(said); i++) {
        char *got = log_hide_keys(said[i / 2].text, i % 2);

        assert_string_equal(got, i % 2 ? said[i / 2].all : said[i / 2].elsewhere);
        free(got);
    }
}

static void a_key_in_an_error(void **state)
{
    char text[400];
    err_t err = err_new(ERR_RTMP_REJECTED, "K3Y-1 of K3Y-1K3Y-1 is wrong");

    (void)state;
    err = err_wrap(err, "publish K3Y-1");
    err_hide(err, "wr"); /* too short to be a secret */
    err_hide(err, NULL);
    err_hide(NULL, "K3Y-1");
    err_hide(err, "K3Y-1");
    assert_string_equal(err_text(err, text, sizeof(text)),
                        "code=2009(RTMP_REJECTED)(Rejected by the RTMP peer) : publish *** : *** of ****** is wrong");
    err_free(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_lines_show),
        TEST(stream_keys),
        TEST(a_key_in_an_error),
        TEST(a_bucket),
        cmocka_unit_test_setup_teardown(parameters_of_our_own, begin, end),
        cmocka_unit_test_setup_teardown(one_who_talks, begin, end),
        cmocka_unit_test_setup_teardown(many_who_come, begin, end),
        cmocka_unit_test_setup_teardown(one_who_comes_again, begin, end),
        cmocka_unit_test_setup_teardown(one_with_many_addresses, begin, end),
        cmocka_unit_test(a_great_many_addresses),
        cmocka_unit_test_setup_teardown(private_ones_that_come_again, begin, end),
        cmocka_unit_test_setup_teardown(bytes_count, begin, end),
        cmocka_unit_test_setup_teardown(clients_of_one_address_by_bytes, begin, end),
        cmocka_unit_test_setup_teardown(a_line_of_an_untrusted_client_is_cut, begin, end),
        cmocka_unit_test_setup_teardown(errors_that_a_peer_causes, begin, end),
        cmocka_unit_test_setup_teardown(a_forged_line, begin, end),
        cmocka_unit_test_setup_teardown(clients_of_many_networks, begin, end), /* fills the table */
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
