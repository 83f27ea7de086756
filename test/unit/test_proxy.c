/* SPDX-License-Identifier: MIT */
/* test_proxy.c - PROXY protocol headers, valid and invalid, cut at every byte. */
#include "io_mem.h"
#include "proto/proxy/proxy.h"
#include "unit.h"

#include <string.h>

#define SIGN "\r\n\r\n\0\r\nQUIT\n"
#define FAR "\1\2\3\4\177\0\0\1"        /* 1.2.3.4 to 127.0.0.1 */
#define PORTS "\xde\xad\0\x50"          /* 57005 to 80 */
#define ZEROS "\0\0\0\0\0\0\0\0\0\0\0"
#define V6 "\x20\1\xd\xb8" ZEROS "\5"   /* 2001:db8::5 */
#define V6_LOCAL ZEROS "\0\0\0\0\1"
#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static const struct {
    const char *name;
    const uint8_t *data;
    size_t size;
    const char *ip; /* NULL: it stays the proxy's */
    int port;
} good[] = {
    { "v1", BYTES("PROXY TCP4 1.2.3.4 127.0.0.1 57005 80\r\n"), "1.2.3.4", 57005 },
    { "v1 longest", BYTES("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n"),
      "255.255.255.255", 65535 },
    { "v1 shortest", BYTES("PROXY TCP4 1.1.1.1 1.1.1.1 0 0\r\n"), "1.1.1.1", 0 },
    { "v1 of IPv6", BYTES("PROXY TCP6 2001:db8::5 ::1 57005 80\r\n"), "2001:db8::5", 57005 },
    { "v1 of IPv6 in full", BYTES("PROXY TCP6 2001:0DB8:0000:0000:0000:0000:0000:0005 "
      "0000:0000:0000:0000:0000:0000:0000:0001 57005 80\r\n"), "2001:db8::5", 57005 },
    { "v1 of IPv4 in IPv6", BYTES("PROXY TCP6 ::ffff:1.2.3.4 ::1 57005 80\r\n"), "1.2.3.4",
      57005 },
    { "v1 unknown", BYTES("PROXY UNKNOWN\r\n"), NULL, 0 },
    { "v1 unknown, with more", BYTES("PROXY UNKNOWN ffff:f...f:ffff 1.2.3.4 65535 65535\r\n"),
      NULL, 0 },
    { "v2", BYTES(SIGN "\x21\x11\0\14" FAR PORTS), "1.2.3.4", 57005 },
    { "v2 of IPv6", BYTES(SIGN "\x21\x21\0\44" V6 V6_LOCAL PORTS), "2001:db8::5", 57005 },
    { "v2 with more", BYTES(SIGN "\x21\x11\0\22" FAR PORTS "\4\0\3abc"), "1.2.3.4", 57005 },
    { "v2 local", BYTES(SIGN "\x20\0\0\0"), NULL, 0 },
    { "v2 local with an address", BYTES(SIGN "\x20\x11\0\14" FAR PORTS), NULL, 0 },
    { "v2 local of no family that is", BYTES(SIGN "\x20\xff\0\2ab"), NULL, 0 },
    { "v2 of no family", BYTES(SIGN "\x21\0\0\4abcd"), NULL, 0 },
};

/* Each byte of it comes alone, and nothing after it is consumed. */
static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        for (size_t size = 0; size <= good[i].size + 1; size++) {
            uint8_t data[256] = { 0 };
            struct proxy_peer who;
            size_t need;

            memcpy(data, good[i].data, size < good[i].size ? size : good[i].size);
            assert_ok(proxy_parse(data, size, &who, &need));
            if (size < good[i].size) {
                assert_true(need > size && need <= good[i].size);
                continue;
            }
            assert_int_equal(need, good[i].size);
            assert_int_equal(who.known, good[i].ip != NULL);
            assert_string_equal(who.ip, good[i].ip ? good[i].ip : "");
            assert_int_equal(who.port, good[i].port);
        }
    }
}

static const struct {
    const char *name;
    const uint8_t *data;
    size_t size;
    size_t seen; /* this many bytes are enough to see it */
} bad[] = {
    { "nothing of the kind", BYTES("GET / HTTP/1.1\r\n"), 1 },
    { "RTMP", BYTES("\3aaaaaaaaaaaaaaaaaa"), 1 },
    { "TLS", BYTES("\x16\3\1\2\0"), 1 },
    { "nearly v1", BYTES("PROXXY TCP4 "), 5 },
    { "lower case", BYTES("proxy TCP4 "), 1 },
    { "nearly v2", BYTES("\r\n\r\n\0\r\nQUIX\n"), 11 },
    { "a line end alone", BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n"), 31 },
    { "CR alone", BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 1 2\rx"), 32 },
    { "a NUL", BYTES("PROXY TCP4 1.2.3.4\0 1.2.3.4 1 2\r\n"), 19 },
    { "no fields", BYTES("PROXY \r\n"), 8 },
    { "no ports", BYTES("PROXY TCP4 1.2.3.4 1.2.3.4\r\n"), 28 },
    { "one port", BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n"), 30 },
    { "too much", BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n"), 34 },
    { "a space behind", BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 1 2 \r\n"), 33 },
    { "two spaces", BYTES("PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n"), 33 },
    { "a port too high", BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 65536 2\r\n"), 36 },
    { "a port with a zero", BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n"), 33 },
    { "a port with a sign", BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 +1 2\r\n"), 33 },
    { "an address with a zone", BYTES("PROXY TCP6 fe80::1%lo ::1 1 2\r\n"), 31 },
    { "half an address", BYTES("PROXY TCP4 1.2.3 1.2.3.4 1 2\r\n"), 30 },
    { "a name", BYTES("PROXY TCP4 localhost 1.2.3.4 1 2\r\n"), 34 },
    { "IPv6 as TCP4", BYTES("PROXY TCP4 ::1 ::1 1 2\r\n"), 24 },
    { "IPv4 as TCP6", BYTES("PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n"), 32 },
    { "UDP", BYTES("PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n"), 32 },
    { "UNKNOWNS", BYTES("PROXY UNKNOWNS\r\n"), 16 },
    { "v2 of version 1", BYTES(SIGN "\x11\x11\0\14" FAR PORTS), 16 },
    { "v2 of no command", BYTES(SIGN "\x22\x11\0\14" FAR PORTS), 16 },
    { "v2 datagrams", BYTES(SIGN "\x21\x12\0\14" FAR PORTS), 16 },
    { "v2 of no family that is", BYTES(SIGN "\x21\x41\0\14" FAR PORTS), 16 },
    { "v2 too short", BYTES(SIGN "\x21\x11\0\13" FAR "\0\0\0"), 27 },
    { "v2 of IPv6, too short", BYTES(SIGN "\x21\x21\0\14" FAR PORTS), 28 },
    { "v2 of unix, too short", BYTES(SIGN "\x21\x31\0\14" FAR PORTS), 28 },
    { "v2 too long", BYTES(SIGN "\x21\x11\x8\0"), 16 },
    { "v2 local, too long", BYTES(SIGN "\x20\0\xff\xff"), 16 },
};

static void test_bad(void **state)
{
    struct proxy_peer who;
    size_t need;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        for (size_t size = 0; size <= bad[i].size; size++) {
            err_t err = proxy_parse(bad[i].data, size, &who, &need);

            if (!err != (size < bad[i].seen))
                fail_msg("%s: %zu bytes", bad[i].name, size);
            if (!err)
                assert_true(need > size);
            else
                assert_true(err_code(err) == ERR_PROXY || err_code(err) == ERR_TOO_LARGE);
            err_free(&err);
        }
    }
}

static void test_line_without_end(void **state)
{
    uint8_t data[PROXY_V1_MAX + 1];
    struct proxy_peer who;
    size_t need;

    (void)state;
    memset(data, 'x', sizeof(data));
    memcpy(data, "PROXY UNKNOWN ", 14);
    assert_ok(proxy_parse(data, PROXY_V1_MAX - 2, &who, &need));
    assert_int_equal(need, PROXY_V1_MAX);
    assert_err(proxy_parse(data, PROXY_V1_MAX - 1, &who, &need), ERR_TOO_LARGE);
    memcpy(data + PROXY_V1_MAX - 2, "\r\n", 2);
    assert_ok(proxy_parse(data, PROXY_V1_MAX, &who, &need));
    assert_int_equal(need, PROXY_V1_MAX);
}

static void test_largest(void **state)
{
    uint8_t data[PROXY_MAX] = SIGN "\x21\x11\7\xf0" FAR PORTS;
    struct proxy_peer who;
    size_t need;

    (void)state;
    assert_ok(proxy_parse(data, sizeof(data) - 1, &who, &need));
    assert_int_equal(need, sizeof(data));
    assert_ok(proxy_parse(data, sizeof(data), &who, &need));
    assert_string_equal(who.ip, "1.2.3.4");
}

/* In pieces of any size, and the following data is left to the next reader: TLS, for example. */
static void test_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        for (size_t piece = 1; piece < 60; piece++) {
            uint8_t data[256], rest[4];
            struct proxy_peer who;
            struct io_mem mem;

            memcpy(data, good[i].data, good[i].size);
            memcpy(data + good[i].size, "next", 4);
            io_mem_init(&mem, data, good[i].size + 4);
            mem.piece = piece;
            assert_ok(proxy_read(&mem.io, &who, CO_SECONDS(1)));
            assert_string_equal(who.ip, good[i].ip ? good[i].ip : "");
            assert_ok(io_read_full(&mem.io, rest, 4));
            assert_memory_equal(rest, "next", 4);
        }
    }
}

static void test_read_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        for (size_t size = 0; size < good[i].size; size++) {
            struct proxy_peer who;
            struct io_mem mem;

            io_mem_init(&mem, good[i].data, size);
            assert_err(proxy_read(&mem.io, &who, CO_SECONDS(1)), ERR_IO_CLOSED);
            assert_false(who.known);
        }
    }
}

static void test_texts(void **state)
{
    static const struct {
        const char *text, *same; /* NULL: no address */
    } rows[] = {
        { "1.2.3.4", "1.2.3.4" }, { "::ffff:1.2.3.4", "1.2.3.4" }, { "::FFFF:102:304", "1.2.3.4" },
        { "2001:DB8:0:0::5", "2001:db8::5" }, { "::", "::" }, { "::1", "::1" },
        { "", NULL }, { "1.2.3", NULL }, { "1.2.3.4.5", NULL }, { "1.2.3.4:5", NULL },
        { "[::1]", NULL }, { "fe80::1%lo", NULL }, { " 1.2.3.4", NULL }, { "1.2.3.4 ", NULL },
        { "01.2.3.4", NULL }, { "0x1.2.3.4", NULL }, { "host", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t addr[IP_SIZE];
        char text[IP_TEXT];
        bool ok = ip_parse(rows[i].text, strlen(rows[i].text), addr);

        if (ok != (rows[i].same != NULL))
            fail_msg("\"%s\"", rows[i].text);
        if (ok)
            assert_string_equal(ip_text(addr, text), rows[i].same);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_good), TEST(test_bad), TEST(test_line_without_end), TEST(test_largest),
        TEST(test_read), TEST(test_read_cut), TEST(test_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
