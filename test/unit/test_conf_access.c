/* SPDX-License-Identifier: MIT */
/* test_conf_access.c - access rules for addresses and pages. */
#include "conf_mem.h"

static const struct {
    const char *rules, *ip;
    bool publish, play;
} addresses[] = {
    { "", "1.2.3.4", true, true },
    { "enabled off; deny play all;", "1.2.3.4", true, true },
    { "enabled on;", "1.2.3.4", false, false },
    { "enabled on; allow publish all; allow play all;", "1.2.3.4", true, true },
    { "enabled on; deny publish all;", "1.2.3.4", false, true },
    { "enabled on; deny play all;", "1.2.3.4", true, false },
    /* any allow rule, even for the other action, denies the rest */
    { "enabled on; allow play all;", "1.2.3.4", false, true },
    { "enabled on; deny publish 9.9.9.9; allow play all;", "1.2.3.4", false, true },
    /* deny is checked first, regardless of the order */
    { "enabled on; allow play all; deny play 1.2.3.4;", "1.2.3.4", false, false },
    { "enabled on; allow play all; deny play 1.2.3.4;", "1.2.3.5", false, true },
    { "enabled on; allow publish 1.2.3.4; allow play all;", "1.2.3.4", true, true },
    { "enabled on; allow publish 1.2.3.4; allow play all;", "1.2.3.40", false, true },
    { "enabled on; allow play 10.0.0.0/8;", "10.255.1.2", false, true },
    { "enabled on; allow play 10.0.0.0/8;", "11.0.0.1", false, false },
    { "enabled on; allow play 192.168.1.128/25;", "192.168.1.128", false, true },
    { "enabled on; allow play 192.168.1.128/25;", "192.168.1.127", false, false },
    { "enabled on; allow play 192.168.1.77/25;", "192.168.1.1", false, true },
    { "enabled on; deny play 0.0.0.0/0;", "1.2.3.4", true, false },
    { "enabled on; deny play 0.0.0.0/0;", "2001:db8::1", true, true },
    { "enabled on; deny play 1.2.3.4/32;", "1.2.3.4", true, false },
    { "enabled on; deny play 1.2.3.4;", "::ffff:1.2.3.4", true, false },
    { "enabled on; deny play ::1;", "::1", true, false },
    { "enabled on; deny play ::1;", "0:0:0:0:0:0:0:1", true, false },
    { "enabled on; deny play 2001:db8::/32;", "2001:db8:5::9", true, false },
    { "enabled on; deny play 2001:db8::/32;", "2001:db9::", true, true },
    { "enabled on; deny play fe80::1;", "fe80::1%eth0", true, false },
    { "enabled on; allow publish 127.0.0.1; allow publish 10.0.0.0/8; allow play all;",
      "10.1.1.1", true, true },
    { "enabled on; deny play 1.2.3.4; deny play 5.6.7.8;", "5.6.7.8", true, false },
    /* a token or a key counts as a rule: without others, all addresses are allowed */
    { "enabled on; key live/a 12345678;", "1.2.3.4", true, true },
    { "enabled on; token { play on; secret x; }", "1.2.3.4", true, true },
    { "enabled on; token { secret x; }", "1.2.3.4", false, false },
    { "enabled on; token { play on; secret x; } deny play all;", "1.2.3.4", true, false },
    /* not an address: only `all` matches it */
    { "enabled on; allow play all;", "", false, true },
    { "enabled on; allow play 0.0.0.0/0;", "nonsense", false, false },
};

static void by_address(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(addresses); i++) {
        char text[512];
        struct conf *c;

        (void)snprintf(text, sizeof(text), "listen 1935; vhost v { security { %s } }",
                       addresses[i].rules);
        c = mem_conf(text);
        for (int what = CONF_PUBLISH; what <= CONF_PLAY; what++) {
            bool may = what == CONF_PUBLISH ? addresses[i].publish : addresses[i].play;
            err_t err = conf_security_check(&c->vhost.v[0].security, (enum conf_action)what,
                                            addresses[i].ip);

            if (err && !conf_security_restricts(&c->vhost.v[0].security, (enum conf_action)what))
                fail_msg("%s: it warns that all may", addresses[i].rules);
            if (err_code(err) != (may ? ERR_OK : ERR_DENIED))
                fail_msg("%s, %s: %s", addresses[i].rules, addresses[i].ip, may ? "no" : "yes");
            err_free(&err);
        }
        conf_unref(c);
    }
}

static const struct {
    const char *rules, *page;
    bool publish, play;
} pages[] = {
    { "", "http://x.com/", true, true },
    { "enabled off; all a.com;", "http://x.com/", true, true },
    { "enabled on;", "http://x.com/", true, true },
    { "enabled on; all a.com;", "http://a.com/", true, true },
    { "enabled on; all a.com;", "http://www.a.com/x/y.html?z", true, true },
    { "enabled on; all a.com;", "https://A.COM:8080/", true, true },
    { "enabled on; all a.com;", "http://bada.com/", false, false },
    { "enabled on; all .com;", "http://bada.com/", true, true },
    { "enabled on; all com;", "http://bada.com/", true, true },
    { "enabled on; all a.com;", "http://x.com/a.com", false, false },
    { "enabled on; all a.com;", "http://x.com?a.com", false, false },
    { "enabled on; all a.com b.com;", "http://b.com", true, true },
    { "enabled on; all a.com;", "", false, false },
    { "enabled on; publish a.com;", "http://b.com", false, true },
    { "enabled on; play a.com;", "http://b.com", true, false },
    { "enabled on; all a.com b.com; play a.com;", "http://b.com", true, false },
    { "enabled on; all a.com; play b.com;", "http://b.com", false, false },
};

static void by_page(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(pages); i++) {
        char text[512];
        struct conf *c;

        (void)snprintf(text, sizeof(text), "listen 1935; vhost v { refer { %s } }",
                       pages[i].rules);
        c = mem_conf(text);
        for (int what = CONF_PUBLISH; what <= CONF_PLAY; what++) {
            bool may = what == CONF_PUBLISH ? pages[i].publish : pages[i].play;
            err_t err = conf_refer_check(&c->vhost.v[0].refer, (enum conf_action)what,
                                         pages[i].page);

            if (err_code(err) != (may ? ERR_OK : ERR_REFER_DENIED))
                fail_msg("%s, %s: %s", pages[i].rules, pages[i].page, may ? "no" : "yes");
            err_free(&err);
        }
        conf_unref(c);
    }
}

static const struct {
    const char *text;
    int want;
} per_address[] = {
    { "", 500 },
    { "max_connections 20000;", 2000 },
    { "max_connections 1;", 1 },
    { "max_connections 30;", 15 },
    { "limits { per_address 7; }", 7 },
    { "limits { per_address 0; }", 0 },
};

static void what_one_address_may_have(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(per_address); i++) {
        char text[128];
        struct conf *c;

        (void)snprintf(text, sizeof(text), "listen 1935; %s", per_address[i].text);
        c = mem_conf(text);
        assert_int_equal(conf_per_address(c), per_address[i].want);
        conf_unref(c);
    }
}

static void what_one_address_may_have_by_datagrams(void **state)
{
    static const struct {
        const char *text;
        int srt, srt_private, rtmfp, rtmfp_private;
    } rows[] = {
        { "", 5000, 0, 1000, 0 },
        { "limits { limit_private on; }", 5000, 5000, 1000, 1000 },
        { "srt_server { max_connections 3; } rtmfp_server { max_sessions 30; }", 1, 0, 15, 0 },
        { "srt_server { max_connections 1; } rtmfp_server { max_sessions 1; }", 1, 0, 1, 0 },
        { "srt_server { max_ip 7; } rtmfp_server { max_sessions_ip 8; }", 7, 7, 8, 8 },
        { "srt_server { max_ip 0; } rtmfp_server { max_sessions_ip 0; }", 0, 0, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        struct conf *c;

        (void)snprintf(text, sizeof(text), "listen 1935; %s", rows[i].text);
        c = mem_conf(text);
        assert_int_equal(conf_protocol_per_address(c, PROTOCOL_SRT, false), rows[i].srt);
        assert_int_equal(conf_protocol_per_address(c, PROTOCOL_SRT, true), rows[i].srt_private);
        assert_int_equal(conf_protocol_per_address(c, PROTOCOL_RTMFP, false), rows[i].rtmfp);
        assert_int_equal(conf_protocol_per_address(c, PROTOCOL_RTMFP, true), rows[i].rtmfp_private);
        conf_unref(c);
    }
}

#define LONG "0123456789abcdef0123456789abcdef"

/* Directives of tokens and keys: requirements, errors and warnings. */
static void tokens(void **state)
{
    static const struct {
        const char *rules;
        bool publish, play;      /* a token or key is required */
        const char *error, *warning;
    } rows[] = {
        { "", false, false, NULL, NULL },
        { "enabled on; token { publish on; secret " LONG "; }", true, false, NULL, NULL },
        { "enabled on; token { play on; jwt_secret " LONG " " LONG "; }", false, true, NULL, NULL },
        { "enabled on; token { play on; jwks no/such.file; }", false, true, NULL, NULL },
        { "enabled on; key live/a abcd-efgh;", true, false, NULL, NULL },
        { "enabled on; key live/* abcdefgh; key * ABC.def_~1;", true, false, NULL, NULL },
        { "enabled on; token { play on; secret short; }", false, true, NULL, "5 bytes" },
        { "enabled on; token { jwt_secret short; publish on; }", true, false, NULL,
          "jwt_secret" },
        { "enabled on; key live/a k;", true, false, NULL, "can be guessed" },
        { "token { play on; secret " LONG "; }", false, false, NULL, "vhost.security has no effect" },
        { "key live/a abcdefgh;", false, false, NULL, "vhost.security has no effect" },
        { "enabled on; token { play on; }", false, false, "no way to check a token", NULL },
        { "enabled on; token { publish on; issuer x; }", false, false, "no way to check", NULL },
        { "enabled on; key live/a;", false, false, "two words", NULL },
        { "enabled on; key live/a b c;", false, false, "two words", NULL },
        { "enabled on; key livestream abcdefgh;", false, false, "expected app/stream", NULL },
        { "enabled on; key li*e/a abcdefgh;", false, false, "a * is only allowed at the end", NULL },
        { "enabled on; key live/a abc&defgh;", false, false, "letters, digits", NULL },
        { "enabled on; key live/a abc%20def;", false, false, "letters, digits", NULL },
        { "enabled on; token { play on; secret " LONG "; } } hls { enabled on; hls_ctx off;",
          false, false, "needs hls_ctx on", NULL },
        { "enabled on; token { play on; secret " LONG "; } } dash { enabled on; dash_ctx off;",
          false, false, "needs dash_ctx on", NULL },
        { "enabled on; key live/a abcdefgh; } hls { enabled on; hls_ctx off;", true, false, NULL,
          NULL },
        { "enabled on; token { algorithm none; }", false, false, "unknown directive", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[512];
        struct mem m = { .main = text };
        struct conf *c = NULL;
        err_t err;

        (void)snprintf(text, sizeof(text), "listen 1935; vhost v { security { %s } }",
                       rows[i].rules);
        err = mem_load(&c, &m);
        if (rows[i].error) {
            assert_err_says(err, ERR_CONF, rows[i].error);
            continue;
        }
        assert_ok(err);
        assert_int_equal(m.n_warnings, rows[i].warning ? 1 : 0);
        if (rows[i].warning && !strstr(m.warnings, rows[i].warning))
            fail_msg("%s: %s", rows[i].rules, m.warnings);
        assert_int_equal(conf_security_needs_token(&c->vhost.v[0].security, CONF_PUBLISH),
                         rows[i].publish);
        assert_int_equal(conf_security_needs_token(&c->vhost.v[0].security, CONF_PLAY), rows[i].play);
        conf_unref(c);
    }
}

/* A key to publish does not restrict players. */
static void who_is_limited(void **state)
{
    static const struct {
        const char *rules;
        bool publish, play;
    } rows[] = {
        { "", false, false }, { "deny play all;", false, false },
        { "enabled on;", true, true },
        { "enabled on; key live/a abcdefgh;", true, false },
        { "enabled on; token { publish on; secret " LONG "; }", true, false },
        { "enabled on; token { play on; secret " LONG "; }", false, true },
        { "enabled on; deny publish 1.2.3.4;", true, false },
        { "enabled on; deny publish 1.2.3.4; deny play 1.2.3.4;", true, true },
        { "enabled on; allow publish 1.2.3.4;", true, true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[512];
        struct conf *c;

        (void)snprintf(text, sizeof(text), "listen 1935; vhost v { security { %s } }",
                       rows[i].rules);
        c = mem_conf(text);
        assert_int_equal(conf_security_restricts(&c->vhost.v[0].security, CONF_PUBLISH),
                         rows[i].publish);
        assert_int_equal(conf_security_restricts(&c->vhost.v[0].security, CONF_PLAY), rows[i].play);
        conf_unref(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(by_address),
        TEST(by_page),
        TEST(what_one_address_may_have), TEST(what_one_address_may_have_by_datagrams),
        TEST(tokens),
        TEST(who_is_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
