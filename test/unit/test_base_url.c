/* SPDX-License-Identifier: MIT */
/* test_base_url.c - parsing of URLs, hosts and ports, and hexadecimal digits. */
#include "base/url.h"
#include "base/text.h"
#include "unit.h"

#include <string.h>

static void hosts_and_ports(void **state)
{
    static const struct {
        const char *text, *host, *port; /* port NULL: none */
        int number;
        bool bad;
    } rows[] = {
        { "", "", NULL, 0, false },
        { "a.example", "a.example", NULL, 0, false },
        { "a.example:1935", "a.example", "1935", 1935, false },
        { "a.example:", "a.example", "", 0, false },
        { ":80", "", "80", 80, false },
        { "1.2.3.4:65535", "1.2.3.4", "65535", 65535, false },
        { "h:65536", "h", "65536", 0, false },
        { "h:000080", "h", "000080", 0, false },
        { "h:00080", "h", "00080", 80, false },
        { "h:8x", "h", "8x", 0, false },
        { "h:-1", "h", "-1", 0, false },
        { "::1", "::1", NULL, 0, false },
        { "2001:db8::1:80", "2001:db8::1:80", NULL, 0, false },
        { "[::1]", "::1", NULL, 0, false },
        { "[::1]:443", "::1", "443", 443, false },
        { "[::1]:", "::1", "", 0, false },
        { "[]", "", NULL, 0, false },
        { "[::1]443", "::1", NULL, 0, true },
        { "[::1", "[::1", NULL, 0, true },
        { "[", "[", NULL, 0, true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct host_port p = host_port_split(rows[i].text, strlen(rows[i].text));

        assert_int_equal(p.host_n, strlen(rows[i].host));
        assert_memory_equal(p.host, rows[i].host, p.host_n);
        assert_int_equal(p.port != NULL, rows[i].port != NULL);
        if (p.port)
            assert_memory_equal(p.port, rows[i].port, strlen(rows[i].port) + 1);
        assert_int_equal(host_port_number(&p), rows[i].number);
        assert_int_equal(p.bad, rows[i].bad);
    }
}

/* Bytes after its end are not read. */
static void a_part_of_a_text(void **state)
{
    struct host_port p = host_port_split("host:80:81]", 7);

    (void)state;
    assert_int_equal(p.host_n, 4);
    assert_int_equal(host_port_number(&p), 80);
    assert_true(host_port_split("[::1]", 4).bad);
}

static void urls(void **state)
{
    static const struct {
        const char *text, *scheme, *user, *host, *path;
        int port;
    } rows[] = {
        { "rtsp://u:p@h:554/a?b#c", "RTSP", "u:p", "h", "/a?b#c", 554 },
        { "srt://[::1]:9000?streamid=#!::u=a@b", "srt", "", "::1", "?streamid=#!::u=a@b", 9000 },
        { "http://a@b@c", "http", "a@b", "c", "", 0 },
        { "rtmp://h#f@g", "rtmp", "", "h", "#f@g", 0 },
        { "rtmp://@h:x/", "rtmp", "", "h", "/", 0 },
        { "rtmp://", "rtmp", "", "", "", 0 },
        { "/a?u=http://h/", "", "", "", "/a?u=http://h/", 0 },
        { "://h/a", "", "", "", "://h/a", 0 },
        { "h:1935", "", "", "", "h:1935", 0 },
        { "", "", "", "", "", 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct url u = url_split(rows[i].text, strlen(rows[i].text));

        assert_true(url_is(&u, rows[i].scheme));
        assert_int_equal(u.user_n, strlen(rows[i].user));
        assert_memory_equal(text_or_empty(u.user), rows[i].user, u.user_n);
        assert_int_equal(u.at.host_n, strlen(rows[i].host));
        assert_memory_equal(text_or_empty(u.at.host), rows[i].host, u.at.host_n);
        assert_int_equal(host_port_number(&u.at), rows[i].port);
        assert_string_equal(u.path, rows[i].path);
    }
}

static void hexadecimal(void **state)
{
    int digits = 0;

    (void)state;
    for (int c = 0; c < 256; c++)
        digits += text_hex((char)c) >= 0;
    assert_int_equal(digits, 10 + 2 * 6);
    assert_int_equal(text_hex_byte("00"), 0);
    assert_int_equal(text_hex_byte("aF"), 0xaf);
    assert_int_equal(text_hex_byte("9"), -1);
    assert_int_equal(text_hex_byte("g0"), -1);
    assert_int_equal(text_hex_byte("0 "), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(hosts_and_ports),
        TEST(a_part_of_a_text),
        TEST(urls),
        TEST(hexadecimal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
