/* SPDX-License-Identifier: MIT */
/* test_conf_rtmfp.c - directives of RTMFP: values, errors, warnings, the environment, a reload. */
#include "conf_mem.h"

#define SERVER(text) "listen 1935; daemon off; rtmfp_server { " text " }"
#define IN_VHOST(text) "listen 1935; daemon off; vhost v { rtmfp { " text " } }"
#define TWELVE "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5 10.0.0.6 10.0.0.7 10.0.0.8 " \
               "10.0.0.9 10.0.0.10 10.0.0.11 10.0.0.12"
#define SERVED "vhost v { rtmfp { enabled on; } }"

static void defaults(void **state)
{
    struct conf *c = mem_conf("listen 1935; vhost v { }");
    const struct conf_rtmfp_server *s = &c->rtmfp_server;

    (void)state;
    assert_false(s->enabled);
    assert_int_equal(s->listen.n, 1);
    assert_int_equal(s->listen.v[0].port, 1935);
    assert_int_equal(s->hmac, CONF_RTMFP_OFFER);
    assert_int_equal(s->sequence, CONF_RTMFP_OFFER);
    assert_int_equal(s->groups.n, 3);
    assert_string_equal(s->groups.v[2], "14");
    assert_int_equal(s->threads, 2);
    assert_int_equal(s->ping, 20 * 1000000);
    assert_int_equal(s->timeout, 60 * 1000000);
    assert_int_equal(s->keepalive, 20 * 1000000);
    assert_int_equal(s->keepalive_peer, 20 * 1000000);
    assert_true(s->introduce && s->groups_enabled);
    assert_int_equal(s->redirect.n, 0);
    assert_int_equal(s->redirect_by, CONF_REDIRECT_ALL);
    assert_int_equal(s->redirect_peers, CONF_REDIRECT_NO_PEERS);
    assert_int_equal(s->max_sessions, 50000);
    assert_int_equal(s->max_sessions_ip, CONF_UNSET);
    assert_int_equal(conf_protocol_per_address(c, PROTOCOL_RTMFP, false), 1000);
    assert_int_equal(conf_protocol_per_address(c, PROTOCOL_RTMFP, true), 0);
    assert_int_equal(s->max_startup_ip, 200);
    assert_false(c->vhost.v[0].rtmfp.enabled);
    conf_unref(c);
}

static void values(void **state)
{
    struct conf *c = mem_conf(SERVER("enabled on; listen 1935 [::1]:1936; groups 14; redirect_by app;"
                                     "hmac require; sequence off; redirect_peers only;"
                                     "redirect 192.0.2.1 192.0.2.2:1940 [2001:db8::1]:1941;"));
    const struct conf_rtmfp_server *s = &c->rtmfp_server;

    (void)state;
    assert_int_equal(s->listen.n, 2);
    assert_string_equal(s->listen.v[1].host, "::1");
    assert_int_equal(s->groups.n, 1);
    assert_int_equal(s->hmac, CONF_RTMFP_REQUIRE);
    assert_int_equal(s->sequence, CONF_RTMFP_OFF);
    assert_int_equal(s->redirect.n, 3);
    assert_int_equal(s->redirect.v[0].port, 1935);
    assert_int_equal(s->redirect.v[1].port, 1940);
    assert_string_equal(s->redirect.v[2].host, "2001:db8::1");
    assert_int_equal(s->redirect_by, CONF_REDIRECT_APP);
    assert_int_equal(s->redirect_peers, CONF_REDIRECT_PEERS_ONLY);
    conf_unref(c);
    c = mem_conf(SERVER("redirect " TWELVE " " TWELVE ";"));
    assert_int_equal(c->rtmfp_server.redirect.n, 24);
    conf_unref(c);
}

static const struct mem_bad bad[] = {
    { SERVER("groups 2 16;"), "rtmfp_server : groups must be 2, 5 or 14, not \"16\"" },
    { SERVER("groups x;"), "not \"x\"" },
    { SERVER("hmac on;"), "hmac : \"on\" is not one of off, offer, require" },
    { SERVER("redirect edge.example.com;"),
      "rtmfp_server : redirect takes addresses, not names: \"edge.example.com\"" },
    { SERVER("redirect 192.0.2.1 localhost:1936;"), "not names: \"localhost\"" },
    { SERVER("redirect " TWELVE " " TWELVE " 10.0.0.13;"), "redirect allows 24 servers, not 25" },
    { SERVER("redirect_by host;"), "is not one of all, app" },
    { SERVER("threads 33;"), "33 is not within 1..32" },
    { SERVER("max_sessions 0;"), "0 is not within" },
    { SERVER("keepalive 4;"), "4 is not within" },
};

static void errors(void **state)
{
    (void)state;
    mem_assert_bad(bad, COUNT(bad));
}

static const struct mem_warned warned[] = {
    { SERVER("enabled on;") SERVED, NULL },
    { SERVER("enabled on;"), "rtmfp_server has no effect: no vhost has rtmfp {" },
    { SERVER("enabled on; redirect 192.0.2.1;"), NULL },
    { SERVER("enabled on; redirect 192.0.2.1; redirect_peers only;"), "no vhost has rtmfp {" },
    { IN_VHOST("enabled on;"), "vhost v: rtmfp is on and has no effect: rtmfp_server is off" },
    { SERVER("enabled on; timeout 20;") SERVED, "timeout is not longer than ping" },
    { SERVER("enabled on; redirect_by app;") SERVED, "redirect_by has no effect without redirect" },
    { SERVER("enabled on; redirect_peers on;") SERVED, "redirect_peers has no effect without" },
};

static void warnings(void **state)
{
    (void)state;
    mem_assert_warned(warned, COUNT(warned));
}

static const struct mem_variable env_rows[] = {
    { "SRS_RTMFP_SERVER_ENABLED", "on", SERVER("enabled on;") },
    { "SRS_RTMFP_SERVER_LISTEN", "1936 1937", SERVER("listen 1936 1937;") },
    { "SRS_RTMFP_SERVER_HMAC", "require", SERVER("hmac require;") },
    { "SRS_RTMFP_SERVER_SEQUENCE", "off", SERVER("sequence off;") },
    { "SRS_RTMFP_SERVER_GROUPS", "5 14", SERVER("groups 5 14;") },
    { "SRS_RTMFP_SERVER_THREADS", "4", SERVER("threads 4;") },
    { "SRS_RTMFP_SERVER_PING", "5", SERVER("ping 5;") },
    { "SRS_RTMFP_SERVER_TIMEOUT", "90", SERVER("timeout 90;") },
    { "SRS_RTMFP_SERVER_KEEPALIVE", "5", SERVER("keepalive 5;") },
    { "SRS_RTMFP_SERVER_KEEPALIVE_PEER", "5", SERVER("keepalive_peer 5;") },
    { "SRS_RTMFP_SERVER_INTRODUCE", "off", SERVER("introduce off;") },
    { "SRS_RTMFP_SERVER_GROUPS_ENABLED", "off", SERVER("groups_enabled off;") },
    { "SRS_RTMFP_SERVER_REDIRECT", "192.0.2.1 192.0.2.2:2000",
      SERVER("redirect 192.0.2.1 192.0.2.2:2000;") },
    { "SRS_RTMFP_SERVER_REDIRECT_BY", "app", SERVER("redirect_by app;") },
    { "SRS_RTMFP_SERVER_REDIRECT_PEERS", "only", SERVER("redirect_peers only;") },
    { "SRS_RTMFP_SERVER_MAX_SESSIONS", "7", SERVER("max_sessions 7;") },
    { "SRS_RTMFP_SERVER_MAX_SESSIONS_IP", "0", SERVER("max_sessions_ip 0;") },
    { "SRS_RTMFP_SERVER_MAX_STARTUP_IP", "0", SERVER("max_startup_ip 0;") },
    { "SRS_VHOST_RTMFP_ENABLED", "on", IN_VHOST("enabled on;") },
};

static void environment(void **state)
{
    (void)state;
    mem_assert_environment(env_rows, COUNT(env_rows));
}

static const struct mem_reload changes[] = {
    { SERVER(""), SERVER("enabled on; listen 1936;"),
      "rtmfp_server.enabled:handler off>on\nrtmfp_server.listen:handler 1935>1936\n" },
    { SERVER(""), SERVER("redirect 192.0.2.1; hmac require;"),
      "rtmfp_server.hmac:once offer>require\nrtmfp_server.redirect:once >192.0.2.1\n" },
    { SERVER(""), SERVER("groups 14;"), "rtmfp_server.groups:never 2 5 14>14\n" },
    { IN_VHOST(""), IN_VHOST("enabled on;"), "vhost[v].rtmfp.enabled:once off>on\n" },
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
