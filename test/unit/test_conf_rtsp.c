/* SPDX-License-Identifier: MIT */
/* test_conf_rtsp.c - directives of RTSP: values, errors, warnings, a reload. */
#include "conf_mem.h"

#define SERVER(text) "listen 1935; daemon off; rtsp_server { " text " }"
#define IN_RTSP(text) "listen 1935; daemon off; vhost v { rtsp { " text " } }"
#define CAMERA "stream live/c; url rtsp://h/c;"

static void defaults(void **state)
{
    struct conf *c = mem_conf("listen 1935; vhost v { play { mw_latency 120; } }");
    const struct conf_rtsp_server *s = &c->rtsp_server;
    const struct conf_vhost_rtsp *r = &c->vhost.v[0].rtsp;

    (void)state;
    assert_false(s->enabled);
    assert_int_equal(s->listen.n, 1);
    assert_int_equal(s->listen.v[0].port, 554);
    assert_true(s->tcp && s->udp && s->udp_gso && s->tunnel);
    assert_int_equal(s->udp_port, 8560);
    assert_int_equal(s->mtu, 1400);
    assert_int_equal(s->channels, CONF_RTSP_CHANNELS_SERVER);
    assert_int_equal(s->session_timeout, 60 * 1000000);
    assert_int_equal(s->publish_timeout, 15 * 1000000);
    assert_int_equal(s->send_timeout, 30 * 1000000);
    assert_int_equal(s->describe_wait, 5 * 1000000);
    assert_false(s->https.enabled);
    assert_int_equal(s->https.listen.v[0].port, 322);
    assert_int_equal(s->https.protocols.n, 2);
    assert_false(s->multicast.enabled);
    assert_string_equal(s->multicast.range.v[0].text, "239.0.0.0/8");
    assert_int_equal(s->multicast.port, 8570);
    assert_int_equal(s->multicast.ttl, 16);
    assert_false(r->enabled);
    assert_true(r->rtmp_to_rtsp);
    assert_int_equal(r->mw_latency, 120 * 1000);
    assert_int_equal(r->jitter, 200 * 1000);
    assert_false(r->keep_broken);
    assert_false(r->auth.enabled);
    assert_string_equal(r->auth.realm, "SRS");
    assert_true(r->auth.md5 && r->auth.basic && !r->auth.sha256);
    assert_int_equal(r->pull.n, 0);
    conf_unref(c);
}

static void values(void **state)
{
    struct conf *c = mem_conf(
        "listen 1935; rtsp_server { enabled on; listen 8554 [::]:8555 proxy_protocol;"
        "transports udp; udp_port 9000; channels client; describe_wait 0;"
        "https { enabled on; listen 8322; certificate a.b { key k; cert c; } }"
        "multicast { enabled on; range 232.1.0.0/16; port 9100; ttl 1; } }"
        "vhost v { rtsp { enabled on; mw_latency auto; keep_broken on;"
        "auth { enabled on; methods digest-sha256; realm 'a b'; user u 'p w'; user v q publish play; }"
        "pull { stream a; url rtsp://h/1; transport udp; on_demand on; }"
        "pull door { enabled off; } } }");
    const struct conf_rtsp_server *s = &c->rtsp_server;
    const struct conf_vhost_rtsp *r = &c->vhost.v[0].rtsp;

    (void)state;
    assert_int_equal(s->listen.n, 2);
    assert_true(s->listen.v[1].proxied);
    assert_true(s->udp && !s->tcp);
    assert_int_equal(s->channels, CONF_RTSP_CHANNELS_CLIENT);
    assert_int_equal(s->describe_wait, 0);
    assert_string_equal(s->https.certificate.v[0].name, "a.b");
    assert_string_equal(s->multicast.range.v[0].text, "232.1.0.0/16");
    assert_true(r->mw_latency == CONF_AUTO);
    assert_true(r->auth.sha256 && !r->auth.md5 && !r->auth.basic);
    assert_int_equal(r->auth.user.n, 2);
    assert_string_equal(r->auth.user.v[0].v[1], "p w");
    assert_int_equal(r->auth.user.v[1].n, 4);
    assert_int_equal(r->pull.n, 2);
    assert_true(r->pull.v[0].enabled && r->pull.v[0].on_demand);
    assert_string_equal(r->pull.v[0].transport.v[0], "udp");
    assert_int_equal(r->pull.v[0].linger, 10 * 1000000);
    assert_false(r->pull.v[0].tls_verify);
    assert_string_equal(r->pull.v[1].name, "door");
    assert_string_equal(r->pull.v[1].transport.v[0], "tcp");
    conf_unref(c);
}

static const struct mem_bad bad[] = {
    { SERVER("udp_port 8561;"), "rtsp_server : udp_port 8561 is odd" },
    { SERVER("udp_port 65535;"), "65535 is not within 2..65534" },
    { SERVER("transports tcp sctp;"), "transports: \"sctp\" is not known: tcp, udp" },
    { SERVER("transports multicast;"), "\"multicast\" is not known" },
    { SERVER("channels ours;"), "\"ours\" is not one of server, client" },
    { SERVER("mtu 100;"), "100 is not within 200..9000" },
    { SERVER("listen localhost:554;"), "not an address to listen on" },
    { SERVER("listen 8554; https { listen 8554 proxy_protocol; }"), "8554 is listed with and" },
    { SERVER("https { enabled on; ssl_protocols TLSv1.1; }"), "rtsp_server.https: ssl_protocols" },
    { SERVER("https { enabled on; certificate a { key k; } }"), "needs both key and cert" },
    { SERVER("multicast { port 8571; }"), "rtsp_server.multicast : port 8571 is odd" },
    { SERVER("multicast { range 10.0.0.0/8; }"), "one network of IPv4 groups" },
    { SERVER("multicast { range ff00::/8; }"), "one network of IPv4 groups" },
    { SERVER("multicast { range all; }"), "one network of IPv4 groups" },
    { SERVER("multicast { range 224.0.0.0/3; }"), "one network of IPv4 groups" },
    { SERVER("multicast { range none; }"), "one network of IPv4 groups" },
    { SERVER("multicast { range 239.1.0.0/16 239.2.0.0/16; }"), "one network of IPv4 groups" },
    { SERVER("multicast { ttl 0; }"), "0 is not within 1..255" },
    { IN_RTSP("auth { enabled on; }"), "vhost v : rtsp.auth : it is on but has no user" },
    { IN_RTSP("auth { user u; }"), "user takes a name" },
    { IN_RTSP("auth { user u p play publish play; }"), "user takes a name" },
    { IN_RTSP("auth { user u p watch; }"), "user u: \"watch\" is not known: play, publish" },
    { IN_RTSP("auth { user u p play record; }"), "\"record\" is not known" },
    { IN_RTSP("auth { user u p play play; }"), "user u: play is repeated" },
    { IN_RTSP("auth { user u ''; }"), "user takes a name" },
    { IN_RTSP("auth { user a:b p; }"), "a name must not contain" },
    { IN_RTSP("auth { realm 'a\"b'; }"), "realm must not contain" },
    { IN_RTSP("auth { methods digest; }"),
      "methods: \"digest\" is not known: digest-md5, digest-sha256, basic" },
    { IN_RTSP("pull { }"), "vhost v : rtsp.pull : it needs both stream and url" },
    { IN_RTSP("pull { stream live/c; }"), "needs both" },
    { IN_RTSP("pull { stream live/c; url http://h/c; }"), "must begin with rtsp:// or rtsps://" },
    { IN_RTSP("pull { " CAMERA " } pull { " CAMERA " }"), "duplicate pull of live/c" },
    { IN_RTSP("pull { " CAMERA " transport http; }"), "transport: \"http\" is not known" },
    { IN_RTSP("mw_latency 60001;"), "60001 is not within" },
};

static void errors(void **state)
{
    (void)state;
    mem_assert_bad(bad, COUNT(bad));
}

static const struct mem_warned warned[] = {
    { SERVER("enabled on; listen 8554;") "vhost v { rtsp { enabled on; } }", NULL },
    { SERVER("enabled on;"), "rtsp_server has no effect: no vhost has rtsp {" },
    { SERVER("https { enabled on; }"), "rtsp_server.https is on and has no effect" },
    { IN_RTSP("enabled on;"), "vhost v: rtsp is on and has no effect: rtsp_server is off" },
    { IN_RTSP("enabled on; pull { " CAMERA " }"), NULL },
    { IN_RTSP("pull { " CAMERA " }"), "vhost v: pull has no effect: rtsp is off" },
    { IN_RTSP("enabled off; pull { enabled off; } pull { enabled off; " CAMERA " }"), NULL },
};

static void warnings(void **state)
{
    (void)state;
    mem_assert_warned(warned, COUNT(warned));
}

static const struct mem_variable env_rows[] = {
    { "SRS_RTSP_SERVER_ENABLED", "on", SERVER("enabled on;") },
    { "SRS_RTSP_SERVER_LISTEN", "8554 8555", SERVER("listen 8554 8555;") },
    { "SRS_RTSP_SERVER_TRANSPORTS", "tcp", SERVER("transports tcp;") },
    { "SRS_RTSP_SERVER_UDP_PORT", "9000", SERVER("udp_port 9000;") },
    { "SRS_RTSP_SERVER_SESSION_TIMEOUT", "30", SERVER("session_timeout 30;") },
    { "SRS_RTSP_SERVER_HTTPS_ENABLED", "on", SERVER("https { enabled on; }") },
    { "SRS_RTSP_SERVER_MULTICAST_RANGE", "238.0.0.0/8", SERVER("multicast { range 238.0.0.0/8; }") },
    { "SRS_VHOST_RTSP_ENABLED", "on", IN_RTSP("enabled on;") },
    { "SRS_VHOST_RTSP_RTMP_TO_RTSP", "off", IN_RTSP("rtmp_to_rtsp off;") },
    { "SRS_VHOST_RTSP_MW_LATENCY", "0", IN_RTSP("mw_latency 0;") },
    { "SRS_VHOST_RTSP_AUTH_METHODS", "basic", IN_RTSP("auth { methods basic; }") },
    /* not settable by environment */
    { "SRS_VHOST_RTSP_AUTH_USER", "u p", IN_RTSP("") },
    { "SRS_VHOST_RTSP_PULL_URL", "rtsp://h/", IN_RTSP("") },
};

static void environment(void **state)
{
    (void)state;
    mem_assert_environment(env_rows, COUNT(env_rows));
}

static const struct mem_reload changes[] = {
    { SERVER("listen 8554;"), SERVER("enabled on; listen 8555;"),
      "rtsp_server.enabled:handler off>on\nrtsp_server.listen:handler 8554>8555\n" },
    { SERVER(""), SERVER("udp_port 9000;"), "rtsp_server.udp_port:never 8560>9000\n" },
    { IN_RTSP(""), IN_RTSP("enabled on; mw_latency 10;"),
      "vhost[v].rtsp.enabled:once off>on\nvhost[v].rtsp.mw_latency:handler >10\n" },
    { IN_RTSP("mw_latency auto;"), IN_RTSP(""), "vhost[v].rtsp.mw_latency:handler auto>\n" },
    { IN_RTSP("auth { user u old; }"), IN_RTSP("auth { user u new; }"),
      "vhost[v].rtsp.auth.user:once ***>***\n" },
    { IN_RTSP("pull { " CAMERA " }"), IN_RTSP("pull { stream live/c; url rtsp://u:p@h/c; }"),
      "vhost[v].rtsp.pull[].url:handler ***>***\n" },
    { "listen 1935; daemon off; vhost v { forward { destination rtsp://u:a@h/live/s; } }",
      "listen 1935; daemon off; vhost v { forward { destination h rtsp://u:b@h/live/s; } }",
      "vhost[v].forward.destination:handler ***>***\n" },
    { "listen 1935; daemon off; vhost v { forward { destination rtsp://h/live/s@t; } }",
      "listen 1935; daemon off; vhost v { forward { destination rtsp://h/live/s; } }",
      "vhost[v].forward.destination:handler rtsp://h/live/s@t>rtsp://h/live/s\n" },
    { "listen 1935; daemon off; vhost v { forward { destination h; } }",
      "listen 1935; daemon off; vhost v { forward { destination h rtmps://h/app/key; } }",
      "vhost[v].forward.destination:handler ***>***\n" },
    { "listen 1935; daemon off; vhost v { forward { destination h; } }",
      "listen 1935; daemon off; vhost v { forward { destination rtmp://h:1935; } }",
      "vhost[v].forward.destination:handler h>rtmp://h:1935\n" },
};

static void a_reload(void **state)
{
    (void)state;
    mem_assert_reloads(changes, COUNT(changes));
}

/* A value that is not set follows play, even if only play changes. */
static void latency_follows(void **state)
{
    struct conf *old = mem_conf("listen 1935; vhost v { play { mw_latency 100; } }"), *new = NULL;
    struct mem m = { .main = "listen 1935; vhost v { play { mw_latency 200; } }" };
    const struct conf_source src = mem_source(&m);

    (void)state;
    assert_ok(conf_reload(&new, old, &src, NULL, NULL));
    assert_int_equal(new->vhost.v[0].rtsp.mw_latency, 200 * 1000);
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
        TEST(warnings),
        TEST(environment),
        TEST(a_reload),
        TEST(latency_follows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
