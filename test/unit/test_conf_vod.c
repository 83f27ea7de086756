/* SPDX-License-Identifier: MIT */
/* test_conf_vod.c - directives of files on demand: values, errors, a reload. */
#include "conf_mem.h"

#define IN_VOD(text) "listen 1935; daemon off; vhost v { vod { " text " } }"

static void defaults(void **state)
{
    struct conf *c = mem_conf("listen 1935; vhost v { }");
    const struct conf_vod *vod = &c->vhost.v[0].vod;

    (void)state;
    assert_false(vod->enabled);
    assert_string_equal(vod->app, "vod");
    assert_string_equal(vod->dir, "./objs/nginx/html/vod");
    assert_false(vod->loop);
    assert_int_equal(vod->cache, 128 << 20);
    assert_int_equal(vod->index_max, 64 << 20);
    assert_int_equal(vod->readers, 4);
    conf_unref(c);
}

static void values(void **state)
{
    struct conf *c = mem_conf(IN_VOD("enabled on; app lectures; dir /srv/lectures; loop on;"
                                     "cache 1g; index_max 512m; readers 16;"));
    const struct conf_vod *vod = &c->vhost.v[0].vod;

    (void)state;
    assert_true(vod->enabled && vod->loop);
    assert_string_equal(vod->app, "lectures");
    assert_string_equal(vod->dir, "/srv/lectures");
    assert_int_equal(vod->cache, 1 << 30);
    assert_int_equal(vod->index_max, 512 << 20);
    assert_int_equal(vod->readers, 16);
    conf_unref(c);
}

static const struct mem_bad bad[] = {
    { IN_VOD("enabled on; app a/b;"), "vhost v : vod : app a/b must not contain /" },
    { IN_VOD("enabled on; app /;"), "must not contain /" },
    { IN_VOD("enabled on; app ..;"), "app .. has characters" },
    { IN_VOD("enabled on; app 'a b';"), "has characters that need escaping" },
    { IN_VOD("enabled on; app 'a%2fb';"), "has characters that need escaping" },
    { IN_VOD("enabled on; app 'a?b';"), "has characters that need escaping" },
    { IN_VOD("cache 1000;"), "1000 is not within 1048576" },
    { IN_VOD("index_max -1;"), "-1 is not within 1048576" },
    { IN_VOD("readers 0;"), "0 is not within 1..32" },
    { IN_VOD("readers 33;"), "33 is not within 1..32" },
    { IN_VOD("folder a;"), "folder" },
};

static void errors(void **state)
{
    (void)state;
    mem_assert_bad(bad, COUNT(bad));
}

/* A block that is off is not checked; unusual names are valid; recordings and files may share a folder. */
static const struct mem_warned good[] = {
    { IN_VOD("enabled off; app a/b;"), NULL },
    { IN_VOD("enabled on; app ''; dir '';"), NULL },
    { IN_VOD("enabled on; app 'vod.2-a_b~';"), NULL },
    { IN_VOD("enabled on; app ...;"), NULL },
    { "listen 1935; daemon off; vhost v { vod { enabled on; dir ./objs/nginx/html/live; }"
      "dvr { enabled on; dvr_path ./objs/nginx/html/live/[stream].[timestamp].mp4; } }", NULL },
};

static void fine(void **state)
{
    (void)state;
    mem_assert_warned(good, COUNT(good));
}

static const struct mem_variable env_rows[] = {
    { "SRS_VHOST_VOD_ENABLED", "on", IN_VOD("enabled on;") },
    { "SRS_VHOST_VOD_APP", "a", IN_VOD("app a;") },
    { "SRS_VHOST_VOD_DIR", "/b", IN_VOD("dir /b;") },
    { "SRS_VHOST_VOD_LOOP", "on", IN_VOD("loop on;") },
    { "SRS_VHOST_VOD_CACHE", "2m", IN_VOD("cache 2m;") },
    { "SRS_VHOST_VOD_INDEX_MAX", "3m", IN_VOD("index_max 3m;") },
    { "SRS_VHOST_VOD_READERS", "8", IN_VOD("readers 8;") },
};

static void environment(void **state)
{
    (void)state;
    mem_assert_environment(env_rows, COUNT(env_rows));
}

static const struct mem_reload changes[] = {
    { IN_VOD(""), IN_VOD("enabled on; app a; dir d; loop on; cache 2m; index_max 3m; readers 1;"),
      "vhost[v].vod.enabled:once off>on\nvhost[v].vod.app:once vod>a\n"
      "vhost[v].vod.dir:once ./objs/nginx/html/vod>d\nvhost[v].vod.loop:once off>on\n"
      "vhost[v].vod.cache:once 128m>2m\nvhost[v].vod.index_max:once 64m>3m\n"
      "vhost[v].vod.readers:once 4>1\n" },
};

static void a_reload(void **state)
{
    (void)state;
    mem_assert_reloads(changes, COUNT(changes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults),
        TEST(values),
        TEST(errors),
        TEST(fine),
        TEST(environment),
        TEST(a_reload),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
