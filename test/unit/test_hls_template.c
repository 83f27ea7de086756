/* SPDX-License-Identifier: MIT */
/* test_hls_template.c - which stream can have written a file with this path. */
#include "serve/hls/template.h"
#include "unit.h"

#include <string.h>

static const struct {
    const char *text, *app, *name, *path; /* app, name NULL: any */
    bool fits;
} rows[] = {
    { "[app]/[stream]-[seq].ts", "live", "s", "live/s-12.ts", true },
    { "[app]/[stream]-[seq].ts", "live", "s", "live/s-12.ts.tmp", false },
    { "[app]/[stream]-[seq].ts", "live", "s", "live/s-.ts", false },
    { "[app]/[stream]-[seq].ts", "live", "s", "live/s-1a.ts", false },
    { "[app]/[stream]-[seq].ts", "live", "s", "live/s-1-2.ts", false }, /* it belongs to "s-1" */
    { "[app]/[stream]-[seq].ts", "live", "s-1", "live/s-1-2.ts", true },
    { "[app]/[stream]-[seq].ts", "live", "s", "live/ss-1.ts", false },
    { "[app]/[stream]-[seq].ts", "live", "s", "Live/s-1.ts", false },
    { "[app]/[stream]-[seq].ts", NULL, NULL, "live/s-1-2.ts", true },
    { "[app]/[stream]-[seq].ts", NULL, NULL, "a/b/c-1.ts", true }, /* an app may have slashes */
    { "[app]/[stream]-[seq].ts", NULL, NULL, "s-1.ts", false },
    { "[app]/[stream]-[seq].ts", NULL, NULL, "/-1.ts", false },
    { "[vhost]/[app]/[stream].m3u8", "live", "s", "v/live/s.m3u8", true },
    { "[vhost]/[app]/[stream].m3u8", "live", "s", "w/live/s.m3u8", false },
    { "[stream]/[2006]/[01]/[02]-[15][04][05].ts", "x", "s", "s/2026/11/22-031500.ts", true },
    { "[stream]/[2006]/[01]/[02]-[15][04][05].ts", "x", "s", "s/2026/11/22-03:15.ts", false },
    { "[stream]-[seq][duration].ts", "x", "s", "s-1234.ts", true },
    { "[stream]-[seq]1.ts", "x", "s", "s-21.ts", true }, /* the following text is a digit, too */
    { "[stream]-[seq]1.ts", "x", "s", "s-1.ts", false },
    { "[stream]-[what].ts", "x", "s", "s-[what].ts", true }, /* no variable */
    { "[app]/[app]-[stream].ts", NULL, NULL, "a/a-b.ts", true },
    { "[app]/[app]-[stream].ts", NULL, NULL, "a/b-c.ts", false },
    { "all.m3u8", NULL, NULL, "all.m3u8", true },
    { "", NULL, NULL, "", true },
    { "[stream]", NULL, NULL, "", false },
};

static void test_match(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct session_stream names = { .vhost = "v", .app = rows[i].app,
                                            .name = rows[i].name };

        print_message("  %s %s\n", rows[i].text, rows[i].path);
        assert_int_equal(hls_match(rows[i].text, &names, rows[i].path), rows[i].fits);
    }
}

/* A long path of near matches costs only a few times its size. */
static void test_long(void **state)
{
    const struct session_stream any = { .vhost = "v" };
    char path[4096];

    (void)state;
    for (size_t i = 0; i < sizeof(path) - 1; i++)
        path[i] = "1-/"[i % 3];
    path[sizeof(path) - 1] = '\0';
    assert_false(hls_match("[app]/[stream]-[seq].ts", &any, path));
}

static void test_names(void **state)
{
    static const struct {
        const char *text, *path, *app, *name; /* app NULL: unknown */
    } of[] = {
        { "[app]/[stream].m3u8", "live/s.m3u8", "live", "s" },
        { "[app]/[stream].m3u8", "live/s.m3u8.m3u8", "live", "s.m3u8" },
        { "[app]/[stream].m3u8", "a/b/c.m3u8", NULL, NULL },
        { "[app]/[stream].m3u8", "live/s.mpd", NULL, NULL },
        { "[app]-[stream].m3u8", "a-b-c.m3u8", NULL, NULL },
        { "[vhost]/[app]/[stream]/x.m3u8", "v/a/b/x.m3u8", "a", "b" },
        { "[vhost]/[app]/[stream]/x.m3u8", "w/a/b/x.m3u8", NULL, NULL },
        { "all.m3u8", "all.m3u8", NULL, NULL },
        { "[stream].m3u8", "s.m3u8", NULL, NULL },
    };
    char text[400];
    struct hls_matched m;

    (void)state;
    for (size_t i = 0; i < COUNT(of); i++) {
        print_message("  %s %s\n", of[i].text, of[i].path);
        assert_int_equal(hls_match_names(of[i].text, "v", of[i].path, &m), of[i].app != NULL);
        if (of[i].app) {
            assert_string_equal(m.app, of[i].app);
            assert_string_equal(m.name, of[i].name);
        }
    }
    memset(text, 'a', sizeof(text));
    memcpy(text + sizeof(text) - 9, "/s.m3u8", 8);
    assert_false(hls_match_names("[app]/[stream].m3u8", "v", text, &m));
}

static void test_templates(void **state)
{
    static const char *const made[] = {
        "live/s.m3u8", "live/s-1.ts", "live/s-1.m4s", "live/s/init.mp4", "live/s-1.key",
        "live/s/init-7.mp4", "live/s.mpd", "live/s/video-init-1.mp4", "live/s/audio-init-1.mp4",
        "live/s/video-1-2.m4s", "live/s/audio-1-2.m4s",
    };
    struct conf_vhost v = {
        .name = "v",
        .hls = { .path = "./html", .m3u8_file = "[app]/[stream].m3u8", .key_file_path = "./keys",
                 .ts_file = "[app]/[stream]-[seq].ts", .fmp4_file = "[app]/[stream]-[seq].m4s",
                 .init_file = "[app]/[stream]/init.mp4", .key_file = "[app]/[stream]-[seq].key" },
        .dash = { .path = "./dash", .mpd_file = "[app]/[stream].mpd" },
    };
    const struct session_stream names = { .vhost = "v", .app = "live", .name = "s" };
    struct hls_template t;

    (void)state;
    for (unsigned i = 0; i < HLS_TEMPLATES; i++)
        assert_false(hls_template(&v, i, &t));
    v.hls.enabled = v.dash.enabled = true;
    for (unsigned i = 0; i < HLS_TEMPLATES; i++) {
        print_message("  %s\n", made[i]);
        assert_true(hls_template(&v, i, &t));
        assert_true(hls_match(t.text, &names, made[i]));
        assert_string_equal(t.folder, i > 5 ? "./dash" : i == 4 ? "./keys" : "./html");
        assert_int_equal(t.sort, i == 0 ? HLS_LIST : i == 4 ? HLS_KEY : i < 6 ? HLS_MEDIA
                                 : i == 6 ? HLS_MPD : HLS_DASH_MEDIA);
    }
    assert_false(hls_template(&v, HLS_TEMPLATES, &t));
    assert_int_equal(hls_sort_by_end("a/b.key"), HLS_KEY);
    assert_int_equal(hls_sort_by_end("a/b.mp4"), HLS_FOREIGN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_match), TEST(test_long), TEST(test_names), TEST(test_templates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
