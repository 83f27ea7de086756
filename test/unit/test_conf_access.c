/* SPDX-License-Identifier: MIT */
/* test_conf_access.c - who may publish or play, by address and by page. */
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
    /* any allow rule, even for the other kind, turns the rest into deny */
    { "enabled on; allow play all;", "1.2.3.4", false, true },
    { "enabled on; deny publish 9.9.9.9; allow play all;", "1.2.3.4", false, true },
    /* deny is tried first, whatever the order */
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
    /* not an address: only `all` can match it */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(by_address),
        TEST(by_page),
        TEST(what_one_address_may_have),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
