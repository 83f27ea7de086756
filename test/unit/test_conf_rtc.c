/* SPDX-License-Identifier: MIT */
/* test_conf_rtc.c - directives of WebRTC: values, errors, warnings. */
#include "conf_mem.h"

#define SERVER(text) "listen 1935; daemon off; http_api { enabled on; } rtc_server { " text " }"
#define ONLY(text) "listen 1935; daemon off; rtc_server { " text " }"
#define IN_RTC(text) "listen 1935; daemon off; vhost v { rtc { " text " } }"
#define PLAYED " vhost v { rtc { enabled on; } }"

static void defaults(void **state)
{
    struct conf *c = mem_conf("listen 1935; vhost v { }");
    const struct conf_rtc_server *s = &c->rtc_server;
    const struct conf_vhost_rtc *v = &c->vhost.v[0].rtc;

    (void)state;
    assert_false(s->enabled || s->tcp.enabled || s->merge_nalus || s->keep_api_domain);
    assert_true(s->udp_gso);
    assert_int_equal(s->listen.v[0].port, 8000);
    assert_int_equal(s->tcp.listen.v[0].port, 8000);
    assert_int_equal(s->protocol, CONF_RTC_UDP);
    assert_int_equal(s->ip_family, CONF_IPV4);
    assert_true(s->use_auto_detect_network_ip && s->api_as_candidates && s->resolve_api_domain);
    assert_true(s->ecdsa && s->encrypt);
    assert_int_equal(s->candidate.n, 1);
    assert_string_equal(s->candidate.v[0], "*");
    assert_false(v->enabled || v->rtmp_to_rtc || v->rtc_to_rtmp || v->keep_bframe);
    assert_true(v->nack && v->twcc && v->min_latency && v->keep_avc_nalu_sei);
    assert_int_equal(v->stun_timeout, 30 * 1000000);
    assert_int_equal(v->pli_for_rtmp, 6 * 1000000);
    assert_string_equal(v->dtls_role, "passive");
    conf_unref(c);
}

static const struct mem_bad bad[] = {
    { SERVER("enabled on; protocol tcp;") PLAYED, "protocol is tcp, and tcp is off" },
    { SERVER("enabled on; protocol all;") PLAYED, "protocol is all, and tcp is off" },
    { SERVER("protocol quic;"), "\"quic\" is not one of" },
    { SERVER("ip_family ipv5;"), "\"ipv5\" is not one of" },
    { IN_RTC("dtls_role both;"), "dtls_role must be active or passive, not \"both\"" },
    { IN_RTC("dtls_version dtls1.3;"), "dtls_version must be auto, dtls1.2 or dtls1.0" },
};

static void errors(void **state)
{
    (void)state;
    mem_assert_bad(bad, COUNT(bad));
}

static const struct mem_warned warned[] = {
    { SERVER("enabled on;") PLAYED, NULL },
    { SERVER("enabled on; protocol tcp; tcp { enabled on; }") PLAYED, NULL },
    { SERVER("enabled on;"), "rtc_server has no effect: no vhost has rtc {" },
    { IN_RTC("enabled on;"), "vhost v: rtc is on and has no effect: rtc_server is off" },
    { "listen 1935; daemon off; rtc_server { enabled on; }" PLAYED,
      "http_server are both off" },
    { SERVER("enabled on; encrypt off;") PLAYED, "encrypt is off" },
};

static void warnings(void **state)
{
    (void)state;
    mem_assert_warned(warned, COUNT(warned));
}

static const struct mem_variable env_rows[] = {
    { "SRS_RTC_SERVER_ENABLED", "on", ONLY("enabled on;") },
    { "SRS_RTC_SERVER_LISTEN", "8001 [::]:8002", ONLY("listen 8001 [::]:8002;") },
    { "SRS_RTC_SERVER_CANDIDATE", "1.2.3.4", ONLY("candidate 1.2.3.4;") },
    { "SRS_RTC_SERVER_TCP_ENABLED", "on", ONLY("tcp { enabled on; }") },
    { "SRS_VHOST_RTC_ENABLED", "on", IN_RTC("enabled on;") },
    { "SRS_VHOST_RTC_RTMP_TO_RTC", "on", IN_RTC("rtmp_to_rtc on;") },
    { "SRS_VHOST_RTC_RTC_TO_RTMP", "on", IN_RTC("rtc_to_rtmp on;") },
};

static void environment(void **state)
{
    (void)state;
    mem_assert_environment(env_rows, COUNT(env_rows));
}

static const struct mem_reload changes[] = {
    { SERVER(""), SERVER("enabled on; listen 8001;"),
      "rtc_server.enabled:handler off>on\nrtc_server.listen:handler 8000>8001\n" },
    { SERVER(""), SERVER("candidate 1.2.3.4;"), "rtc_server.candidate:once *>1.2.3.4\n" },
    { IN_RTC(""), IN_RTC("enabled on;"), "vhost[v].rtc.enabled:once off>on\n" },
};

static void a_reload(void **state)
{
    (void)state;
    mem_assert_reloads(changes, COUNT(changes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults), TEST(errors), TEST(warnings), TEST(environment), TEST(a_reload),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
