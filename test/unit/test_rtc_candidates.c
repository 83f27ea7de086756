/* SPDX-License-Identifier: MIT */
/* test_rtc_candidates.c - candidates of WebRTC on simulated machines. */
#include "env.h"
#include "serve/rtc/impl.h"
#include "unit.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

/* ---- interfaces: replace those of the system */

static struct { struct ifaddrs a; struct sockaddr_in6 addr; } interfaces[32];

/* "lo 1.2.3.4 ..": after "lo" those of the loopback, after "down" those that are down. */
static void plug(const char *text)
{
    char copy[512], *save = NULL;
    unsigned flags = IFF_UP, n = 0;

    memset(interfaces, 0, sizeof(interfaces));
    (void)snprintf(copy, sizeof(copy), "%s", text);
    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        struct sockaddr_in *v4 = (void *)&interfaces[n].addr;

        if (strcmp(w, "lo") == 0 || strcmp(w, "down") == 0) {
            flags = *w == 'l' ? IFF_UP | IFF_LOOPBACK : 0;
            continue;
        }
        if (strchr(w, ':')) {
            interfaces[n].addr.sin6_family = AF_INET6;
            assert_int_equal(inet_pton(AF_INET6, w, &interfaces[n].addr.sin6_addr), 1);
        } else {
            v4->sin_family = AF_INET;
            assert_int_equal(inet_pton(AF_INET, w, &v4->sin_addr), 1);
        }
        interfaces[n].a.ifa_addr = (void *)&interfaces[n].addr;
        interfaces[n].a.ifa_flags = flags;
        if (n > 0)
            interfaces[n - 1].a.ifa_next = &interfaces[n].a;
        n++;
    }
}

int getifaddrs(struct ifaddrs **out)
{
    *out = interfaces[0].a.ifa_addr ? &interfaces[0].a : NULL;
    return 0;
}

void freeifaddrs(struct ifaddrs *list)
{
    (void)list;
}

/* ---- */

static const char one[] = "10.0.0.5 fe80::1 2001:db8::5 lo 127.0.0.1 ::1 down 10.9.9.9";

static const struct {
    const char *name, *conf, *interfaces, *host, *eip, *want;
} rows[] = {
    { "interfaces", "", one, "", "", "10.0.0.5:8000/u" },
    { "IPv6", "ip_family ipv6;", one, "", "", "2001:db8::5:8000/u" },
    { "both", "ip_family all;", one, "", "", "10.0.0.5:8000/u 2001:db8::5:8000/u" },
    { "loopback alone", "", "lo 127.0.0.1 ::1", "", "", "127.0.0.1:8000/u" },
    { "nothing", "", "", "", "", "" },
    { "the host of the request first", "", one, "1.2.3.4", "", "1.2.3.4:8000/u 10.0.0.5:8000/u" },
    { "of IPv6", "", one, "2001:db8::9", "", "2001:db8::9:8000/u 10.0.0.5:8000/u" },
    { "which is an interface's", "", one, "10.0.0.5", "", "10.0.0.5:8000/u" },
    { "localhost", "", one, "localhost", "", "10.0.0.5:8000/u" },
    { "loopback", "", one, "127.0.0.1", "", "10.0.0.5:8000/u" },
    { "loopback of IPv6", "", one, "::1", "", "10.0.0.5:8000/u" },
    { "not wanted", "api_as_candidates off;", one, "1.2.3.4", "", "10.0.0.5:8000/u" },
    { "the name itself", "resolve_api_domain off; keep_api_domain on;", one, "a.example", "",
      "a.example:8000/u 10.0.0.5:8000/u" },
    { "a name that is not resolved", "resolve_api_domain off;", one, "a.example", "",
      "10.0.0.5:8000/u" },
    { "eip before all", "", one, "1.2.3.4", "9.9.9.9", "9.9.9.9:8000/u 1.2.3.4:8000/u "
      "10.0.0.5:8000/u" },
    { "with a port", "", one, "", "9.9.9.9:99", "9.9.9.9:99/u 10.0.0.5:8000/u" },
    { "of IPv6", "", one, "", "[2001:db8::1]:99", "2001:db8::1:99/u 10.0.0.5:8000/u" },
    { "without a port", "", one, "", "2001:db8::1", "2001:db8::1:8000/u 10.0.0.5:8000/u" },
    { "that is none", "", one, "", "x\r\ny", "10.0.0.5:8000/u" },
    { "a port that is none", "", one, "", "9.9.9.9:70000", "10.0.0.5:8000/u" },
    { "configured", "candidate 5.5.5.5;", one, "", "", "5.5.5.5:8000/u" },
    { "configured: not instead of eip and host", "candidate 5.5.5.5;", one, "1.2.3.4", "9.9.9.9",
      "9.9.9.9:8000/u 5.5.5.5:8000/u 1.2.3.4:8000/u" },
    { "several", "candidate 5.5.5.5 6.6.6.6:7 *;", one, "", "",
      "5.5.5.5:8000/u 6.6.6.6:7/u 10.0.0.5:8000/u" },
    { "any", "candidate 0.0.0.0;", one, "", "", "10.0.0.5:8000/u" },
    { "no interfaces wanted", "use_auto_detect_network_ip off;", one, "1.2.3.4", "",
      "1.2.3.4:8000/u" },
    { "and nothing else there", "use_auto_detect_network_ip off;", one, "", "", "10.0.0.5:8000/u" },
    { "bound to one", "listen 10.0.0.7:9000;", one, "", "", "10.0.0.7:9000/u" },
    { "bound to all", "listen [::]:9000;", one, "", "", "10.0.0.5:9000/u" },
    { "TCP alone", "protocol tcp; tcp { enabled on; listen 443; }", one, "", "", "10.0.0.5:443/t" },
    { "both", "protocol all; tcp { enabled on; listen 443; }", one, "1.2.3.4", "",
      "1.2.3.4:8000/u 10.0.0.5:8000/u 1.2.3.4:443/t 10.0.0.5:443/t" },
    { "TCP is there, and not told of", "tcp { enabled on; listen 443; }", one, "", "",
      "10.0.0.5:8000/u" },
    { "ten at most", "", "1.0.0.1 1.0.0.2 1.0.0.3 1.0.0.4 1.0.0.5 1.0.0.6 1.0.0.7 1.0.0.8 1.0.0.9 "
      "1.0.0.10 1.0.0.11 1.0.0.12", "", "",
      "1.0.0.1:8000/u 1.0.0.2:8000/u 1.0.0.3:8000/u 1.0.0.4:8000/u 1.0.0.5:8000/u 1.0.0.6:8000/u "
      "1.0.0.7:8000/u 1.0.0.8:8000/u 1.0.0.9:8000/u 1.0.0.10:8000/u" },
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct session_env *env;
        static struct rtc_service s;
        struct rtc_request req = { 0 };
        struct sdp_candidate out[SDP_CANDIDATES_MAX];
        char conf[512], text[1024] = "";
        size_t at = 0;

        print_message("  %s\n", rows[i].name);
        (void)snprintf(conf, sizeof(conf), "listen 1935; rtc_server { enabled on; %s }",
                       rows[i].conf);
        s.base.env = env = env_new(conf);
        plug(rows[i].interfaces);
        req.host = strdup(rows[i].host);
        req.eip = strdup(rows[i].eip);
        for (int again = 0; again < 2; again++) { /* the same, from the cache */
            unsigned n = rtc_candidates(&s, &req, out);

            at = 0;
            text[0] = '\0';
            for (unsigned k = 0; k < n; k++)
                at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s:%u/%c", k ? " " : "",
                                       out[k].ip, out[k].port, out[k].tcp ? 't' : 'u');
            assert_string_equal(text, rows[i].want);
        }
        rtc_candidates_free(&s);
        free(req.host);
        free(req.eip);
        env_free(&env);
    }
}

static int set_up(void **state)
{
    (void)state;
    assert_ok(co_init());
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_rows) };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
