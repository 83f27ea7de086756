/* SPDX-License-Identifier: MIT */
/* test_io_move.c - connections that move from one thread to another and back.
 *
 * Assertions are made on the first thread only: failures on the other one are returned as text.
 */
#include "base/container_of.h"
#include "co/co.h"
#include "co/mailbox.h"
#include "co/net/io_tcp.h"
#include "co/net/io_tls.h"
#include "co/thread.h"
#include "conf/table.h"
#include "temp_dir.h"
#include "tls_cert.h"

#include <assert.h>
#include <dirent.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

/* Bytes that the client sends before the first move and while the connection is in transit; bytes that the server
 * reads on its first thread, and on the other one. It reads the rest back on the first. */
enum { BEFORE = 10, BETWEEN = 40000, AT_HOME = 4, FAR_AWAY = 20000, SAID = BEFORE + BETWEEN };

static const struct {
    const char *name;
    bool tls, v13;
} rows[] = {
    { "plain", false, false },
    { "TLS 1.2, of the library", true, false },
    { "TLS 1.3, records of our own", true, true },
};

/* ---- the other thread */

static pthread_t far_id;
static struct co_mailbox far_box;
static struct co_notify came, back; /* it has started; its task is done */
static struct co_group far_group;

static void *far_main(void *unused)
{
    err_t err = co_init();

    (void)unused;
    if (!err)
        err = co_mailbox_open(&far_box);
    assert(!err);
    co_group_init(&far_group);
    co_notify_raise(&came);
    err = co_mailbox_run(&far_box);
    err_free(&err);
    err = co_group_wait(&far_group);
    assert(!err);
    co_mailbox_close(&far_box);
    co_fini();
    return NULL;
}

/* ---- a connection in transit */

struct moved {
    struct co_mail mail;
    co_fn *fn; /* function to run there */
    struct io *io;
    uint8_t *got;
    size_t size;
    char failed[500];
};

static err_t read_more(struct moved *m, size_t size)
{
    err_t err = io_read_full(m->io, m->got + m->size, size);

    m->size += err ? 0 : size;
    return err;
}

static err_t far_co(void *arg)
{
    struct moved *m = arg;
    err_t err = m->fn(m);

    if (err)
        (void)err_text(err, m->failed, sizeof(m->failed));
    err_free(&err);
    co_notify_raise(&back);
    return NULL;
}

static void on_arrival(struct co_mail *mail)
{
    struct moved *m = container_of(mail, struct moved, mail);
    err_t err = co_go(&far_group, "far", far_co, m);

    assert(!err);
}

/* Runs it on the other thread. */
static void go_far(struct moved *m, co_fn *fn)
{
    m->fn = fn;
    m->mail.fn = on_arrival;
    co_mailbox_post(&far_box, &m->mail);
    assert_int_equal(co_notify_wait(&back, CO_SECONDS(20)), CO_WOKEN);
    assert_string_equal(m->failed, "");
}

/* ---- both ends */

struct ends {
    struct io *client;
    struct moved server;
    struct io_tls_server *tls;
    struct co_group group;
};

static err_t accept_and_read(void *arg)
{
    struct ends *e = arg;
    err_t err = e->tls ? io_tls_accept(&e->server.io, e->tls, CO_SECONDS(20)) : NULL;

    e->server.io->read_timeout = e->server.io->write_timeout = CO_SECONDS(20);
    return err ? err : read_more(&e->server, AT_HOME);
}

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * 31 + (i >> 11));
}

static void say(struct io *io, size_t from, size_t size)
{
    static uint8_t bytes[SAID];

    for (size_t i = 0; i < size; i++)
        bytes[i] = byte_at(from + i);
    assert_ok(io_write(io, bytes, size));
}

static void assert_word(struct io *io, const char *word)
{
    char got[20] = { 0 };

    assert_ok(io_read_full(io, got, strlen(word)));
    assert_string_equal(got, word);
}

static struct io_tls_server *tls_server(bool v13)
{
    struct io_tls_rules rules = { .v12 = !v13, .v13 = v13, .ciphers = CONF_TLS_CIPHERS };
    char cert[64], key[64];
    struct io_tls_cert c = { "", cert, key };
    struct io_tls_server *s;

    (void)snprintf(cert, sizeof(cert), "%s/ec.crt", dir);
    (void)snprintf(key, sizeof(key), "%s/ec.key", dir);
    assert_ok(io_tls_server_new(&s, &c, 1, &rules));
    return s;
}

/* The server has read part of the client's data, and the connection is in transit. */
static void begin(struct ends *e, size_t row)
{
    struct io_tls_trust trust = { .any = true };
    static uint8_t got[SAID];
    int fds[2];

    *e = (struct ends){ .tls = rows[row].tls ? tls_server(rows[row].v13) : NULL };
    e->server.got = got;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_ok(io_tcp_open(&e->client, fds[0]));
    assert_ok(io_tcp_open(&e->server.io, fds[1]));
    co_group_init(&e->group);
    assert_ok(co_go(&e->group, "server", accept_and_read, e));
    if (e->tls)
        assert_ok(io_tls_connect(&e->client, "127.0.0.1", &trust, CO_SECONDS(20)));
    e->client->read_timeout = e->client->write_timeout = CO_SECONDS(20);
    say(e->client, 0, BEFORE);
    assert_ok(co_group_wait(&e->group));
    io_detach(e->server.io);
}

static void end(struct ends *e)
{
    io_close(e->client);
    (void)io_tls_server_unref(e->tls);
}

/* ---- tests */

static err_t read_and_answer(void *arg)
{
    struct moved *m = arg;
    err_t err = io_attach(m->io);

    if (!err)
        err = read_more(m, FAR_AWAY);
    if (!err)
        err = io_write(m->io, "far", 3);
    io_detach(m->io);
    return err;
}

/* Bytes wait in the socket, in TLS's buffer, in half a record; none is lost, none comes twice. */
static void talks_on(void **state)
{
    (void)state;
    for (size_t row = 0; row < COUNT(rows); row++) {
        struct ends e;

        begin(&e, row);
        say(e.client, BEFORE, BETWEEN);
        go_far(&e.server, read_and_answer);
        assert_ok(io_attach(e.server.io));
        assert_word(e.client, "far");
        assert_ok(read_more(&e.server, SAID - AT_HOME - FAR_AWAY));
        for (size_t i = 0; i < SAID; i++) {
            if (e.server.got[i] != byte_at(i))
                fail_msg("%s: byte %zu is wrong", rows[row].name, i);
        }
        assert_ok(io_write(e.server.io, "home", 4));
        assert_word(e.client, "home");
        io_close(e.server.io);
        end(&e);
    }
}

static err_t just_close(void *arg)
{
    io_close(((struct moved *)arg)->io);
    return NULL;
}

static void closed_between(void **state)
{
    (void)state;
    for (size_t row = 0; row < COUNT(rows); row++) {
        struct ends e;
        uint8_t byte;
        size_t n;

        begin(&e, row);
        go_far(&e.server, just_close);
        /* TLS sends close_notify; without it, unread data makes it a reset */
        assert_err(io_read(e.client, &byte, 1, &n), e.tls ? ERR_IO_CLOSED : ERR_IO_RESET);
        end(&e);
    }
}

static err_t read_to_the_end(void *arg)
{
    struct moved *m = arg;
    size_t n = 0;
    err_t err = io_attach(m->io);

    if (!err)
        err = read_more(m, BEFORE - AT_HOME);
    if (!err)
        err = io_read(m->io, m->got, SAID, &n);
    io_close(m->io);
    if (err_code(err) == ERR_IO_CLOSED)
        err_free(&err);
    else if (!err)
        err = err_new(ERR_SYSTEM, "%zu bytes where the end should be", n);
    return err;
}

static void peer_leaves_between(void **state)
{
    (void)state;
    for (size_t row = 0; row < COUNT(rows); row++) {
        struct ends e;

        begin(&e, row);
        io_close(e.client);
        e.client = NULL;
        go_far(&e.server, read_to_the_end);
        end(&e);
    }
}

static err_t wait_and_read(void *arg)
{
    struct moved *m = arg;
    err_t err = io_attach(m->io);

    co_notify_raise(&came);
    if (!err)
        err = read_more(m, BEFORE - AT_HOME + FAR_AWAY);
    io_close(m->io);
    return err;
}

/* Data that arrives after the move wakes its reader there. */
static void comes_later(void **state)
{
    (void)state;
    for (size_t row = 0; row < COUNT(rows); row++) {
        struct ends e;

        begin(&e, row);
        e.server.fn = wait_and_read;
        e.server.mail.fn = on_arrival;
        co_mailbox_post(&far_box, &e.server.mail);
        assert_int_equal(co_notify_wait(&came, CO_SECONDS(20)), CO_WOKEN);
        say(e.client, BEFORE, FAR_AWAY);
        assert_int_equal(co_notify_wait(&back, CO_SECONDS(20)), CO_WOKEN);
        assert_string_equal(e.server.failed, "");
        end(&e);
    }
}

static int descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

static int set_up(void **state)
{
    char path[64];
    err_t err = co_init();

    if (!err)
        err = co_notify_open(&came);
    if (!err)
        err = co_notify_open(&back);
    if (err || dir_make(state) != 0)
        return 1;
    (void)snprintf(path, sizeof(path), "%s/ec", dir);
    cert_make(path, "ec.test", false);
    if (pthread_create(&far_id, NULL, far_main, NULL) != 0 ||
        co_notify_wait(&came, CO_SECONDS(20)) != CO_WOKEN)
        return 1;
    return 0;
}

static void on_end(struct co_mail *m)
{
    (void)m;
    co_stop(co_self(), NULL); /* the reader of the mailbox */
}

static int tear_down(void **state)
{
    static struct co_mail end_it = { .fn = on_end };

    co_mailbox_post(&far_box, &end_it);
    (void)pthread_join(far_id, NULL);
    co_notify_close(&came);
    co_notify_close(&back);
    co_fini();
    return dir_remove(state);
}

/* All of it once more: the initial objects are there at the end. */
static void nothing_stays_open(void **state)
{
    int before = descriptors();

    talks_on(state);
    closed_between(state);
    peer_leaves_between(state);
    assert_int_equal(descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(talks_on), TEST(closed_between), TEST(peer_leaves_between), TEST(comes_later),
        TEST(nothing_stays_open),
    };
    int failed = cmocka_run_group_tests(tests, set_up, tear_down);

    co_threads_end(CO_SECONDS(1));
    return failed;
}
