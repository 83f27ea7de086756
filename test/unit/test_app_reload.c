/* SPDX-License-Identifier: MIT */
/* test_app_reload.c - a new configuration is applied as a whole, or the old one stays. */
#include "app/reload.h"
#include "base/log.h"
#include "co/co.h"
#include "co/net/io_tcp.h"
#include "conf_mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char lines[16384];

static void keep(enum log_level level, const char *line, size_t size)
{
    size_t used = strlen(lines);

    (void)level;
    (void)snprintf(lines + used, sizeof(lines) - used, "%.*s", (int)size, line);
}

static char file[1024];

static struct mem files = { .main = file };
static const struct conf_source source = { .path = "main", .read = mem_read, .getenv = mem_getenv,
                                           .arg = &files };

static int free_port(void)
{
    struct io_listener *l;
    int port;

    assert_ok(io_listen(&l, "127.0.0.1", 0, 1));
    port = io_listener_port(l);
    io_listener_close(l);
    return port;
}

static void write_file(int port, const char *rest)
{
    (void)snprintf(file, sizeof(file), "listen 127.0.0.1:%d;\n%s\nvhost __defaultVhost__ {\n}\n",
                   port, rest);
}

static struct server *server;
static int port;

static int setup(void **state)
{
    const struct log_setup log = { LOG_TRACE, false, co_cid, keep, NULL };
    struct conf *c;

    (void)state;
    assert_ok(co_init());
    port = free_port();
    write_file(port, "max_connections 100;");
    c = mem_conf(file);
    log_init(&log);
    server = server_new(c, "vid-test");
    conf_unref(c);
    assert_ok(server_listen(server));
    lines[0] = '\0';
    return 0;
}

static int teardown(void **state)
{
    server_free(server);
    assert_int_equal(conf_live(), 0);
    assert_int_equal(co_live(), 0);
    return nothing_left(state);
}

static void test_what_changed_is_applied_and_told(void **state)
{
    (void)state;
    write_file(port, "max_connections 200;\nutc_time on;");
    assert_true(reload_now(server, &source));
    assert_int_equal(server_conf(server)->max_connections, 200);
    assert_false(server_conf(server)->utc_time); /* that needs a restart, and reports it */
    assert_non_null(strstr(lines, "reload: max_connections: \"100\" to \"200\": applied\n"));
    assert_non_null(strstr(lines, "reload: utc_time: \"off\" to \"on\": needs a restart\n"));
    assert_non_null(strstr(lines, "reload: done, 1 applied, 1 need a restart\n"));
}

static void test_nothing_changed(void **state)
{
    (void)state;
    assert_true(reload_now(server, &source));
    assert_non_null(strstr(lines, "reload: done, 0 applied, 0 need a restart\n"));
}

static const struct {
    const char *text;
    const char *place;
} bad[] = {
    { "max_connections 200;\nno_such_thing on;", "main:3" },
    { "max_connections 200;\nutc_time on\nno_such_thing on;", "main:3" },
    { "max_connections lots;", "max_connections" },
    { "max_connections 200;\nvhost a {", "main" },
};

static void test_a_wrong_file_changes_nothing(void **state)
{
    const struct conf *before = server_conf(server);

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        print_message("  %s\n", bad[i].text);
        lines[0] = '\0';
        write_file(port, bad[i].text);
        assert_false(reload_now(server, &source));
        assert_ptr_equal(server_conf(server), before);
        assert_int_equal(before->max_connections, 100);
        assert_non_null(strstr(lines, "[WARN]"));
        assert_non_null(strstr(lines, "reload: failed, the old configuration is kept"));
        assert_non_null(strstr(lines, bad[i].place));
        assert_null(strstr(lines, "applied"));
    }
}

static void test_a_listener_that_cannot_be_opened_changes_nothing(void **state)
{
    const struct conf *before = server_conf(server);
    struct io_listener *taken;
    struct io *io;

    (void)state;
    assert_ok(io_listen(&taken, "127.0.0.1", 0, 1));
    write_file(io_listener_port(taken), "max_connections 200;");
    assert_false(reload_now(server, &source));
    assert_ptr_equal(server_conf(server), before);
    assert_null(strstr(lines, "applied"));
    io_listener_close(taken);
    /* and the old listener still exists */
    assert_ok(io_tcp_connect(&io, "127.0.0.1", port, NULL, CO_SECONDS(5)));
    io_close(io);
}

static void test_a_listener_moves(void **state)
{
    int next = free_port();
    struct io *io;

    (void)state;
    write_file(next, "max_connections 100;");
    assert_true(reload_now(server, &source));
    assert_ok(co_sleep(CO_MS(50)));
    assert_ok(io_tcp_connect(&io, "127.0.0.1", next, NULL, CO_SECONDS(5)));
    io_close(io);
    assert_err(io_tcp_connect(&io, "127.0.0.1", port, NULL, CO_SECONDS(5)), ERR_IO_CONNECT);
}

#define RELOAD_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RELOAD_TEST(test_what_changed_is_applied_and_told),
        RELOAD_TEST(test_nothing_changed),
        RELOAD_TEST(test_a_wrong_file_changes_nothing),
        RELOAD_TEST(test_a_listener_that_cannot_be_opened_changes_nothing),
        RELOAD_TEST(test_a_listener_moves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
