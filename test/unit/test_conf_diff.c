/* SPDX-License-Identifier: MIT */
/* test_conf_diff.c - changes that a reload reports, values that it keeps, and errors, which change nothing. */
#include "conf_mem.h"

/* One change per line: "path:class old>new". */
static void collect(void *arg, const struct conf_change *change)
{
    static const char *const classes[] = { "never", "once", "handler" };
    static const char *const kinds[] = { "", "+", "-" };
    char *buf = arg;
    size_t used = strlen(buf);

    (void)snprintf(buf + used, 1024 - used, "%s%s:%s %s>%s\n", kinds[change->kind], change->path,
                   classes[change->reload], change->old_text, change->new_text);
}

static const struct {
    const char *old, *new, *told;
} rows[] = {
    { "", "", "" },
    { "max_connections 5;", "max_connections 5; ", "" },
    { "", "max_connections 5;", "max_connections:handler 1000>5\n" },
    { "", "daemon off;", "daemon:never on>off\n" },
    { "", "pid /x; srs_log_level warn;",
      "pid:never ./objs/srs.pid>/x\nsrs_log_level:never trace>warn\n" },
    { "", "workers 4; worker_cpu_affinity auto; workers_spread 0;",
      "workers:never 1>4\nworker_cpu_affinity:never >auto\nworkers_spread:once 64>0\n" },
    { "workers auto;", "workers 64;", "workers:never auto>64\n" },
    { "", "heartbeat { interval 9.9; }", "heartbeat.interval:once 10>9.9\n" },
    { "http_api { listen 80; }", "", "http_api.listen:handler 80>1985\n" },
    { "vhost a { }", "vhost a { } vhost b { }", "+vhost[b]:handler >b\n" },
    { "vhost a { } vhost b { }", "vhost b { }", "-vhost[a]:handler a>\n" },
    { "vhost a { } vhost b { }", "vhost b { } vhost a { }", "" },
    { "vhost a { }", "vhost a { enabled off; }", "vhost[a].enabled:handler on>off\n" },
    { "vhost a.b { }", "vhost a.b { mw_latency 100; }",
      "vhost[a.b].play.mw_latency:handler 350>100\n" },
    { "vhost a { }", "vhost a { play { mw_latency auto; } }",
      "vhost[a].play.mw_latency:handler 350>auto\n" },
    { "vhost a { }", "vhost a { security { allow play all; allow publish 1.2.3.4; } }",
      "vhost[a].security.allow:once >play all; publish 1.2.3.4\n" },
    { "vhost a { }", "vhost a { refer { all x y; } }", "vhost[a].refer.all:once >x y\n" },
    { "vhost a { forward { destination x; } }", "vhost a { forward { destination x y:1; } }",
      "vhost[a].forward.destination:handler x>x y:1\n" },
    { "vhost a { cluster { coworkers x; } }", "vhost a { }",
      "vhost[a].cluster.coworkers:never x>\n" },
    { "vhost a { }", "chunk_size 128; vhost a { }",
      "rtmp.chunk_size:handler 60000>128\nvhost[a].chunk_size:handler 60000>128\n" },
    { "chunk_size 500; vhost a { chunk_size 128; }", "vhost a { chunk_size 128; }",
      "rtmp.chunk_size:handler 500>60000\n" },
    { "vhost a { ingest x { } }", "vhost a { ingest x { enabled on; } ingest y { } }",
      "vhost[a].ingest[x].enabled:handler off>on\n+vhost[a].ingest[y]:handler >y\n" },
    { "vhost a { transcode { engine e { } } }", "vhost a { transcode { engine e { vfps 5; } } }",
      "vhost[a].transcode[].engine[e].vfps:handler 0>5\n" },
    { "vhost a { exec { publish a 'b c'; } }", "vhost a { exec { publish a 'b d'; publish e; } }",
      "vhost[a].exec.publish:handler a \"b c\">a \"b d\"; e\n" },
    { "vhost a { transcode { engine { vparams { t 1; } } } }",
      "vhost a { transcode { engine { vparams { t 2; } } } }",
      "vhost[a].transcode[].engine[].vparams:handler t 1;>t 2;\n" },
    { "stream_caster { listen 1; }", "stream_caster { listen 2; } stream_caster { }",
      "stream_caster[].listen:never 1>2\n+stream_caster[]:never >\n" },
    { "limits { max_message_size 64k; }", "limits { max_message_size 1m; }",
      "limits.max_message_size:once 64k>1m\n" },
};

static struct conf *load(const char *text)
{
    char whole[1024];

    (void)snprintf(whole, sizeof(whole), "listen 1935; %s", text);
    return mem_conf(whole);
}

static void differences(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct conf *old = load(rows[i].old), *new = load(rows[i].new);
        char told[1024] = "";
        const struct conf_changes to = { .change = collect, .arg = told };
        size_t lines = 0;

        for (const char *p = rows[i].told; *p; p++)
            lines += *p == '\n';
        assert_int_equal(conf_diff(old, new, &to), lines);
        assert_string_equal(told, rows[i].told);
        assert_int_equal(conf_diff(new, new, NULL), 0);
        conf_unref(old);
        conf_unref(new);
    }
}

static void vhost_of(void *arg, const struct conf_change *change)
{
    const char **vhost = arg;

    *vhost = change->vhost ? strcmp(change->vhost, "a") == 0 ? "a" : "another" : NULL;
}

static void changes_name_their_vhost(void **state)
{
    static const char *const texts[] = { "vhost a { gop_cache off; }", "vhost a { } daemon off;",
                                         "" };
    static const char *const wanted[] = { "a", NULL, "a" };
    struct conf *old = load("vhost a { }");

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct conf *new = load(texts[i]);
        const char *vhost = "none";
        const struct conf_changes to = { .change = vhost_of, .arg = &vhost };

        assert_int_equal(conf_diff(old, new, &to), 1);
        assert_true(vhost == wanted[i] || strcmp(vhost, wanted[i]) == 0);
        conf_unref(new);
    }
    conf_unref(old);
}

static err_t reload(struct conf **out, const struct conf *old, const char *text, char *told)
{
    struct mem m = { .main = text };
    const struct conf_source src = mem_source(&m);
    const struct conf_changes to = { .change = collect, .arg = told };

    return conf_reload(out, old, &src, NULL, &to);
}

/* The new snapshot keeps old values that need a restart, independent of the old snapshot. */
static void restart_values_stay(void **state)
{
    struct conf *old = mem_conf(
        "listen 1935; daemon off; pid /old; srs_log_level warn;"
        "stream_caster { listen 1; output o; sip { candidate c; listen 80 81; } }"
        "vhost a { cluster { mode remote; coworkers x y; } }");
    struct conf *new = NULL;
    char told[1024] = "";

    (void)state;
    assert_ok(reload(&new, old, "listen 1936; max_connections 7; stream_caster { } "
                     "stream_caster { } vhost a { gop_cache off; } vhost b { }", told));
    assert_non_null(strstr(told, "pid:never /old>./objs/srs.pid\n"));
    assert_non_null(strstr(told, "max_connections:handler 1000>7\n"));
    conf_unref(old);
    assert_false(new->daemon);
    assert_string_equal(new->pid, "/old");
    assert_int_equal(new->log_level, CONF_LOG_WARN);
    assert_int_equal(new->stream_caster.n, 1);
    assert_int_equal(new->stream_caster.v[0].sip.listen.n, 2);
    assert_int_equal(new->stream_caster.v[0].sip.listen.v[1].port, 81);
    assert_string_equal(new->stream_caster.v[0].sip.candidate, "c");
    assert_int_equal(new->vhost.v[0].cluster.mode, CONF_CLUSTER_REMOTE);
    assert_string_equal(new->vhost.v[0].cluster.coworkers.v[1], "y");
    assert_int_equal(new->rtmp.listen.v[0].port, 1936);
    assert_int_equal(new->max_connections, 7);
    assert_false(new->vhost.v[0].play.gop_cache);
    conf_unref(new);
    assert_int_equal(conf_live(), 0);
}

/* A difference is reported again on each reload until the restart. */
static void told_again(void **state)
{
    struct conf *one = mem_conf("listen 1935; daemon off;"), *two = NULL, *three = NULL;
    char told[1024] = "";

    (void)state;
    assert_ok(reload(&two, one, "listen 1935; daemon on;", told));
    assert_string_equal(told, "daemon:never off>on\n");
    told[0] = '\0';
    assert_ok(reload(&three, two, "listen 1935; daemon on;", told));
    assert_string_equal(told, "daemon:never off>on\n");
    conf_unref(one);
    conf_unref(two);
    conf_unref(three);
}

static void errors_change_nothing(void **state)
{
    static const char *const texts[] = {
        "", "listen 1935", "listen 1935; nonsense;", "listen x;", "daemon off;",
        "listen 1935; is_full on;", "listen 1935; include missing;",
    };
    struct conf *old = mem_conf("listen 1935; vhost a { mw_latency 10; }");

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct conf *new = NULL;
        char told[1024] = "";
        err_t err = reload(&new, old, texts[i], told);

        assert_non_null(err);
        err_free(&err);
        assert_null(new);
        assert_string_equal(told, "");
    }
    assert_int_equal(conf_live(), 1);
    assert_int_equal(old->vhost.v[0].play.mw_latency, 10 * 1000);
    conf_unref(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(differences),
        TEST(changes_name_their_vhost),
        TEST(restart_values_stay),
        TEST(told_again),
        TEST(errors_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
