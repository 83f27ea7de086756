/* SPDX-License-Identifier: MIT */
/* test_load_parts.c - the parts of the load tools that need no server. */
#include "av/nalu.h"
#include "format/flv/flv.h"
#include "tools/load/flv.h"
#include "tools/load/stat.h"
#include "tools/load/marker.h"
#include "tools/load/media.h"
#include "tools/load/opts.h"
#include "tools/load/url.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void test_hist(void **state)
{
    struct load_hist h = { 0 };
    uint64_t v;

    (void)state;
    assert_int_equal(load_hist_at(&h, 0.5), 0);
    for (int i = 1; i <= 1000; i++)
        load_hist_add(&h, i * 100);
    assert_int_equal(load_hist_at(&h, 0), 100);
    for (int p = 1; p <= 100; p++) {
        v = load_hist_at(&h, p / 100.0);
        assert_in_range(v, (uint64_t)p * 1000, (uint64_t)p * 1032);
    }
    assert_int_equal(load_hist_at(&h, 1), 100000);
    assert_int_equal(h.max, 100000);
    assert_true(load_hist_mean(&h) > 50049 && load_hist_mean(&h) < 50051);
    load_hist_add(&h, -5);
    load_hist_add(&h, INT64_MAX);
    assert_int_equal(load_hist_at(&h, 0), 0);
    assert_int_equal(load_hist_at(&h, 1), INT64_MAX);
    h = (struct load_hist){ 0 };
    for (int i = 0; i < 32; i++)
        load_hist_add(&h, i);
    for (uint64_t i = 0; i < 32; i++) /* small values are exact */
        assert_int_equal(load_hist_at(&h, (double)(i + 1) / 32), i);
}

static void test_urls(void **state)
{
    static const struct {
        const char *text, *host, *tc_url, *app, *stream;
        int port;
        enum err_code code;
    } rows[] = {
        { "rtmp://h/live/a", "h", "rtmp://h/live", "live", "a", 1935, ERR_OK },
        { "rtmp://h:19/live/x/a?k=/v", "h", "rtmp://h:19/live/x", "live/x", "a?k=/v", 19, ERR_OK },
        { "rtmp://[::1]:19/live/a", "::1", "rtmp://[::1]:19/live", "live", "a", 19, ERR_OK },
        { "rtmp://[::1]/live/a", "::1", "rtmp://[::1]/live", "live", "a", 1935, ERR_OK },
        { "rtmp://h/live?vhost=v/a", "", "", "", "", 0, ERR_CONF },
        { "rtmp://h/live", "", "", "", "", 0, ERR_CONF },
        { "rtmp://h/live/", "", "", "", "", 0, ERR_CONF },
        { "rtmp://h//a", "", "", "", "", 0, ERR_CONF },
        { "rtmp://h", "", "", "", "", 0, ERR_CONF },
        { "rtmp:///live/a", "", "", "", "", 0, ERR_CONF },
        { "rtmp://h:x/live/a", "", "", "", "", 0, ERR_CONF },
        { "rtmp://h:99999/live/a", "", "", "", "", 0, ERR_CONF },
        { "rtmp://[::1/live/a", "", "", "", "", 0, ERR_CONF },
        { "http://h/live/a", "", "", "", "", 0, ERR_CONF },
        { "rtsp://u:p%40@h/live/a?k=v", "h", "rtsp://u:p%40@h/live/a?k=v", "", "", 554, ERR_OK },
        { "rtsp://[::1]:85/cam", "::1", "rtsp://[::1]:85/cam", "", "", 85, ERR_OK },
        { "rtsps://h", "h", "rtsps://h", "", "", 322, ERR_OK },
        { "rtsp://:554/a", "", "", "", "", 0, ERR_CONF },
    };
    char out[32];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct load_url url = { .port = 0 };

        print_message("  %s\n", rows[i].text);
        assert_err(load_url_parse(&url, rows[i].text, "rtmp rtsp rtsps"), rows[i].code);
        if (rows[i].code != ERR_OK)
            continue;
        assert_string_equal(url.host, rows[i].host);
        assert_string_equal(url.tc_url, rows[i].tc_url);
        assert_string_equal(url.app, rows[i].app);
        assert_string_equal(url.stream, rows[i].stream);
        assert_int_equal(url.port, rows[i].port);
    }
    assert_ok(load_url_expand(out, sizeof(out), "rtmp://h/l/{i}-{i}{", 42));
    assert_string_equal(out, "rtmp://h/l/42-42{");
    assert_err(load_url_expand(out, 17, "rtmp://h/l/{i}-{i}{", 42), ERR_CONF);
    assert_ok(load_url_expand(out, 18, "rtmp://h/l/{i}-{i}{", 42));
}

static void test_options(void **state)
{
    char *good[] = { "x", "-c", "5", "-r", "rtmp://h/a/b", "--ramp=100", "--json", "-t3", "--churn",
                     "2.5", "--bind", "127.0.0.2-127.0.0.4" };
    static const char *const bad[][3] = {
        { "-c", "x", "-rU" }, { "-c", "0", "-rU" }, { "-c", "1.5", "-rU" }, { "-c", NULL, NULL },
        { "-c", "inf", "-rU" }, { "-c", "nan", "-rU" }, { "-c", "1e99", "-rU" }, { "-s", "nan", "-rU" },
        { "--what", "1", "-rU" }, { "-c", "1", NULL }, { "file", NULL, NULL },
        { "--json=1", "-rU", NULL }, { "-i", "x.flv", "-rU" }, { "--bind", "-rU", NULL },
    };
    struct load_opts o;
    char ip[16];

    (void)state;
    assert_ok(load_opts_parse(&o, LOAD_PLAY, COUNT(good), good));
    assert_int_equal(o.clients, 5);
    assert_int_equal(o.repeat, 3);
    assert_string_equal(o.url, "rtmp://h/a/b");
    assert_true(o.ramp == 100 && o.churn == 2.5 && o.start == 5 && o.json);
    assert_ok(load_opts_bind(&o, 0, ip, sizeof(ip)));
    assert_string_equal(ip, "127.0.0.2");
    assert_ok(load_opts_bind(&o, 5, ip, sizeof(ip)));
    assert_string_equal(ip, "127.0.0.4");
    o.bind = "0.0.0.0-255.255.255.255"; /* as many as exist */
    assert_ok(load_opts_bind(&o, 7, ip, sizeof(ip)));
    assert_string_equal(ip, "0.0.0.7");
    o.bind = "127.0.0.4-127.0.0.2";
    assert_err(load_opts_bind(&o, 0, ip, sizeof(ip)), ERR_CONF);
    o.bind = NULL;
    assert_ok(load_opts_bind(&o, 0, ip, sizeof(ip)));
    assert_string_equal(ip, "");
    for (size_t i = 0; i < COUNT(bad); i++) {
        char *argv[4] = { "x" };
        int argc = 1;

        for (size_t k = 0; k < 3 && bad[i][k]; k++)
            argv[argc++] = (char *)(uintptr_t)bad[i][k];
        print_message("  %s\n", bad[i][0]);
        assert_err(load_opts_parse(&o, LOAD_PLAY, argc, argv), ERR_CONF);
    }
    assert_err(load_opts_parse(&o, LOAD_PUBLISH, 2, (char *[]){ "x", "-rU" }), ERR_CONF);
    assert_ok(load_opts_parse(&o, LOAD_PUBLISH, 2, (char *[]){ "x", "--help" }));
    assert_ok(load_opts_parse(&o, LOAD_RTSP, 8, (char *[]){ "x", "-rU", "--udp", "--npt", "5-9",
                                                            "--scale=-2", "-t3", "--keep" }));
    assert_true(o.udp && o.scale == -2 && o.repeat == 0 && o.delay < 1 && o.error < 1);
    assert_string_equal(o.npt, "5-9");
    assert_true(o.spread == 0 && o.anywhere == 0);
    assert_ok(load_opts_parse(&o, LOAD_PLAY, 5, (char *[]){ "x", "-rU", "--start=12.5", "-s1",
                                                            "--spread=20" }));
    assert_true(o.start == 1 && o.from == 12.5 && o.spread == 20 && load_opts_place(&o) == 12.5);
    assert_ok(load_opts_parse(&o, LOAD_PLAY, 4, (char *[]){ "x", "-rU", "--anywhere", "100" }));
    assert_true(o.from < 0 && load_opts_place(&o) >= 0 && load_opts_place(&o) <= 100);
    assert_ok(load_opts_parse(&o, LOAD_HTTP, 3, (char *[]){ "x", "-rU", "--start=7" }));
    assert_true(o.start == 7 && o.from < 0 && load_opts_place(&o) < 0);
    assert_err(load_opts_parse(&o, LOAD_PLAY, 3, (char *[]){ "x", "-rU", "--udp" }), ERR_CONF);
    assert_err(load_opts_parse(&o, LOAD_RTSP_PUBLISH, 2, (char *[]){ "x", "-rU" }), ERR_CONF);
}

/* A marker is found where it was put, returns its content, and is a complete NAL unit. */
static void test_marker(void **state)
{
    static const struct load_marker marks[] = {
        { 0, 0 }, { 1, 1 }, { 1700000000123456, 0xffffffff }, { INT64_MAX, 0x80000000 },
    };
    static const uint8_t prefix[8] = { 0x91, 'h', 'v', 'c', '1' };

    (void)state;
    for (size_t i = 0; i < 2 * COUNT(marks); i++) {
        enum av_codec codec = i & 1 ? AV_H265 : AV_H264;
        size_t at = i & 2 ? 8 : 5;
        uint8_t body[64] = { 0 };
        struct load_marker got;
        size_t n;

        memcpy(body, prefix, at);
        n = load_marker_build(body + at, codec, &marks[i / 2]);
        assert_true(n <= LOAD_MARKER_SIZE);
        assert_int_equal(nalu_detect(body + at, n, 4), NALU_LENGTH);
        for (size_t k = 4; k < n; k++)
            assert_true(body[at + k] != 0);
        assert_true(load_marker_find(&got, body, at + n));
        assert_int_equal(got.time, marks[i / 2].time);
        assert_int_equal(got.number, marks[i / 2].number);
        for (size_t k = 0; k < at + n - 1; k++) /* all but the trailing bits are needed */
            assert_false(load_marker_find(&got, body, k));
    }
}

#define TAG(type, size, ms) type "\0\0" size "\0\0" ms "\0\0\0\0"
static const char flv[] =
    "FLV\1\5\0\0\0\x09\0\0\0\0"
    TAG("\x12", "\5", "\0") "\2\0\2ab" "xxxx"
    TAG("\x09", "\x06", "\0") "\x17\0\0\0\0\1" "xxxx"
    TAG("\x08", "\4", "\0") "\xaf\0\x12\x10" "xxxx"
    TAG("\x09", "\x0a", "\x0a") "\x17\1\0\0\0\0\0\0\1\x65" "xxxx"
    TAG("\x08", "\3", "\x0a") "\xaf\1y" "xxxx"
    TAG("\x08", "\3", "\x1e") "\xaf\1y" "xxxx"
    TAG("\x09", "\x0a", "\x32") "\x27\1\0\0\0\0\0\0\1\x41" "xxxx"
    TAG("\x08", "\3", "\x32") "\xaf\1y" "xxxx"
    TAG("\x09", "\0", "\x35") "xxxx"
    TAG("\x09", "\x0a", "\x5a") "\x17\1\0\0\0\0\0\0\1\x65" "xxxx";

static void test_media(void **state)
{
    /* from the first key frame: video at 10, 50, 90 and audio at 10, 30, 50; a turn is 120 ms */
    static const struct { uint64_t time; uint8_t type; bool key; } want[] = {
        { 0, 9, true }, { 0, 8, false }, { 20, 8, false }, { 40, 9, false }, { 40, 8, false },
        { 80, 9, true }, { 120, 9, true }, { 120, 8, false },
    };
    struct load_media m;
    struct load_play p;

    (void)state;
    assert_ok(load_media_parse(&m, (const uint8_t *)flv, sizeof(flv) - 1));
    assert_int_equal(m.head_count, 3);
    assert_int_equal(m.count, 6);
    assert_int_equal(m.period, 120);
    load_play_begin(&p, &m, 0, 5000);
    for (size_t i = 0; i < COUNT(want); i++, load_play_next(&p)) {
        const struct load_message *msg = p.msg;

        assert_int_equal(p.time, want[i].time);
        assert_int_equal(load_play_due(&p), 5000 + 1000 * want[i].time);
        assert_int_equal(msg->type, want[i].type);
        assert_int_equal(msg->key, want[i].key);
        assert_int_equal(msg->marker, msg->type == FLV_VIDEO ? 5 : 0);
    }
    load_play_begin(&p, &m, 1, 0); /* at the second key frame, from time 0 */
    assert_true(p.msg->key);
    assert_int_equal(p.time, 0);
    load_play_next(&p);
    assert_true(p.msg->key);
    assert_int_equal(p.time, 40);
    load_media_free(&m);
    assert_int_equal(av_packet_live(), 0);
}

static void test_media_cut_at_every_byte(void **state)
{
    struct load_media m;

    (void)state;
    for (size_t n = 0; n < sizeof(flv) - 1; n++) {
        uint8_t *exact = malloc(n + 1);
        err_t err;

        memcpy(exact, flv, n);
        err = load_media_parse(&m, exact, n);
        free(exact);
        load_media_free(&m);
        assert_int_equal(av_packet_live(), 0);
        assert_true(!err || err_code(err) == ERR_TRUNCATED || err_code(err) == ERR_MALFORMED);
        err_free(&err);
    }
}

struct seen {
    size_t n;
    uint32_t times[8];
    size_t sizes[8], heads[8];
};

static void on_tag(void *arg, const struct load_tag *tag)
{
    struct seen *seen = arg;

    assert_in_range(seen->n, 0, 7);
    assert_int_equal(tag->head_size, tag->size < LOAD_MARKER_HEAD ? tag->size : LOAD_MARKER_HEAD);
    seen->heads[seen->n] = tag->head[tag->head_size - 1];
    seen->times[seen->n] = tag->time;
    seen->sizes[seen->n++] = tag->size;
}

/* Cut anywhere, all non-empty audio and video is found. */
static void test_flv_cut_at_every_byte(void **state)
{
    const uint8_t *bytes = (const uint8_t *)flv;
    size_t size = sizeof(flv) - 1;

    (void)state;
    for (size_t piece = 1; piece <= size; piece++) {
        struct load_flv f = { 0 };
        struct seen seen = { 0 };

        for (size_t at = 0; at < size; at += piece)
            assert_ok(load_flv_feed(&f, bytes + at, size - at < piece ? size - at : piece, on_tag,
                                    &seen));
        assert_int_equal(seen.n, 8);
        assert_int_equal(seen.sizes[0], 6);
        assert_int_equal(seen.times[2], 10);
        assert_int_equal(seen.heads[3], 'y');
        assert_int_equal(seen.times[7], 90);
        assert_int_equal(seen.heads[7], 0x65);
    }
    assert_err(load_flv_feed(&(struct load_flv){ 0 }, (const uint8_t *)"HTTP/1.1 200 OK", 15, on_tag,
                             NULL), ERR_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_hist), TEST(test_urls), TEST(test_options), TEST(test_marker), TEST(test_media),
        TEST(test_media_cut_at_every_byte), TEST(test_flv_cut_at_every_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
