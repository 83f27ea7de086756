/* SPDX-License-Identifier: MIT */
/* test_sink_srt.c - SRT addresses that the server itself connects to, and how those of all
 * destinations are made. */
#include "conf_mem.h"

#include "conf/endpoint.h"
#include "proto/srt/call.h"
#include "pull/ingest/source.h"
#include "sink/forward/session.h"

#include <stdio.h>
#include <stdlib.h>

static void listeners_are_ours_and_what_ffmpeg_alone_can_is_not(void **state)
{
    static const struct {
        const char *type, *url, *engine;
        bool ours;
    } rows[] = {
        { "stream", "srt://h:9000", "off", true },
        { "stream", "srt://[::1]:9000?latency=300&passphrase=0123456789", "off", true },
        { "stream", "srt://h:9000?streamid=#!::r=a/b", "off", true },
        { "stream", "srt://h:9000?latency=300000", "off", false }, /* microseconds */
        { "stream", "srt://h:9000?mode=listener", "off", false },
        { "stream", "srt://h", "off", false },
        { "stream", "rtmp://h/a/b", "off", false },
        { "stream", "srt://h:9000", "on; vcodec copy; acodec copy", false },
        { "stream", "a.flv", "off", false },
        { "file", "srt://h:9000", "off", false },
        { "file", "a.flv", "off", true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ingest_source file;
        struct conf *c;
        char text[512];

        (void)snprintf(text, sizeof(text),
                       "listen 1935; vhost v { ingest i { enabled on; input { type %s; url %s; } "
                       "engine { enabled %s; output rtmp://127.0.0.1:[port]/live/a?vhost=v; } } }",
                       rows[i].type, rows[i].url, rows[i].engine);
        c = mem_conf(text);
        assert_int_equal(ingest_source_of(&file, c, &c->vhost.v[0], &c->vhost.v[0].ingest.v[0], 0),
                         rows[i].ours);
        if (rows[i].ours) {
            assert_string_equal(file.path, rows[i].url);
            assert_int_equal(file.srt, strcmp(rows[i].type, "stream") == 0);
            assert_null(strstr(file.public_path, "0123456789"));
        }
        ingest_source_free(&file);
        (void)conf_unref(c);
    }
}

static void names_of_the_stream_are_put_into_the_url(void **state)
{
    static const struct {
        const char *of, *stream, *want, *streamid;
    } rows[] = {
        { "srt://h:1", "s", "srt://h:1", "" },
        { "srt://h:1?latency=20", "s", "srt://h:1?latency=20", "" },
        { "srt://h:1?streamid=[app]/[stream]", "s", "srt://h:1?streamid=live/s", "live/s" },
        { "srt://[::1]:1/?streamid=#!::h=[vhost],r=[app]/[stream],m=publish", "a&b c",
          "srt://[::1]:1/?streamid=#!::h=v,r=live/a%26b%20c,m=publish",
          "#!::h=v,r=live/a&b c,m=publish" },
        { "srt://h:1?streamid=[other]", "s", "srt://h:1?streamid=[other]", "[other]" },
        { "h", "s", "rtmp://h:1935/live/s?vhost=v", NULL },
        { "rtmps://me:pw@[::1]/", "s", "rtmps://[::1]:443/live/s?vhost=v", NULL },
        { "rtmp://h:1/a/KEY?x=[stream]", "s", "rtmp://h:1/a/KEY?x=s", NULL },
        { "rtmp://h/a/[vhost]-[app]/[stream]", "b c", "rtmp://h/a/v-live/b c", NULL },
        { "rtmp://h/a", "s", "rtmp://h/a/s", NULL },
        { "rtmp://h/a/?x", "s", "rtmp://h/a/s?x", NULL },
        { "rtmp://h/a?x", "s", "rtmp://h/a/s?x", NULL },
        { "RTMP://h//a//", "s", "RTMP://h//a/s", NULL },
        { "rtmp://h/a?backup=1/KEY", "s", "rtmp://h/a?backup=1/KEY", NULL },
        { "rtsp://u:p@h", "a?b", "rtsp://u:p@h/live/a%3Fb", NULL },
    };
    struct conf_arena *a = conf_arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct session_stream names = { .vhost = "v", .app = "live", .param = "",
                                              .name = rows[i].stream };
        struct conf_endpoint to;
        struct srt_url u;
        char *url;

        assert_ok(conf_endpoint_host(a, rows[i].of, 1935, &to));
        url = forward_url(&to, &names);
        assert_string_equal(url, rows[i].want);
        if (rows[i].streamid) {
            assert_true(srt_url_parse(&u, url));
            assert_string_equal(u.streamid, rows[i].streamid);
        }
        free(url);
    }
    conf_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(listeners_are_ours_and_what_ffmpeg_alone_can_is_not),
        TEST(names_of_the_stream_are_put_into_the_url),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
