/* SPDX-License-Identifier: MIT */
/* test_app_connection_reserve.c - which clients get a connection when few are left. */
#include "app/connection_reserve.h"
#include "conf_mem.h"

#include <arpa/inet.h>

#define NONE CONNECTION_RESERVE_NONE
#define KEPT CONNECTION_RESERVE_RESERVED
#define FREE CONNECTION_RESERVE_FREE

static const struct {
    const char *name;
    struct server_use use;
    enum connection_reserve want;
} rows[] = { /* max_connections 100, api_reserve 8 */
    { "the last for all", { .taken = 99 }, FREE },
    { "one more", { .taken = 100 }, NONE },
    { "of this machine, which is no help", { .taken = 100, .local = true }, NONE },
    { "the API before that", { .taken = 99, .api = true }, FREE },
    { "the API", { .taken = 100, .api = true }, KEPT },
    { "the last of untrusted clients", { .taken = 105, .api = true }, KEPT },
    { "untrusted clients at the API's port", { .taken = 106, .api = true }, NONE },
    { "but this machine", { .taken = 106, .api = true, .local = true }, KEPT },
    { "its last", { .taken = 107, .api = true, .local = true }, KEPT },
    { "not for it either", { .taken = 108, .api = true, .local = true }, NONE },
    { "many descriptors", { .taken = 10, .fd = 175, .files = 200 }, FREE },
    { "few descriptors", { .taken = 10, .fd = 176, .files = 200 }, NONE },
    { "few, the API", { .taken = 10, .fd = 176, .files = 200, .api = true }, KEPT },
    { "few, untrusted clients at its port", { .taken = 10, .fd = 182, .files = 200, .api = true }, NONE },
    { "few, this machine", { .taken = 10, .fd = 183, .files = 200, .api = true, .local = true }, KEPT },
    { "none", { .taken = 10, .fd = 184, .files = 200, .api = true, .local = true }, NONE },
    { "connections are fewer", { .taken = 107, .fd = 110, .files = 200, .api = true }, NONE },
};

static void test_rows(void **state)
{
    struct conf *c = mem_conf("listen 1935; max_connections 100; limits { api_reserve 8; }");

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        assert_int_equal(connection_reserve_find(c, &rows[i].use), rows[i].want);
    }
    (void)conf_unref(c);
    c = mem_conf("listen 1935; max_connections 100; limits { api_reserve 0; }");
    assert_int_equal(connection_reserve_find(c, &(struct server_use){ .taken = 100, .api = true,
                                                               .local = true }), NONE);
    (void)conf_unref(c);
}

static void test_local(void **state)
{
    static const struct {
        const char *ip;
        bool local;
    } ips[] = {
        { "::ffff:127.0.0.1", true }, { "::ffff:127.1.2.3", true }, { "::1", true },
        { "::ffff:128.0.0.1", false }, { "::", false }, { "::2", false }, { "7f00::1", false },
        { "::127.0.0.1", false }, { "::ffff:10.0.0.1", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(ips); i++) {
        uint8_t addr[16];

        assert_int_equal(inet_pton(AF_INET6, ips[i].ip, addr), 1);
        assert_int_equal(connection_reserve_is_local(addr), ips[i].local);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_rows), TEST(test_local) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
