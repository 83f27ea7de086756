/* SPDX-License-Identifier: MIT */
/* test_conf_srt.c - directives of SRT: values, errors, warnings, the environment, a reload. */
#include "conf_mem.h"

#define SERVER(text) "listen 1935; daemon off; srt_server { " text " }"
#define IN_SRT(text) "listen 1935; daemon off; vhost v { srt { " text " } }"
#define LETTERS_39 "123456789012345678901234567890123456789"

static void defaults(void **state)
{
    struct conf *c = mem_conf("listen 1935; vhost v { }");
    const struct conf_srt_server *s = &c->srt_server;
    const struct conf_vhost_srt *v = &c->vhost.v[0].srt;

    (void)state;
    assert_false(s->enabled);
    assert_int_equal(s->listen.n, 1);
    assert_int_equal(s->listen.v[0].port, 10080);
    assert_int_equal(s->recvlatency, 120 * 1000);
    assert_int_equal(s->peerlatency, 0);
    assert_int_equal(s->connect_timeout, 3 * 1000000);
    assert_int_equal(s->peer_idle_timeout, 10 * 1000000);
    assert_int_equal(s->payloadsize, 1316);
    assert_int_equal(s->merge, 20 * 1000);
    assert_true(s->relay && s->gso && s->tsbpdmode && s->tlpktdrop && s->sei_filter);
    assert_int_equal(s->max_connections, 10000);
    assert_int_equal(s->max_ip, CONF_UNSET);
    assert_int_equal(conf_protocol_per_address(c, PROTOCOL_SRT, false), 5000);
    assert_int_equal(conf_protocol_per_address(c, PROTOCOL_SRT, true), 0);
    assert_int_equal(s->handshakes, 200);
    assert_string_equal(s->default_app, "live");
    assert_string_equal(s->default_streamid, "#!::r=live/livestream,m=request");
    assert_int_equal(s->default_mode, CONF_SRT_REQUEST);
    assert_false(v->enabled);
    assert_true(v->srt_to_rtmp);
    conf_unref(c);
}

/* A value for one direction overrides `latency`; sizes are limited to a packet. */
static void values(void **state)
{
    struct conf *c = mem_conf("listen 1935; srt_server { enabled on; listen 10080 [::1]:10081;"
                              "latency 300; recvlatency 500; mss 1000; payloadsize 1456; }");
    const struct conf_srt_server *s = &c->srt_server;

    (void)state;
    assert_int_equal(s->listen.n, 2);
    assert_int_equal(s->recvlatency, 500 * 1000);
    assert_int_equal(s->peerlatency, 300 * 1000);
    assert_int_equal(s->mss, 1000);
    assert_int_equal(s->payloadsize, 940);
    conf_unref(c);
}

static const struct mem_bad bad[] = {
    { SERVER("passphrase short;"), "srt_server : a passphrase must have 10 to 79 characters, not 5" },
    { SERVER("passphrase 12" LETTERS_39 LETTERS_39 ";"), "10 to 79 characters, not 80" },
    { SERVER("pbkeylen 17;"), "pbkeylen must be 0, 16, 24 or 32, not 17" },
    { IN_SRT("passphrase short;"), "vhost v : srt : a passphrase must have 10 to 79 characters" },
    { IN_SRT("pbkeylen 8;"), "vhost v : srt : pbkeylen must be 0, 16, 24 or 32" },
    { SERVER("default_mode play;"), "default_mode : \"play\" is not one of request, publish" },
    { SERVER("latency 60001;"), "60001 is not within" },
    { SERVER("merge 1001;"), "1001 is not within 0..1000" },
    { SERVER("payloadsize 187;"), "187 is not within 188..1456" },
    { SERVER("max_connections 0;"), "0 is not within" },
};

static void errors(void **state)
{
    (void)state;
    mem_assert_bad(bad, COUNT(bad));
}

static const struct mem_warned warned[] = {
    { SERVER("enabled on;") "vhost v { srt { enabled on; } }", NULL },
    { SERVER("enabled on;"), "srt_server has no effect: no vhost has srt {" },
    { IN_SRT("enabled on;"), "vhost v: srt is on and has no effect: srt_server is off" },
};

static void warnings(void **state)
{
    (void)state;
    mem_assert_warned(warned, COUNT(warned));
}

static const struct mem_variable env_rows[] = {
    { "SRS_SRT_SERVER_ENABLED", "on", SERVER("enabled on;") },
    { "SRS_SRT_SERVER_LISTEN", "10081 10082", SERVER("listen 10081 10082;") },
    { "SRS_SRT_SERVER_LATENCY", "250", SERVER("latency 250;") },
    { "SRS_SRT_SERVER_RECVLATENCY", "250", SERVER("recvlatency 250;") },
    { "SRS_SRT_SERVER_PEERLATENCY", "250", SERVER("peerlatency 250;") },
    { "SRS_SRT_SERVER_PASSPHRASE", "1234567890", SERVER("passphrase 1234567890;") },
    { "SRS_SRT_SERVER_PBKEYLEN", "32", SERVER("pbkeylen 32;") },
    { "SRS_SRT_SERVER_DEFAULT_MODE", "publish", SERVER("default_mode publish;") },
    { "SRS_SRT_SERVER_MERGE", "0", SERVER("merge 0;") },
    { "SRS_SRT_SERVER_RELAY", "off", SERVER("relay off;") },
    { "SRS_SRT_SERVER_GSO", "off", SERVER("gso off;") },
    { "SRS_SRT_SERVER_MAX_CONNECTIONS", "5", SERVER("max_connections 5;") },
    { "SRS_SRT_SERVER_MAX_IP", "5", SERVER("max_ip 5;") },
    { "SRS_SRT_SERVER_HANDSHAKES", "0", SERVER("handshakes 0;") },
    { "SRS_VHOST_SRT_ENABLED", "on", IN_SRT("enabled on;") },
    { "SRS_VHOST_SRT_TO_RTMP", "off", IN_SRT("srt_to_rtmp off;") },
    { "SRS_VHOST_SRT_SRT_TO_RTMP", "off", IN_SRT("srt_to_rtmp off;") },
    { "SRS_VHOST_SRT_PASSPHRASE", "1234567890", IN_SRT("passphrase 1234567890;") },
    { "SRS_VHOST_SRT_PBKEYLEN", "24", IN_SRT("pbkeylen 24;") },
};

static void environment(void **state)
{
    (void)state;
    mem_assert_environment(env_rows, COUNT(env_rows));
}

static const struct mem_reload changes[] = {
    { SERVER(""), SERVER("enabled on; listen 10081;"),
      "srt_server.enabled:handler off>on\nsrt_server.listen:handler 10080>10081\n" },
    { SERVER(""), SERVER("merge 40; relay off;"),
      "srt_server.merge:once 20>40\nsrt_server.relay:once on>off\n" },
    { SERVER("passphrase 1234567890;"), SERVER("passphrase 0987654321;"),
      "srt_server.passphrase:once ***>***\n" },
    { IN_SRT("passphrase 1234567890;"), IN_SRT("enabled on; passphrase 0987654321;"),
      "vhost[v].srt.enabled:once off>on\nvhost[v].srt.passphrase:once ***>***\n" },
};

static void a_reload(void **state)
{
    (void)state;
    mem_assert_reloads(changes, COUNT(changes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults), TEST(values), TEST(errors), TEST(warnings), TEST(environment),
        TEST(a_reload),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
