/* SPDX-License-Identifier: MIT */
/* test_conf_env.c - environment variables override the file. */
#include "conf/table.h"
#include "conf_mem.h"

static struct conf *load(const char *text, const struct mem_pair *env)
{
    struct mem m = { .main = text, .env = env };
    struct conf *c = NULL;

    assert_ok(mem_load(&c, &m));
    return c;
}

static void on_change(void *arg, const struct conf_change *change)
{
    (void)arg;
    print_error("%s: \"%s\" and \"%s\"\n", change->path, change->old_text, change->new_text);
}

/* A variable and the equivalent file. Every file also has listen and a vhost. */
static const struct {
    const char *name, *value, *same;
} rows[] = {
    { "SRS_WORKERS", "auto", "workers auto;" },
    { "SRS_WORKER_CPU_AFFINITY", "01 10", "worker_cpu_affinity 01 10;" },
    { "SRS_WORKERS_SPREAD", "0", "workers_spread 0;" },
    { "SRS_LISTEN", "1936", "rtmp { listen 1936; }" },
    { "SRS_LISTEN", " 1936   [::1]:1937 ", "rtmp { listen 1936 [::1]:1937; }" },
    { "SRS_RTMP_LISTEN", "1936", "rtmp { listen 1936; }" },
    { "SRS_MAX_CONNECTIONS", "10", "max_connections 10;" },
    { "SRS_MAX_CONNECTIONS", "", "" },
    { "SRS_DAEMON", "off", "daemon off;" },
    { "SRS_LOG_TANK", "console", "srs_log_tank console;" },
    { "SRS_SRS_LOG_TANK", "console", "srs_log_tank console;" },
    { "SRS_LOG_LEVEL", "error", "srs_log_level error;" },
    { "SRS_SRS_LOG_LEVEL_V2", "debug", "srs_log_level_v2 debug;" },
    { "SRS_SRS_LOG_FILE", "/x", "srs_log_file /x;" },
    { "SRS_CHUNK_SIZE", "128", "chunk_size 128;" },
    { "SRS_VHOST_CHUNK_SIZE", "128", "chunk_size 128;" },
    { "SRS_WATCHDOG_MS", "5", "watchdog_ms 5;" },
    { "SRS_LIMITS_MAX_MESSAGE_SIZE", "1m", "limits { max_message_size 1m; }" },
    { "SRS_HTTP_API_HTTPS_LISTEN", "99", "http_api { https { listen 99; } }" },
    { "SRS_RTC_SERVER_TCP_ENABLED", "on", "rtc_server { tcp { enabled on; } }" },
    { "SRS_HTTP_API_RAW_API_ALLOW_RELOAD", "on", "http_api { raw_api { allow_reload on; } }" },
    /* not settable by environment */
    { "SRS_IS_FULL", "on", "" },
    { "SRS_STATS_NETWORK", "1", "" },
    { "SRS_STREAM_CASTER_ENABLED", "on", "" },
};

static const struct {
    const char *name, *value, *same;
} vhost_rows[] = {
    { "SRS_VHOST_PLAY_GOP_CACHE", "off", "play { gop_cache off; }" },
    { "SRS_VHOST_PLAY_MW_LATENCY", "auto", "play { mw_latency auto; }" },
    { "SRS_VHOST_MIN_LATENCY", "on", "min_latency on;" },
    { "SRS_VHOST_TCP_NODELAY", "on", "tcp_nodelay on;" },
    { "SRS_VHOST_HLS_ENABLED", "on", "hls { enabled on; }" },
    { "SRS_VHOST_HLS_HLS_FRAGMENT", "2", "hls { hls_fragment 2; }" },
    { "SRS_VHOST_PUBLISH_TAKEOVER", "on", "publish { takeover on; }" },
    { "SRS_VHOST_FORWARD_DESTINATION", "a:1  b", "forward { destination a:1 b; }" },
    { "SRS_VHOST_SRT_TO_RTMP", "off", "srt { srt_to_rtmp off; }" },
    { "SRS_VHOST_SRT_SRT_TO_RTMP", "off", "srt { srt_to_rtmp off; }" },
    { "SRS_VHOST_HTTP_HOOKS_ON_PLAY", "http://a  http://b",
      "http_hooks { on_play http://a http://b; }" },
    { "SRS_VHOST_ENABLED", "off", "" },
    { "SRS_VHOST_REFER_ENABLED", "on", "" },
    { "SRS_VHOST_SECURITY_ENABLED", "on", "security { enabled on; }" },
    { "SRS_VHOST_SECURITY_TOKEN_SECRET", "a  b", "security { token { secret a b; } }" },
    { "SRS_VHOST_SECURITY_KEY", "live/a  k", "security { key live/a k; }" },
    { "SRS_VHOST_SECURITY_TOKEN_EXCEPT", "play ::1",
      "security { token { except play ::1; } }" },
    { "SRS_VHOST_SECURITY_ALLOW", "play all", "" },
    { "SRS_VHOST_EXEC_ENABLED", "on", "" },
    { "SRS_VHOST_CLUSTER_MODE", "remote", "" },
    { "SRS_VHOST_DVR_DVR_APPLY", "a/b", "" },
};

static void same(const char *name, const char *value, const char *file, const char *wanted)
{
    const struct mem_pair env[] = { { name, value }, { NULL, NULL } };
    const struct conf_changes changes = { .change = on_change };
    struct conf *a = load(file, env), *b = load(wanted, NULL);

    if (conf_diff(a, b, &changes))
        fail_msg("%s=%s is not as: %s", name, value, wanted);
    conf_unref(a);
    conf_unref(b);
}

static void variables(void **state)
{
    char wanted[512];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        (void)snprintf(wanted, sizeof(wanted), "%s listen 1935; vhost a { }", rows[i].same);
        same(rows[i].name, rows[i].value, "listen 1935; vhost a { }", wanted);
    }
    for (size_t i = 0; i < COUNT(vhost_rows); i++) {
        (void)snprintf(wanted, sizeof(wanted), "listen 1935; vhost a { %s } vhost b { %s }",
                       vhost_rows[i].same, vhost_rows[i].same);
        same(vhost_rows[i].name, vhost_rows[i].value, "listen 1935; vhost a { } vhost b { }",
             wanted);
    }
}

static void wins_over_the_file(void **state)
{
    same("SRS_MAX_CONNECTIONS", "10", "listen 1935; max_connections 20;",
         "listen 1935; max_connections 10;");
    same("SRS_VHOST_PLAY_GOP_CACHE", "on", "listen 1935; vhost a { gop_cache off; }",
         "listen 1935; vhost a { }");
    (void)state;
}

static void wrong_values_name_the_variable(void **state)
{
    const struct mem_pair env[] = { { "SRS_MAX_CONNECTIONS", "many" }, { NULL, NULL } };
    const struct mem_pair later[] = { { "SRS_VHOST_HDS_ENABLED", "on" }, { NULL, NULL } };
    struct mem m = { .main = "listen 1935;", .env = env };
    struct conf *c = NULL;

    (void)state;
    assert_err_says(mem_load(&c, &m), ERR_CONF, "environment SRS_MAX_CONNECTIONS");
    m = (struct mem){ .main = "listen 1935; vhost a { } vhost b { }", .env = later };
    assert_ok(mem_load(&c, &m));
    assert_int_equal(m.n_warnings, 1);
    assert_non_null(strstr(m.warnings, "environment: \"hds\" is accepted"));
    conf_unref(c);
}

static void candidate(void **state)
{
    static const struct mem_pair env[] = {
        { "CANDIDATE", "1.2.3.4" }, { "SRS_RTC_SERVER_CANDIDATE", "$OTHER" },
        { "OTHER", "5.6.7.8" }, { NULL, NULL },
    };
    struct conf *c = load("listen 1935; rtc_server { candidate $CANDIDATE; }", env + 1);

    (void)state;
    assert_string_equal(c->rtc_server.candidate.v[0], "5.6.7.8");
    conf_unref(c);
    c = load("listen 1935; rtc_server { candidate $CANDIDATE x; }", (const struct mem_pair[]){
        env[0], { NULL, NULL } });
    assert_string_equal(c->rtc_server.candidate.v[0], "1.2.3.4");
    assert_string_equal(c->rtc_server.candidate.v[1], "x");
    conf_unref(c);
    c = load("listen 1935; rtc_server { candidate $CANDIDATE; }", NULL);
    assert_string_equal(c->rtc_server.candidate.v[0], "*");
    conf_unref(c);
}

/* No file, as with -e. */
static void environment_alone(void **state)
{
    const struct mem_pair env[] = {
        { "SRS_LISTEN", "1935" }, { "SRS_VHOST_PLAY_GOP_CACHE", "off" }, { NULL, NULL },
    };
    const struct mem_pair daemon[] = {
        { "SRS_LISTEN", "1935" }, { "SRS_DAEMON", "on" }, { "SRS_LOG_TANK", "file" },
        { NULL, NULL },
    };
    struct mem m = { .env = env };
    struct conf *c = load(NULL, env);

    (void)state;
    assert_false(c->daemon);
    assert_int_equal(c->srs_log_tank, CONF_TANK_CONSOLE);
    assert_int_equal(c->vhost.n, 1);
    assert_string_equal(conf_vhost_find(c, "any")->name, "__defaultVhost__");
    assert_false(conf_vhost_find(c, "any")->play.gop_cache);
    conf_unref(c);
    c = load(NULL, daemon);
    assert_true(c->daemon);
    assert_int_equal(c->srs_log_tank, CONF_TANK_FILE);
    conf_unref(c);
    m.env = NULL;
    assert_err_says(mem_load(&c, &m), ERR_CONF, "SRS_LISTEN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(variables),
        TEST(wins_over_the_file),
        TEST(wrong_values_name_the_variable),
        TEST(candidate),
        TEST(environment_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
