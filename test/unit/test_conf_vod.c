/* SPDX-License-Identifier: MIT */
/* test_conf_vod.c - directives of files on demand: values, what is refused, a reload. */
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
    assert_int_equal(vod->cache, 64 << 20);
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

static const struct {
    const char *text, *says;
} bad[] = {
    { IN_VOD("enabled on; app a/b;"), "vhost v : vod : app a/b: it is one level" },
    { IN_VOD("enabled on; app /;"), "it is one level" },
    { IN_VOD("enabled on; app ..;"), "app ..: no url has such a name" },
    { IN_VOD("enabled on; app 'a b';"), "no url has such a name" },
    { IN_VOD("enabled on; app 'a%2fb';"), "no url has such a name" },
    { IN_VOD("enabled on; app 'a?b';"), "no url has such a name" },
    { IN_VOD("cache 1000;"), "1000 is not within 1048576" },
    { IN_VOD("index_max -1;"), "-1 is not within 1048576" },
    { IN_VOD("readers 0;"), "0 is not within 1..32" },
    { IN_VOD("readers 33;"), "33 is not within 1..32" },
    { IN_VOD("folder a;"), "folder" },
};

static void errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct mem m = { .main = bad[i].text };
        struct conf *c = NULL;

        assert_err_says(mem_load(&c, &m), ERR_CONF, bad[i].says);
        assert_null(c);
    }
    assert_int_equal(conf_live(), 0);
}

/* What is off may say what it likes; names that others write are fine; one folder may be of
 * recordings and of files. */
static const char *const good[] = {
    IN_VOD("app a/b;"), IN_VOD("enabled on; app ''; dir '';"), IN_VOD("enabled on; app 'vod.2-a_b~';"), IN_VOD("enabled on; app ...;"),
    "listen 1935; daemon off; vhost v { vod { enabled on; dir ./objs/nginx/html/live; }"
    "dvr { enabled on; dvr_path ./objs/nginx/html/live/[stream].[timestamp].mp4; } }",
};

static void fine(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        struct mem m = { .main = good[i] };
        struct conf *c = NULL;

        assert_ok(mem_load(&c, &m));
        assert_int_equal(m.n_warnings, 0);
        conf_unref(c);
    }
}

static const struct {
    const char *name, *value, *same;
} env_rows[] = {
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
    for (size_t i = 0; i < COUNT(env_rows); i++) {
        const struct mem_pair env[] = { { env_rows[i].name, env_rows[i].value }, { NULL, NULL } };
        struct mem m = { .main = "listen 1935; daemon off; vhost v { }", .env = env };
        struct conf *c = NULL, *same = mem_conf(env_rows[i].same);

        assert_ok(mem_load(&c, &m));
        if (conf_diff(c, same, NULL) != 0)
            fail_msg("%s is not as: %s", env_rows[i].name, env_rows[i].same);
        conf_unref(c);
        conf_unref(same);
    }
}

static void collect(void *arg, const struct conf_change *change)
{
    char *buf = arg;
    size_t used = strlen(buf);

    assert_int_equal(change->reload, CONF_AT_ONCE);
    (void)snprintf(buf + used, 1024 - used, "%s %s>%s\n", change->path, change->old_text,
                   change->new_text);
}

static void a_reload(void **state)
{
    struct conf *old = mem_conf(IN_VOD(""));
    struct conf *new = mem_conf(IN_VOD("enabled on; app a; dir d; loop on; cache 2m; index_max 3m;"
                                       "readers 1;"));
    char told[1024] = "";
    const struct conf_changes to = { .change = collect, .arg = told };

    (void)state;
    (void)conf_diff(old, new, &to);
    assert_string_equal(told, "vhost[v].vod.enabled off>on\nvhost[v].vod.app vod>a\n"
                        "vhost[v].vod.dir ./objs/nginx/html/vod>d\nvhost[v].vod.loop off>on\n"
                        "vhost[v].vod.cache 64m>2m\nvhost[v].vod.index_max 64m>3m\n"
                        "vhost[v].vod.readers 4>1\n");
    conf_unref(old);
    conf_unref(new);
    assert_int_equal(conf_live(), 0);
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
