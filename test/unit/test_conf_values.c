/* SPDX-License-Identifier: MIT */
/* test_conf_values.c - directives become typed values or helpful errors. */
#include "conf/binds.h"
#include "conf_mem.h"

#include <pthread.h>

/* ------------------------------------------------------------------ errors and warnings */

#define TEN "1 2 3 4 5 6 7 8 9 10 "
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define IN_VHOST(text) "listen 1935; daemon off; vhost v { " text " }"

static const struct {
    const char *text;
    enum err_code code;
    const char *says;
} bad[] = {
    { "listn 1;", ERR_CONF, "main:1 : unknown directive \"listn\"; did you mean \"rtmp.listen\"?" },
    { "\n\nmax_conections 1;", ERR_CONF, "main:3 : unknown directive \"max_conections\"" },
    { "max_conections 1;", ERR_CONF, "\"max_connections\"" },
    { "frobnicate_widgets 1;", ERR_CONF, "unknown directive \"frobnicate_widgets\"; all directives: conf/full.conf" },
    { IN_VHOST("play { xyz 1; }"), ERR_CONF, "in vhost.play; all directives" },
    { "worker_processes 1; events { } http { server { listen 80; } }", ERR_CONF,
      "this is a configuration of nginx; start with conf/srs.conf : main:1" },
    { "events { worker_connections 9; }\nhttp { log_format x 'a'\n 'b'; }", ERR_CONF_SYNTAX,
      "this is a configuration of nginx" },
    { "rtmp { server { listen 1935; application live { live on; } } }", ERR_CONF,
      "this is a configuration of nginx" },
    { "hls { }", ERR_CONF, "unknown directive \"hls\"; it belongs in vhost" },
    { IN_VHOST("play { gop_cach on; }"), ERR_CONF,
      "in vhost.play; did you mean \"gop_cache\"?" },
    { IN_VHOST("gop_cach on;"), ERR_CONF, "in vhost; did you mean \"play.gop_cache\"?" },
    { IN_VHOST("hls_fragment 10;"), ERR_CONF, "in vhost; it belongs in vhost.hls" },
    { IN_VHOST("max_connections 10;"), ERR_CONF, "in vhost; it belongs in the file itself" },
    { IN_VHOST("mr { enable on; }"), ERR_CONF, "unknown directive \"mr\"" },
    { "rtmp { vhost x { } }", ERR_CONF, "unknown directive \"vhost\" in rtmp" },
    { "vhost { }", ERR_CONF, "\"vhost\" needs a name" },
    { "vhost '' { }", ERR_CONF, "\"vhost\" needs a name" },
    { "max_connections { }", ERR_CONF, "not a block" },
    { IN_VHOST("play on;"), ERR_CONF, "is a block" },
    { IN_VHOST("http_remux { } http_remux { }"), ERR_CONF, "duplicate \"http_remux\"" },
    { "max_connections x;", ERR_CONF, "main:1 : max_connections : \"x\" is not a number" },
    { "max_connections 0;", ERR_CONF, "0 is not within 1..10000000" },
    { "max_connections inf;", ERR_CONF, "not a number" },
    { "workers 0;", ERR_CONF, "main:1 : workers : 0 is not within 1..64" },
    { "workers 65;", ERR_CONF, "65 is not within 1..64" },
    { "workers automatic;", ERR_CONF, "\"automatic\" is not a number" },
    { "workers_spread -1;", ERR_CONF, "-1 is not within" },
    { "listen 1935; worker_cpu_affinity 0102;", ERR_CONF, "\"0102\" is neither auto nor a mask" },
    { "listen 1935; worker_cpu_affinity 01 00;", ERR_CONF, "\"00\" is neither" },
    { "listen 1935; worker_cpu_affinity 01 auto;", ERR_CONF, "\"auto\" is neither" },
    { "listen 1935; worker_cpu_affinity auto 01 10;", ERR_CONF, "only one mask may follow auto" },
    { "chunk_size 127;", ERR_CONF, "127 is not within 128..65536" },
    { "chunk_size 65537;", ERR_CONF, "65537 is not within" },
    { "srs_log_tank disk;", ERR_CONF, "\"disk\" is not one of file, console" },
    { "limits { max_message_size 17m; }", ERR_CONF, "17825792 is not within" },
    { "grace_final_wait 1e30;", ERR_CONF, "is not within" },
    { IN_VHOST("publish { takeover maybe; }"), ERR_CONF, "not one of off, stale, on" },
    { IN_VHOST("play { mw_latency soon; }"), ERR_CONF, "not a number" },
    { IN_VHOST("play { queue_length -1; }"), ERR_CONF, "-1 is not within" },
    { "listen x;", ERR_CONF, "\"x\" is not a port" },
    { "listen 0;", ERR_CONF, "not a port" },
    { "listen 65536;", ERR_CONF, "not a port" },
    { "listen 1935x;", ERR_CONF, "not a port" },
    { "listen 1.2.3.4;", ERR_CONF, "not a port" },
    { "listen 1.2.3:1935;", ERR_CONF, "not an address to listen on" },
    { "listen localhost:1935;", ERR_CONF, "not an address to listen on" },
    { "listen ::1;", ERR_CONF, "not a port" },
    { "listen [::1];", ERR_CONF, "not a port" },
    { "listen [::1:1935;", ERR_CONF, "not [v6]:port" },
    { "listen [::1]1935;", ERR_CONF, "not [v6]:port" },
    { "listen 1935 1936 x;", ERR_CONF, "\"x\" is not a port" },
    { "listen " HUNDRED "1935;", ERR_CONF, "more than 100 endpoints" },
    { "listen proxy_protocol;", ERR_CONF, "must follow an endpoint" },
    { "listen 1935 proxy_protocol proxy_protocol;", ERR_CONF, "must follow an endpoint" },
    { "listen 1935; srt_server { listen 10080 proxy_protocol; }", ERR_CONF, "proxy_protocol is not supported" },
    { "listen 1935; srt_server { passphrase short; }", ERR_CONF, "10 to 79 characters, not 5" },
    { "listen 1935; srt_server { pbkeylen 17; }", ERR_CONF, "0, 16, 24 or 32" },
    { "listen 1935; vhost a { srt { passphrase short; } }", ERR_CONF, "10 to 79 characters, not 5" },
    { "trusted_proxies localhost;", ERR_CONF, "main:1 : trusted_proxies : \"localhost\" is not all" },
    { "trusted_proxies 10.0.0.0/33;", ERR_CONF, "prefix length" },
    { "trusted_proxies 10.0.0.1:80;", ERR_CONF, "is not all, an address" },
    { "trusted_proxies 10.0.0.1 none;", ERR_CONF, "\"none\" is not all" },
    { IN_VHOST("forward { destination rtmp://h?k=1; }"), ERR_CONF, "parameters but no /app" },
    { IN_VHOST("forward { destination rtmp:///app/key; }"), ERR_CONF, "has no host" },
    { IN_VHOST("forward { destination rtmp://h:x/app/key; }"), ERR_CONF, "\"x\" is not a port" },
    { IN_VHOST("forward { destination http://h; }"), ERR_CONF, "expected host:port or" },
    { IN_VHOST("forward { destination :1; }"), ERR_CONF, "has no host" },
    { IN_VHOST("forward { destination h:0; }"), ERR_CONF, "not a port" },
    { IN_VHOST("forward { destination rtsp://u:p@:1/a; }"), ERR_CONF, "has no host" },
    { IN_VHOST("forward { destination rtsps://h:0/[app]/[stream]; }"), ERR_CONF, "not a port" },
    { IN_VHOST("forward { destination rtsp://[::1/a; }"), ERR_CONF, "is not [v6]:port" },
    { IN_VHOST("forward { destination srt://h?streamid=a; }"), ERR_CONF, "srt://h: the port is" },
    { IN_VHOST("forward { destination srt://:1; }"), ERR_CONF, "has no host" },
    { IN_VHOST("forward { destination srt://h:x/; }"), ERR_CONF, "not a port" },
    { IN_VHOST("security { allow; }"), ERR_CONF, "expected publish or play" },
    { IN_VHOST("security { allow all; }"), ERR_CONF, "expected publish or play" },
    { IN_VHOST("security { allow watch all; }"), ERR_CONF, "expected publish or play" },
    { IN_VHOST("security { allow play 1.2.3; }"), ERR_CONF, "is not all, an address" },
    { IN_VHOST("security { allow play 1.2.3.4/33; }"), ERR_CONF, "prefix length" },
    { IN_VHOST("security { allow play 1.2.3.4/; }"), ERR_CONF, "prefix length" },
    { IN_VHOST("security { allow play 1.2.3.4/8x; }"), ERR_CONF, "prefix length" },
    { IN_VHOST("security { deny publish ::/129; }"), ERR_CONF, "prefix length" },
    /* rules for several values */
    { "listen 1935; http_api { enabled on; listen 80 proxy_protocol; }"
      "http_server { enabled on; listen 80; }", ERR_CONF, "80 is listed with and without" },
    { "listen 1935 1935 proxy_protocol;", ERR_CONF, "1935 is listed with and without" },
    { "daemon off;", ERR_CONF, "nothing to listen on" },
    { "listen 1935; is_full on;", ERR_CONF, "is_full" },
    { "listen 1935; asprocess on;", ERR_CONF, "daemon and asprocess cannot both be on" },
    { "listen 1935; max_connections 3968;", ERR_CONF, "run \"ulimit -HSn 4113\"" },
    { "listen 1935; stats { network 2; }", ERR_CONF, "there are 2 interfaces" },
    { "listen 1935; http_api { enabled on; listen 80; https { enabled on; listen 443; } }"
      "http_server { enabled on; listen 80; https { enabled on; listen 444; } }", ERR_CONF,
      "share a port, but not the https port" },
    { "listen 1935; http_api { enabled on; listen 81; https { enabled on; listen 443; } }"
      "http_server { enabled on; listen 80; https { enabled on; listen 443; } }", ERR_CONF,
      "share the https port" },
    { "listen 1935; http_api { auth { enabled on; username a; } }", ERR_CONF, "no username or password" },
    { "listen 1935; http_api { auth { enabled on; password a; } }", ERR_CONF, "no username or password" },
    { "listen 1935; http_api { auth { enabled on; type bearer; username a; password b; } }",
      ERR_CONF, "has no token: write one, or set SRS_HTTP_API_AUTH_TOKEN" },
    { "listen 1935; http_api { auth { enabled on; type bearer; token \"a b\"; } }", ERR_CONF,
      "characters that no header allows" },
    { "listen 1935; http_api { auth { type digest; } }", ERR_CONF, "digest" },
    { "listen 1935; heartbeat { auth { enabled on; } }", ERR_CONF,
      "has no token: write one, or set SRS_HEARTBEAT_AUTH_TOKEN" },
    { "listen 1935; heartbeat { interval 0; }", ERR_CONF, "0 is not within" },
    { IN_VHOST("hls { enabled on; } http_remux { enabled on; mount /[app]/[stream].ts; }"),
      ERR_CONF, "vhost v : http_remux of .ts and hls" },
    { IN_VHOST("forward { enabled on; } publish { kickoff_for_idle 1; }"), ERR_CONF,
      "cannot be combined" },
    { IN_VHOST("hls { enabled on; hls_ll on; hls_keys on; }"), ERR_CONF,
      "vhost v : hls_ll and hls_keys cannot both be on" },
    { IN_VHOST("ingest a { } ingest a { }"), ERR_CONF, "two ingest blocks are named \"a\"" },
};

static void errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct mem m = { .main = bad[i].text };
        struct conf_source src = mem_source(&m);
        struct conf *c = NULL;

        src.max_files = 4096;
        src.interfaces = 2;
        assert_err_says(conf_load(&c, &src, NULL), bad[i].code, bad[i].says);
        assert_null(c);
    }
    assert_int_equal(conf_live(), 0);
}

static const struct {
    const char *text, *warning; /* NULL: none */
} warned[] = {
    { "listen 1935;", NULL },
    { "listen 1935; threads { interval 5; }", NULL },
    { "listen 1935; max_connections 10 20;", "main:1: max_connections takes one word" },
    { "listen 1935;\nlisten 1936;", "main:2: duplicate \"listen\" in the block is ignored" },
    { "listen 1935; http_api { https { enabled on; } }",
      "http_api.https is on and has no effect: http_api is off" },
    { "listen 1935; http_server { https { enabled on; } }", "http_server is off" },
    { "listen 1935; http_api { https { enabled on; listen 443; } }"
      "http_server { enabled on; https { enabled on; listen 443; } }", "http_api is off" },
    { "listen 1935\ndaemon off;", "main:1: missing ; after \"listen\": it ends with its line" },
    { "listen 1935; vhost v {\nmode remote\norigin a:1935; }", "main:2: missing ; after \"mode\"" },
    { "listen 1935; vhost v { cluster { mode remote; origin a:1935; } }",
      "vhost \"v\" does not start: mode remote, an edge, is not implemented yet" },
    { "listen 1935; workers 3; worker_cpu_affinity 01 10;",
      "all further workers use the last of 2 masks, workers is 3" },
    { "listen 1935; worker_cpu_affinity 01 10;", "has 2 masks, but workers is 1" },
    { "listen 1935; workers auto; worker_cpu_affinity 01;", NULL },
    { "listen 1935; workers 4; worker_cpu_affinity auto 1100;", NULL },
    { "listen 1935; daemon maybe;", "neither on nor off, using on" },
    { "listen 1935; utc_time maybe;", "neither on nor off, using off" },
    { "listen 1935; utc_time yes; daemon No;", NULL },
    { "listen 1935; tcmalloc_release_rate 11;", "11 is not within 0..10, using 10" },
    { IN_VHOST("play { mw_msgs 300; }"), "using 128" },
    { IN_VHOST("rtc { opus_bitrate 1; }"), "using 48000" },
    { IN_VHOST("queue_length 10s;"), "queue_length: \"s\" after the number is ignored" },
    { IN_VHOST("") "vhost v { }", "duplicate vhost \"v\" is ignored" },
    { IN_VHOST("hds { enabled on; }") "vhost w { hds { enabled on; } }",
      "main:1: \"hds\" is accepted but not implemented" },
    { IN_VHOST("hds { enabled off; hds_fragment 3; }"), NULL },
    { IN_VHOST("hds { hds_fragment 3; }"), NULL },
    /* blocks without `enabled on` */
    { IN_VHOST("\nsecurity { deny publish all; }"), "main:2: vhost.security has no effect: write \"enabled on;\"" },
    { IN_VHOST("security { enabled off; deny publish all; }"), NULL },
    { IN_VHOST("security { }"), NULL },
    { IN_VHOST("http_hooks {\non_play http://x/; }"), "main:1: vhost.http_hooks has no effect" },
    { IN_VHOST("http_hooks { timeout 3; }"), NULL },
    { IN_VHOST("dvr { dvr_path ./x; }"), "vhost.dvr has no effect" },
    { IN_VHOST("transcode { enabled on; engine a { output x; } }"), "vhost.transcode.engine has no effect" },
    { IN_VHOST("ingest a { enabled on; input { url x; } engine { output x; } }"), NULL },
    { "listen 1935; http_api { listen 1985; }", "main:1: http_api has no effect" },
    /* directives that cannot work */
    { IN_VHOST("http_hooks { enabled on;\non_play http://x/ x/y; }"), "main:2: vhost v: on_play: \"x/y\" cannot be called" },
    { IN_VHOST("http_hooks { enabled on; on_play HTTPS://x/; }"), NULL },
    { IN_VHOST("forward { enabled on; backend x/; }"), "backend \"x/\" cannot be called" },
    { "listen 1935; heartbeat { enabled on; url x; }", "heartbeat: url cannot be called" },
    { IN_VHOST("http_remux { enabled on; }"), "http_remux is on and has no effect: http_server is off" },
    { IN_VHOST("http_static { enabled on; }"), "http_static is on and has no effect" },
    { IN_VHOST("hls { enabled on; hls_fragment 10;\nhls_window 5; }"), "main:2: vhost v: hls: hls_window 5 s is less than" },
    { IN_VHOST("hls { enabled off; hls_fragment 10; hls_window 5; }"), NULL },
    { IN_VHOST("forward { enabled on; destination 127.0.0.1; }"), "127.0.0.1:1935 is this server: each stream would loop" },
    { IN_VHOST("forward { enabled on; destination localhost:1935 h; }"), "localhost:1935 is this server" },
    { IN_VHOST("forward { enabled on; destination rtmp://[::1]/[app]/[stream]; }"), "::1:1935 is this server" },
    { IN_VHOST("forward { enabled on; destination 127.0.0.1:1936 rtmp://127.0.0.1/copies/[stream] rtmps://127.0.0.1:1935; }"), NULL },
    { IN_VHOST("forward { enabled on; destination rtmp://u:p@h/app/KEY; }"), "the user name and password for h are not sent" },
    { IN_VHOST("security { enabled on; allow play all; }"), "no rule allows to publish, so every client is refused" },
    { IN_VHOST("security { enabled on; allow publish 10.0.0.0/8; }"), "no rule allows to play, so every client is refused" },
    { IN_VHOST("security { enabled on; allow publish 10.0.0.0/8; deny play all; }"), NULL },
    { IN_VHOST("security { enabled on; allow publish 10.0.0.0/8; allow play all; }"), NULL },
    /* two protocols on one port */
    { "listen 1935; http_api { enabled on; listen 1935; }", "main:1: rtmp.listen and http_api.listen both have TCP port 1935" },
    { "listen 127.0.0.1:80; http_api { enabled on; listen 127.0.0.2:80; }", NULL },
    { "listen 127.0.0.1:80; http_api { enabled on; listen [::]:80; }", "both have TCP port 80" },
    { "listen 1935 [::]:1935;", NULL },
    { "listen 1935; http_api { enabled on; listen 8080; } http_server { enabled on; listen 8080; } "
      "exporter { enabled on; listen 8080; }", NULL },
    { "listen 1935; http_api { enabled off; listen 1935; }", NULL },
    { "listen 1935; srt_server { enabled on; listen 8000; }\nrtc_server { enabled on; listen 8000; } http_api { enabled on; }"
      "vhost v { srt { enabled on; } rtc { enabled on; } }", "main:2: srt_server.listen and rtc_server.listen both have UDP port 8000" },
    { "listen 8000; srt_server { enabled on; listen 8000; } vhost v { srt { enabled on; } }", NULL },
    { IN_VHOST("hds { enabled on; }"), "\"hds\" is accepted" },
    { "listen 1935; query_latest_version on;", "\"query_latest_version\" is accepted" },
    { IN_VHOST("forward { enabled on; backend http://x/; }"), NULL },
    { IN_VHOST("hls { hls_storage disk; }"), "\"hls_storage\" is obsolete and has no effect" },
    { IN_VHOST("hls { hls_acodec mp3; }"), "\"hls_acodec\" is obsolete and has no effect" },
    { IN_VHOST("hls { hls_vcodec vn; }"), "\"hls_vcodec\" is obsolete and has no effect" },
    { IN_VHOST("publish { try_annexb_first off; }"), "\"try_annexb_first\" is obsolete and has" },
    { IN_VHOST("dash { enabled on; }"), NULL },
    { IN_VHOST("bandcheck { enabled on; key x; }"), NULL },
    { "listen 1935; tencentcloud_cls { enabled on; label x; }", "is obsolete and has no effect" },
    { "listen 1935; stream_caster { enabled on; caster gb28181; sip { realm 1; } }",
      "\"realm\" is obsolete and has no effect" },
};

static void warnings(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(warned); i++) {
        struct mem m = { .main = warned[i].text };
        struct conf *c = NULL;

        assert_ok(mem_load(&c, &m));
        if (warned[i].warning && !strstr(m.warnings, warned[i].warning))
            fail_msg("%s: wanted \"%s\", got: %s", warned[i].text, warned[i].warning, m.warnings);
        if (!warned[i].warning && m.n_warnings)
            fail_msg("%s: wanted none, got: %s", warned[i].text, m.warnings);
        conf_unref(c);
    }
}

static void one_warning_per_name(void **state)
{
    struct mem m = { .main = IN_VHOST("hds { enabled on; }") "vhost w { hds { enabled on; } }" };
    struct conf *c = NULL;

    (void)state;
    assert_ok(mem_load(&c, &m));
    assert_int_equal(m.n_warnings, 1);
    conf_unref(c);
}

/* ------------------------------------------------------------------ the environment, programs */

static void variables_that_are_none(void **state)
{
    static const char *const quiet[] = {
        "SRS_LISTEN=1935", "SRS_RTMP_LISTEN=1935", "SRS_VHOST_HLS_ENABLED=on", "SRS_SRS_LOG_TANK=console",
        "SRS_QUERY_LATEST_VERSION=on", "SRS_CONFIG_FILE=x", "SRS_ENV_ONLY=on", "SRS_DEVICE_IP=x", "SRS_PLATFORM=x",
        "SRS_SERVICE_HOST=10.0.0.1", "SRS_PORT=tcp://10.0.0.1:1935", "SRS_PORT_1935_TCP_ADDR=10.0.0.1", "SRS_EDGE_SERVICE_PORT_RTMP=1935",
        "SRS_VHOST_HLS_HLS_ACODEC=aac", "SRS_THREADS_INTERVAL=5", "SRS_EMPTY=", "SRSX=1", "PATH=/bin", "SRS_RTSP_SERVER_HTTPS_KEY=x", NULL,
    };
    static const char *const odd[] = { "SRS_VHOST_HLS_FRAGMENT=5", "SRS_LISTENS=1", "SRS_XYZZY_PLUGH=1", NULL };
    static const char *const *const both[] = { quiet, odd };
    struct mem m = { .main = "listen 1935;" };
    struct conf_source src = mem_source(&m);
    const struct conf_report report = { .warn = mem_warn, .arg = &m };

    (void)state;
    for (size_t i = 0; i < COUNT(both); i++) {
        struct conf *c = NULL;

        src.environment = both[i];
        m.warnings[0] = '\0';
        assert_ok(conf_load(&c, &src, &report));
        assert_string_equal(m.warnings, i == 0 ? "" :
            "environment: SRS_VHOST_HLS_FRAGMENT is not a setting and has no effect; did you mean SRS_VHOST_HLS_HLS_FRAGMENT?\n"
            "environment: SRS_LISTENS is not a setting and has no effect; did you mean SRS_LISTEN?\n"
            "environment: SRS_XYZZY_PLUGH is not a setting and has no effect; see doc/config.md\n");
        conf_unref(c);
    }
}

/* A block that only environment variables set. */
static void blocks_of_the_environment(void **state)
{
    static const struct {
        const struct mem_pair env[3];
        size_t warnings;
    } rows[] = {
        { { { "SRS_VHOST_SECURITY_KEY", "live/a abcdefgh" } }, 1 },
        { { { "SRS_VHOST_SECURITY_KEY", "live/a abcdefgh" }, { "SRS_VHOST_SECURITY_ENABLED", "true" } }, 0 },
        { { { "SRS_VHOST_SECURITY_KEY", "live/a abcdefgh" }, { "SRS_VHOST_SECURITY_ENABLED", "0" } }, 0 },
        { { { "SRS_VHOST_DVR_ENABLED", "off" } }, 0 },
        { { { "SRS_QUERY_LATEST_VERSION", "on" } }, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mem m = { .main = "listen 1935; vhost v { }", .env = rows[i].env };
        struct conf *c = NULL;

        assert_ok(mem_load(&c, &m));
        if (m.n_warnings != rows[i].warnings ||
            (m.n_warnings && !strstr(m.warnings, "no effect: set SRS_VHOST_SECURITY_ENABLED=on\n")))
            fail_msg("%zu: %s", i, m.warnings);
        conf_unref(c);
    }
}

static void programs_that_are_missing(void **state)
{
    static const struct {
        const char *ffmpeg;
        bool there;
    } rows[] = { { "/no/such/ffmpeg", false }, { "./sh", true }, { "./no/ffmpeg", false }, { "/bin/sh", true }, { "ffmpeg", true } };

    (void)state;
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        char text[256];
        struct mem m = { .main = text };
        struct conf_source src = mem_source(&m);
        const struct conf_report report = { .warn = mem_warn, .arg = &m };
        struct conf *c = NULL;

        src.folder = "/";
        (void)snprintf(text, sizeof(text), "listen 1935; work_dir %s; vhost v { ingest a { enabled off; ffmpeg /no; }\n"
                       "ingest b { enabled on;\nffmpeg %s; input { url x; } engine { output x; } } }",
                       i % 2 ? "bin" : "/bin", rows[i / 2].ffmpeg);
        assert_ok(conf_load(&c, &src, &report));
        assert_int_equal(m.n_warnings, !rows[i / 2].there);
        if (!rows[i / 2].there)
            assert_non_null(strstr(m.warnings, "main:3: vhost v: ingest: "));
        conf_unref(c);
    }
}

/* ------------------------------------------------------------------ values */

static void globals(void **state)
{
    struct conf *c = mem_conf(
        "listen 1935 127.0.0.1:1936 [::1]:1937 :1938; max_connections 10; daemon off; utc_time on;"
        "pithy_print_ms 500; watchdog_ms 0; pid /run/x.pid; server_id me; srs_log_tank console;"
        "rtmp { send_timeout 2.5; } limits { max_message_size 64k; max_chunk_streams 10; }"
        "stats { disk sda sdb; } workers auto; workers_spread 0; worker_cpu_affinity auto 0101;");

    (void)state;
    assert_int_equal(c->rtmp.listen.n, 4);
    assert_string_equal(c->rtmp.listen.v[0].host, "");
    assert_int_equal(c->rtmp.listen.v[0].port, 1935);
    assert_string_equal(c->rtmp.listen.v[1].host, "127.0.0.1");
    assert_string_equal(c->rtmp.listen.v[2].host, "::1");
    assert_int_equal(c->rtmp.listen.v[2].port, 1937);
    assert_string_equal(c->rtmp.listen.v[2].text, "[::1]:1937");
    assert_string_equal(c->rtmp.listen.v[3].host, "");
    assert_int_equal(c->rtmp.listen.v[3].port, 1938);
    assert_int_equal(c->max_connections, 10);
    assert_int_equal(c->workers, CONF_AUTO);
    assert_int_equal(c->workers_spread, 0);
    assert_int_equal(c->worker_cpu_affinity.n, 2);
    assert_string_equal(c->worker_cpu_affinity.v[1], "0101");
    assert_false(c->daemon);
    assert_true(c->utc_time);
    assert_int_equal(c->sampled_print, 500 * 1000);
    assert_int_equal(c->watchdog, 0);
    assert_string_equal(c->pid, "/run/x.pid");
    assert_string_equal(c->server_id, "me");
    assert_int_equal(c->srs_log_tank, CONF_TANK_CONSOLE);
    assert_int_equal(c->rtmp.send_timeout, 2500 * 1000);
    assert_int_equal(c->limits.max_message_size, 65536);
    assert_int_equal(c->limits.max_chunk_streams, 10);
    assert_int_equal(c->stats.disk.n, 2);
    assert_string_equal(c->stats.disk.v[1], "sdb");
    assert_int_equal(c->vhost.n, 0);
    assert_null(conf_vhost_find(c, "__defaultVhost__"));
    conf_unref(c);
}

static void defaults(void **state)
{
    struct conf *c = mem_conf("listen 1935; vhost v { }");
    const struct conf_vhost *v = &c->vhost.v[0];

    (void)state;
    assert_true(c->daemon);
    assert_int_equal(c->max_connections, 1000);
    assert_int_equal(c->workers, 1);
    assert_int_equal(c->workers_spread, 64);
    assert_int_equal(c->worker_cpu_affinity.n, 0);
    assert_int_equal(c->log_level, CONF_LOG_USUAL);
    assert_int_equal(c->watchdog, 100 * 1000);
    assert_int_equal(c->rtmp.send_timeout, 30 * 1000000);
    assert_true(c->limits.max_message_size >= 16 << 20);
    assert_string_equal(c->server_id, "");
    assert_int_equal(c->http_api.https.listen.v[0].port, 1990);
    assert_int_equal(c->srt_server.recvlatency, 120 * 1000);
    assert_int_equal(v->chunk_size, 60000);
    assert_int_equal(v->out_ack_size, 2500000);
    assert_false(v->min_latency);
    assert_true(v->rtc.min_latency);
    assert_int_equal(v->rtc.mw_msgs, 0);
    assert_int_equal(v->play.mw_latency, 350 * 1000);
    assert_int_equal(v->play.mw_msgs, 8);
    assert_int_equal(v->play.queue_length, 30 * 1000000);
    assert_int_equal(v->play.time_jitter, CONF_JITTER_FULL);
    assert_int_equal(v->publish.takeover, CONF_TAKEOVER_STALE);
    assert_int_equal(v->publish.firstpkt_timeout, 20 * 1000000);
    assert_int_equal(v->publish.kickoff_for_idle, 0);
    assert_string_equal(v->hls.key_url, "./objs/nginx/html");
    assert_string_equal(v->dvr.apply.v[0], "all");
    assert_int_equal(v->dash.fragment, 10 * 1000000);
    assert_true(v->srt.srt_to_rtmp);
    conf_unref(c);
}

/* `latency` sets both, a value for one overrides it, even 0; packets contain whole TS packets. */
static void srt_resolved(void **state)
{
    static const struct {
        const char *text;
        int recv_ms, peer_ms, payload;
    } rows[] = {
        { "", 120, 0, 1316 },
        { "latency 200;", 200, 200, 1316 },
        { "latency 200; recvlatency 300;", 300, 200, 1316 },
        { "latency 200; peerlatency 0;", 200, 0, 1316 },
        { "recvlatency 0; peerlatency 0;", 0, 0, 1316 },
        { "payloadsize 1456;", 120, 0, 1316 },
        { "payloadsize 400; mss 9000;", 120, 0, 376 },
        { "mss 1000;", 120, 0, 940 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[200];
        struct conf *c;

        (void)snprintf(text, sizeof(text), "listen 1935; srt_server { %s }", rows[i].text);
        c = mem_conf(text);
        assert_int_equal(c->srt_server.recvlatency, rows[i].recv_ms * 1000);
        assert_int_equal(c->srt_server.peerlatency, rows[i].peer_ms * 1000);
        assert_int_equal(c->srt_server.payloadsize, rows[i].payload);
        conf_unref(c);
    }
}

/* Computed values. */
static void resolved(void **state)
{
    struct conf *c = mem_conf(
        "listen 1935; chunk_size 4096; srs_log_level_v2 warn; srt_server { latency 200; }"
        "http_api { listen 80; } http_server { listen 80; https { listen 443; } }"
        "vhost a { }"
        "vhost b { chunk_size 128; min_latency on; play { atc on; mw_latency auto; } }"
        "vhost c { min_latency off; play { mw_msgs 3; }"
        "  hls { hls_path /hls; hls_key_url http://k; } }"
        "vhost d { play { mw_msgs 1000; mw_latency 0; } }");
    const struct conf_vhost *v = c->vhost.v;

    (void)state;
    assert_int_equal(c->log_level, CONF_LOG_WARN);
    assert_int_equal(c->srt_server.recvlatency, 200 * 1000);
    assert_int_equal(c->srt_server.peerlatency, 200 * 1000);
    assert_int_equal(c->http_api.https.listen.v[0].port, 443);
    assert_int_equal(v[0].chunk_size, 4096);
    assert_int_equal(v[1].chunk_size, 128);
    assert_true(v[1].min_latency);
    assert_int_equal(v[1].play.mw_msgs, 0);
    assert_int_equal(v[1].play.time_jitter, CONF_JITTER_OFF);
    assert_true(v[1].play.mw_latency == CONF_AUTO);
    assert_false(v[2].rtc.min_latency);
    assert_int_equal(v[2].play.mw_msgs, 3);
    assert_int_equal(v[2].rtc.mw_msgs, 3);
    assert_string_equal(v[2].hls.key_file_path, "/hls");
    assert_string_equal(v[2].hls.key_url, "http://k");
    assert_int_equal(v[3].play.mw_msgs, 128);
    assert_int_equal(v[3].play.mw_latency, 0);
    conf_unref(c);
}

static const struct {
    const char *text;
    enum conf_log_level level;
} levels[] = {
    { "srs_log_level verbose;", CONF_LOG_VERBOSE }, { "srs_log_level info;", CONF_LOG_DETAIL },
    { "srs_log_level trace;", CONF_LOG_USUAL },     { "srs_log_level warn;", CONF_LOG_WARN },
    { "srs_log_level error;", CONF_LOG_ERROR },
    { "srs_log_level_v2 trace;", CONF_LOG_VERBOSE },
    { "srs_log_level_v2 debug;", CONF_LOG_DETAIL }, { "srs_log_level_v2 info;", CONF_LOG_USUAL },
    { "srs_log_level_v2 warn;", CONF_LOG_WARN },    { "srs_log_level_v2 error;", CONF_LOG_ERROR },
    { "srs_log_level_v2 '';", CONF_LOG_USUAL },
    { "srs_log_level error; srs_log_level_v2 debug;", CONF_LOG_DETAIL },
};

static void log_levels(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(levels); i++) {
        char text[128];
        struct conf *c;

        (void)snprintf(text, sizeof(text), "listen 1935; %s", levels[i].text);
        c = mem_conf(text);
        assert_int_equal(c->log_level, levels[i].level);
        conf_unref(c);
    }
}

static void lists_and_blocks(void **state)
{
    struct conf *c = mem_conf(IN_VHOST(
        "forward { enabled on; destination 127.0.0.1 h:1936 [::1]:1937 rtmp://u:1938; }"
        "exec { enabled on; publish ./a -i [url] 'b c'; publish d; }"
        "transcode live/s { enabled on; ffmpeg /f; engine x { enabled on; vcodec libx264;"
        "  vfilter { vf 'drawtext=text=a b' c; i ./l.png; } vfps 25.5; } engine y { } }"
        "ingest i1 { input { type stream; url u; } engine { enabled off; } }"
        "http_hooks { enabled on; on_play http://a http://b; }"));
    const struct conf_vhost *v = &c->vhost.v[0];

    (void)state;
    assert_int_equal(v->forward.destination.n, 4);
    assert_int_equal(v->forward.destination.v[0].port, 1935);
    assert_string_equal(v->forward.destination.v[1].host, "h");
    assert_int_equal(v->forward.destination.v[1].port, 1936);
    assert_string_equal(v->forward.destination.v[2].host, "::1");
    assert_string_equal(v->forward.destination.v[3].host, "u");
    assert_int_equal(v->forward.destination.v[3].port, 1938);
    assert_int_equal(v->exec.publish.n, 2);
    assert_int_equal(v->exec.publish.v[0].n, 4);
    assert_string_equal(v->exec.publish.v[0].v[3], "b c");
    assert_string_equal(v->transcode.v[0].name, "live/s");
    assert_int_equal(v->transcode.v[0].engine.n, 2);
    assert_string_equal(v->transcode.v[0].engine.v[0].vfilter.v[0].name, "vf");
    assert_string_equal(v->transcode.v[0].engine.v[0].vfilter.v[0].value, "drawtext=text=a b c");
    assert_true(v->transcode.v[0].engine.v[0].vfps == 25.5);
    assert_int_equal(v->transcode.v[0].engine.v[1].vthreads, 1);
    assert_string_equal(v->ingest.v[0].name, "i1");
    assert_int_equal(v->ingest.v[0].input.type, CONF_INGEST_STREAM);
    assert_string_equal(v->ingest.v[0].engine.v[0].name, "");
    assert_int_equal(v->http_hooks.on_play.n, 2);
    conf_unref(c);
}

/* No word, or an empty one, means the default. */
static void empty_words(void **state)
{
    struct conf *c = mem_conf("listen 1935; max_connections; pid ''; chunk_size \"\"; vhost v { }");

    (void)state;
    assert_int_equal(c->max_connections, 1000);
    assert_string_equal(c->pid, "./objs/srs.pid");
    assert_int_equal(c->vhost.v[0].chunk_size, 60000);
    conf_unref(c);
}

static void vhosts_are_found(void **state)
{
    struct conf *c = mem_conf("listen 1935; vhost a { enabled off; } vhost __defaultVhost__ { }"
                              "vhost b { }");

    (void)state;
    assert_string_equal(conf_vhost_find(c, "b")->name, "b");
    assert_false(conf_vhost_find(c, "a")->enabled);
    assert_string_equal(conf_vhost_find(c, "x")->name, "__defaultVhost__");
    assert_string_equal(conf_vhost_find(c, "")->name, "__defaultVhost__");
    assert_string_equal(conf_vhost_find(c, "__defaultVhost__")->name, "__defaultVhost__");
    conf_unref(c);
}

static void references(void **state)
{
    struct conf *c = mem_conf("listen 1935;");

    (void)state;
    assert_ptr_equal(conf_ref(c), c);
    assert_null(conf_unref(c));
    assert_int_equal(conf_live(), 1);
    assert_null(conf_unref(c));
    assert_int_equal(conf_live(), 0);
    assert_null(conf_unref(NULL));
}

enum { HOLDERS = 4, TURNS = 10000 };

static void *hold(void *arg)
{
    struct conf *c = arg;

    for (int i = 0; i < TURNS; i++)
        (void)conf_unref(conf_ref(c));
    (void)conf_unref(c);
    return NULL;
}

/* Workers share a snapshot, and any of them may release it last. */
static void references_of_threads(void **state)
{
    struct conf *c = mem_conf("listen 1935;");
    pthread_t threads[HOLDERS];

    (void)state;
    for (int i = 0; i < HOLDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hold, conf_ref(c)), 0);
    assert_null(conf_unref(c));
    for (int i = 0; i < HOLDERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(conf_live(), 0);
}

/* Sockets of each endpoint, separated by commas; 4+6: one socket for both families. */
static const struct {
    const char *listen, *binds;
} listens[] = {
    { "listen 1;", "4+6" },
    { "listen [::]:1;", "4+6" },
    { "listen [0:0::0]:1;", "4+6" },
    { "listen 0.0.0.0:1;", "0.0.0.0" },
    { "listen 1 [::]:1;", "0.0.0.0 ::, ::" },
    { "listen [::]:1 1;", "::, 0.0.0.0 ::" },
    { "listen 0.0.0.0:1 [::]:1;", "0.0.0.0, ::" },
    { "listen [::]:1 0.0.0.0:1;", "::, 0.0.0.0" },
    { "listen 1 0.0.0.0:1;", "0.0.0.0 ::, 0.0.0.0" },
    { "listen 1 [::1]:1;", "0.0.0.0, ::1" },
    { "listen [::]:1 127.0.0.1:1;", "::, 127.0.0.1" },
    { "listen 1 127.0.0.1:1;", "4+6, 127.0.0.1" }, /* the system rejects it */
    { "listen 1 [::]:2;", "4+6, 4+6" },
};

static void append_binds(char *got, size_t size, const struct conf_endpoints *list, size_t i)
{
    struct conf_bind b[CONF_BINDS_EACH];
    size_t n = conf_binds(&list->v[i], conf_binds_at(list, list->v[i].port), b);

    for (size_t k = 0; k < n; k++) {
        size_t used = strlen(got);

        (void)snprintf(got + used, size - used, "%s%s", k > 0 ? " " : i > 0 ? ", " : "",
                       *b[k].host ? b[k].host : "4+6");
        assert_int_equal(b[k].port, list->v[i].port);
    }
}

static void binds(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(listens); i++) {
        struct conf *c = mem_conf(listens[i].listen);
        char got[128] = "";

        for (size_t k = 0; k < c->rtmp.listen.n; k++)
            append_binds(got, sizeof(got), &c->rtmp.listen, k);
        assert_string_equal(got, listens[i].binds);
        conf_unref(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(errors),          TEST(warnings),    TEST(one_warning_per_name),
        TEST(variables_that_are_none), TEST(blocks_of_the_environment), TEST(programs_that_are_missing),
        TEST(globals),         TEST(defaults),    TEST(resolved),
        TEST(srt_resolved),
        TEST(log_levels),      TEST(lists_and_blocks), TEST(empty_words),
        TEST(vhosts_are_found), TEST(references), TEST(references_of_threads),
        TEST(binds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
