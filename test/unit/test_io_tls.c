/* SPDX-License-Identifier: MIT */
/* test_io_tls.c - TLS over a pair of sockets: handshakes, data, half-full windows, certificates. */
#include "co/co.h"
#include "co/net/io_tcp.h"
#include "co/net/io_tls.h"
#include "co/net/tls_handshake.h"
#include "conf/table.h"
#include "rsa_keys.h"
#include "tls_cert.h"
#include "unit.h"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct io_tls_rules usual = { .v12 = true, .v13 = true, .ciphers = CONF_TLS_CIPHERS };

static char folder[] = "/tmp/test_tls_XXXXXX";

static const char *at(const char *name)
{
    static char path[4][128];
    static int turn;
    char *p = path[turn++ % 4];

    (void)snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
    return p;
}

static void make_cert(const char *file, const char *name, bool rsa)
{
    cert_make(at(file), name, rsa);
}

static struct io_tls_server *server_of(const char *file)
{
    struct io_tls_server *s;
    char cert[64], key[64];
    struct io_tls_cert c = { "", NULL, NULL };

    (void)snprintf(cert, sizeof(cert), "%s.crt", file);
    (void)snprintf(key, sizeof(key), "%s.key", file);
    c.cert = at(cert);
    c.key = at(key);
    assert_ok(io_tls_server_new(&s, &c, 1, &usual));
    return s;
}

/* Two ends; the server's runs in a coroutine. */
struct ends {
    struct io *client, *server;
    struct io_tls_server *tls;
    err_t (*run)(struct ends *e); /* the server's part, after the handshake */
    int salt;                     /* distinguishes the bytes of one from those of another */
    struct co_group group;
    size_t bytes;
};

static err_t server_main(void *arg)
{
    struct ends *e = arg;
    err_t err = io_tls_accept(&e->server, e->tls, CO_SECONDS(5));

    e->server->read_timeout = e->server->write_timeout = CO_SECONDS(5);
    return err ? err : e->run(e);
}

static void open_ends(struct ends *e)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_ok(io_tcp_open(&e->client, fds[0]));
    assert_ok(io_tcp_open(&e->server, fds[1]));
    co_group_init(&e->group);
    assert_ok(co_go(&e->group, "server", server_main, e));
    e->client->read_timeout = e->client->write_timeout = CO_SECONDS(5);
}

static void close_ends(struct ends *e, enum err_code wanted)
{
    io_close(e->client);
    assert_err(co_group_wait(&e->group), wanted);
    io_close(e->server);
}

static err_t echo(struct ends *e)
{
    uint8_t buf[5000];
    size_t n;
    err_t err;

    while (!(err = io_read(e->server, buf, sizeof(buf), &n))) {
        err = io_write(e->server, buf, n);
        if (err)
            break;
        e->bytes += n;
    }
    return err;
}

/* The server's side of the handshake ends after the client's: waits for it. */
static void one_byte(struct io *io)
{
    char c = 'x';

    assert_ok(io_write(io, &c, 1));
    assert_ok(io_read_full(io, &c, 1));
}

static void echoes(void **state)
{
    static const size_t sizes[] = { 1, 100, 16384, 16385, 70000, 300000 };

    (void)state;
    for (int rsa = 0; rsa < 2; rsa++) {
        struct ends e = { .tls = server_of(rsa ? "rsa" : "ec"), .run = echo };
        struct io_tls_trust trust = { .ca = at(rsa ? "rsa.crt" : "ec.crt") };
        uint8_t *buf = malloc(300000), *back = malloc(300000);

        open_ends(&e);
        assert_ok(io_tls_connect(&e.client, rsa ? "rsa.test" : "ec.test", &trust, CO_SECONDS(5)));
        assert_string_equal(io_tls_version(e.client), "TLSv1.3");
        for (size_t i = 0; i < COUNT(sizes); i++) {
            size_t n = sizes[i] < 70000 ? sizes[i] : 70000; /* at most what both windows hold */
            struct iovec iov[3] = { { buf, n / 3 }, { buf + n / 3, n / 3 },
                                    { buf + n / 3 * 2, n - n / 3 * 2 } };

            for (size_t k = 0; k < n; k++)
                buf[k] = (uint8_t)(k * 7 + i);
            assert_ok(io_writev(e.client, iov, 3));
            assert_ok(io_read_full(e.client, back, n));
            assert_memory_equal(back, buf, n);
        }
        free(buf);
        free(back);
        close_ends(&e, ERR_IO_CLOSED);
        assert_null(io_tls_server_unref(e.tls));
    }
}

/* The server sends by send_some to a peer that reads slowly; each byte arrives once. */
enum { MUCH = 3 * 1000 * 1000 };

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * 31 + (i >> 11));
}

static err_t send_much(struct ends *e)
{
    uint8_t *all = malloc(MUCH);
    size_t at_byte = 0;
    err_t err = NULL;

    for (size_t i = 0; i < MUCH; i++)
        all[i] = (uint8_t)(byte_at(i) + e->salt);
    while (!err && at_byte < MUCH) {
        size_t left = MUCH - at_byte, n, most = left < 200000 ? left : 200000;
        struct iovec iov[2] = { { all + at_byte, most / 2 },
                                { all + at_byte + most / 2, most - most / 2 } };

        err = io_send_some(e->server, iov, 2, &n);
        at_byte += n;
        e->bytes = at_byte;
        if (!err && n < most && io_wait(e->server, true, CO_SECONDS(5)) == CO_TIMEOUT)
            err = err_new(ERR_IO_TIMEOUT, "the test's peer took nothing");
    }
    free(all);
    return err;
}

/* Two at once: pending output of one is not overwritten by the other's. */
static void half_full_windows(void **state)
{
    struct ends e[2] = { { .tls = server_of("ec"), .run = send_much } };
    struct io_tls_trust trust = { .any = true };
    uint8_t buf[777];
    size_t n;

    (void)state;
    e[1] = e[0];
    e[1].salt = 100;
    for (int i = 0; i < 2; i++) {
        open_ends(&e[i]);
        assert_ok(io_tls_connect(&e[i].client, "127.0.0.1", &trust, CO_SECONDS(5)));
    }
    for (size_t got[2] = { 0 }; got[0] < MUCH || got[1] < MUCH;) {
        int who = got[0] > got[1];

        assert_ok(io_read(e[who].client, buf, sizeof(buf), &n));
        for (size_t i = 0; i < n; i++) {
            if (buf[i] != (uint8_t)(byte_at(got[who] + i) + e[who].salt))
                fail_msg("byte %zu of %d is wrong", got[who] + i, who);
        }
        got[who] += n;
    }
    close_ends(&e[0], ERR_OK);
    close_ends(&e[1], ERR_OK);
    assert_null(io_tls_server_unref(e[0].tls));
}

static void who_is_trusted(void **state)
{
    static const struct {
        const char *host, *ca;
        bool any;
        enum err_code code, at_server;
    } rows[] = {
        { "ec.test", "ec.crt", false, ERR_OK, ERR_IO_CLOSED },
        { "127.0.0.1", "ec.crt", false, ERR_OK, ERR_IO_CLOSED },
        { "other.test", "ec.crt", false, ERR_TLS, ERR_TLS },  /* another name */
        { "10.0.0.1", "ec.crt", false, ERR_TLS, ERR_TLS },
        { "ec.test", "rsa.crt", false, ERR_TLS, ERR_TLS },    /* another authority */
        { "other.test", "", true, ERR_OK, ERR_IO_CLOSED },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ends e = { .tls = server_of("ec"), .run = echo };
        struct io_tls_trust trust = { rows[i].any, *rows[i].ca ? at(rows[i].ca) : "" };

        open_ends(&e);
        assert_err(io_tls_connect(&e.client, rows[i].host, &trust, CO_SECONDS(5)), rows[i].code);
        if (rows[i].code == ERR_OK)
            one_byte(e.client);
        close_ends(&e, rows[i].at_server);
        assert_null(io_tls_server_unref(e.tls));
    }
}

/* A key whose signatures are slow to verify is rejected before one is verified, even without
 * verification of the peer. */
static void servers_with_slow_keys(void **state)
{
    (void)state;
    cert_write(at("long"), "long.test", rsa_of(3217, 1279, 65537));
    cert_write(at("exponent"), "exponent.test", rsa_with_large_exponent());
    for (int i = 0; i < 4; i++) {
        struct ends e = { .tls = server_of(i < 2 ? "long" : "exponent"), .run = echo };
        struct io_tls_trust trust = { i % 2, at(i < 2 ? "long.crt" : "exponent.crt") };
        char text[200];
        err_t err;

        open_ends(&e);
        err = io_tls_connect(&e.client, i < 2 ? "long.test" : "exponent.test", &trust, CO_SECONDS(5));
        if (!err || !strstr(err_text(err, text, sizeof(text)), "certificate rejected"))
            fail_msg("row %d: %s", i, text);
        err_free(&err);
        close_ends(&e, ERR_TLS);
        assert_null(io_tls_server_unref(e.tls));
    }
}

static void carry(struct tls_core *from, struct tls_core *to)
{
    size_t room, n = from->out_end - from->out_at;
    uint8_t *at_end = tls_core_room(to, &room);

    if (n == 0)
        return;
    memcpy(at_end, from->out + from->out_at, n < room ? n : room);
    to->in_end += n < room ? n : room;
    tls_core_sent(from, n);
}

static bool shake_hands(struct io_tls_server *tls, SSL_CTX *ctx)
{
    struct tls_certs *certs = tls_server_certs(tls);
    struct tls_core *server = tls_core_new(tls_certs_first(certs), certs, true);
    struct tls_core *client = tls_core_new(ctx, NULL, false);
    bool done;

    (void)tls_certs_unref(certs);
    client->step = server->step = TLS_WANTS_INPUT;
    for (int i = 0; i < 10 && (client->step != TLS_DONE || server->step != TLS_DONE); i++) {
        if (client->step == TLS_WANTS_INPUT)
            tls_core_shake(client);
        carry(client, server);
        if (server->step == TLS_WANTS_INPUT)
            tls_core_shake(server);
        carry(server, client);
    }
    done = client->step == TLS_DONE && server->step == TLS_DONE;
    tls_core_free(client);
    tls_core_free(server);
    return done;
}

static SSL_CTX *client_of(const char *groups)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

    SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
    assert_int_equal(SSL_CTX_set1_groups_list(ctx, groups), 1);
    return ctx;
}

/* Expensive operations are for keys whose handshakes are on helper threads, FFDHE for none. */
static void groups_that_clients_choose(void **state)
{
    static const struct {
        const char *file, *groups;
        bool done;
    } rows[] = {
        { "ec", "X25519", true }, { "ec", "P-256", true }, { "rsa", "P-384", true },
        { "ec", "P-384", false }, { "ec", "ffdhe8192", false }, { "rsa", "ffdhe8192", false },
        { "ec", "ffdhe8192:P-256", true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct io_tls_server *tls = server_of(rows[i].file);
        SSL_CTX *ctx = client_of(rows[i].groups);

        if (shake_hands(tls, ctx) != rows[i].done)
            fail_msg("%s with %s", rows[i].groups, rows[i].file);
        SSL_CTX_free(ctx);
        assert_null(io_tls_server_unref(tls));
    }
}

/* Plain text, an early end, or silence. */
static void bad_peers(void **state)
{
    static const struct {
        const char *bytes;
        bool stays;
        enum err_code code;
    } rows[] = {
        { "GET / HTTP/1.1\r\n\r\n", true, ERR_TLS },
        { "", false, ERR_IO_CLOSED },
        { "\x16\x03\x01\x02", false, ERR_IO_CLOSED },
        { "\x16\x03\x01\x02", true, ERR_IO_TIMEOUT },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows) * 2; i++) {
        struct io_tls_server *tls = server_of(i % 2 ? "ec" : "rsa");
        struct io *io;
        int fds[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
        assert_ok(io_tcp_open(&io, fds[0]));
        assert_true(write(fds[1], rows[i / 2].bytes, strlen(rows[i / 2].bytes)) >= 0);
        if (!rows[i / 2].stays)
            (void)close(fds[1]);
        assert_err(io_tls_accept(&io, tls, CO_MS(100)), rows[i / 2].code);
        io_close(io);
        if (rows[i / 2].stays)
            (void)close(fds[1]);
        assert_null(io_tls_server_unref(tls));
    }
}

static void files_are_checked(void **state)
{
    struct io_tls_cert bad[] = {
        { "", at("nix.crt"), at("ec.key") },
        { "", at("ec.crt"), at("nix.key") },
        { "", at("ec.crt"), at("rsa.key") },
        { "", at("ec.key"), at("ec.key") },
    };
    static const char *const why[] = { "nix.crt: No such file or directory",
                                       "nix.key: No such file or directory",
                                       "is of another certificate", "" };
    struct io_tls_server *s = NULL;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[512];
        err_t err;

        bad[i].cert = at(i == 0 ? "nix.crt" : i == 3 ? "ec.key" : "ec.crt");
        bad[i].key = at(i == 1 ? "nix.key" : i == 2 ? "rsa.key" : "ec.key");
        err = io_tls_server_new(&s, &bad[i], 1, &usual);
        assert_int_equal(err_code(err), ERR_TLS);
        assert_non_null(strstr(err_text(err, text, sizeof(text)), why[i]));
        err_free(&err);
    }
}

static void copy_file(const char *from, const char *to)
{
    char buf[4096];
    FILE *in = fopen(at(from), "rb"), *to_file = fopen(at(to), "wb");
    size_t n = fread(buf, 1, sizeof(buf), in);

    assert_int_equal(fwrite(buf, 1, n, to_file), n);
    (void)fclose(in);
    (void)fclose(to_file);
}

static enum err_code try_host(struct io_tls_server *tls, const char *host, const char *ca)
{
    struct ends e = { .tls = tls, .run = echo };
    struct io_tls_trust trust = { .ca = at(ca) };
    enum err_code code;
    err_t err;

    open_ends(&e);
    err = io_tls_connect(&e.client, host, &trust, CO_SECONDS(5));
    code = err_code(err);
    err_free(&err);
    if (code == ERR_OK)
        one_byte(e.client);
    close_ends(&e, code == ERR_OK ? ERR_IO_CLOSED : ERR_TLS);
    return code;
}

/* A changed file is read again; a bad one is not used. */
static void refreshed(void **state)
{
    struct io_tls_server *s;
    bool changed;

    (void)state;
    copy_file("ec.crt", "now.crt");
    copy_file("ec.key", "now.key");
    s = server_of("now");
    assert_ok(io_tls_server_refresh(s, &changed));
    assert_false(changed);
    assert_int_equal(try_host(s, "ec.test", "ec.crt"), ERR_OK);
    copy_file("rsa.crt", "now.crt"); /* the key of another one: half of the renewal */
    assert_err(io_tls_server_refresh(s, &changed), ERR_TLS);
    assert_ok(io_tls_server_refresh(s, &changed)); /* reported once */
    assert_false(changed);
    assert_int_equal(try_host(s, "ec.test", "ec.crt"), ERR_OK);
    copy_file("rsa.key", "now.key");
    assert_ok(io_tls_server_refresh(s, &changed));
    assert_true(changed);
    assert_int_equal(try_host(s, "rsa.test", "rsa.crt"), ERR_OK);
    assert_int_equal(try_host(s, "ec.test", "ec.crt"), ERR_TLS);
    assert_null(io_tls_server_unref(s));
}

/* ---- connections of other threads */

enum { GUESTS = 3, RENEWALS = 30 };

struct guest {
    pthread_t thread;
    struct io_tls_server *tls;
    SSL_CTX *ctx;
    atomic_bool *enough;
    unsigned shaken, failed;
};

static void *visit(void *arg)
{
    struct guest *g = arg;

    do {
        if (shake_hands(g->tls, g->ctx))
            g->shaken++;
        else
            g->failed++;
    } while (!atomic_load(g->enough));
    (void)io_tls_server_unref(g->tls);
    return NULL;
}

/* Workers share one: their connections come and go while the first reads it again. */
static void threads_share(void **state)
{
    struct guest guests[GUESTS] = { { 0 } };
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    struct io_tls_server *s;
    atomic_bool enough = false;
    bool changed;

    (void)state;
    copy_file("ec.crt", "own.crt");
    copy_file("ec.key", "own.key");
    s = server_of("own");
    for (int i = 0; i < GUESTS; i++) {
        guests[i] = (struct guest){ .tls = io_tls_server_ref(s), .ctx = ctx, .enough = &enough };
        assert_int_equal(pthread_create(&guests[i].thread, NULL, visit, &guests[i]), 0);
    }
    for (int i = 0; i < RENEWALS; i++) {
        const struct timespec times[2] = { { .tv_sec = 1000 + i }, { .tv_sec = 1000 + i } };

        assert_int_equal(utimensat(AT_FDCWD, at("own.crt"), times, 0), 0);
        assert_ok(io_tls_server_refresh(s, &changed));
        assert_true(changed);
    }
    assert_null(io_tls_server_unref(s)); /* the last of them is */
    atomic_store(&enough, true);
    for (int i = 0; i < GUESTS; i++) {
        assert_int_equal(pthread_join(guests[i].thread, NULL), 0);
        assert_int_equal(guests[i].failed, 0);
        assert_true(guests[i].shaken > 0);
    }
    SSL_CTX_free(ctx);
}

static void by_name(void **state)
{
    char ec[2][128], rsa[2][128], wildcard[2][128];
    struct io_tls_cert certs[3] = { { "", ec[0], ec[1] }, { "rsa.test", rsa[0], rsa[1] },
                                    { "*.star.test", wildcard[0], wildcard[1] } };
    struct io_tls_server *s;

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *end = i ? "key" : "crt";

        (void)snprintf(ec[i], sizeof(ec[i]), "%s/ec.%s", folder, end);
        (void)snprintf(rsa[i], sizeof(rsa[i]), "%s/rsa.%s", folder, end);
        (void)snprintf(wildcard[i], sizeof(wildcard[i]), "%s/star.%s", folder, end);
    }
    assert_ok(io_tls_server_new(&s, certs, 3, &usual));
    assert_int_equal(try_host(s, "ec.test", "ec.crt"), ERR_OK);
    assert_int_equal(try_host(s, "rsa.test", "rsa.crt"), ERR_OK);
    assert_int_equal(try_host(s, "RSA.test", "rsa.crt"), ERR_OK);
    assert_int_equal(try_host(s, "a.star.test", "star.crt"), ERR_OK);
    assert_int_equal(try_host(s, "star.test", "star.crt"), ERR_TLS); /* a wildcard is one label */
    assert_int_equal(try_host(s, "127.0.0.1", "ec.crt"), ERR_OK);    /* no name: the first */
    assert_null(io_tls_server_unref(s));
}

/* Stopped while a helper thread works for it. */
static void stopped(void **state)
{
    struct ends e = { .tls = server_of("rsa"), .run = echo };

    (void)state;
    open_ends(&e);
    assert_ok(co_sleep(CO_MS(1)));
    assert_err(co_group_stop(&e.group), ERR_STOPPED);
    io_close(e.client);
    io_close(e.server);
    assert_null(io_tls_server_unref(e.tls));
}

static int set_up(void **state)
{
    (void)state;
    assert_ok(co_init());
    assert_non_null(mkdtemp(folder));
    make_cert("ec", "ec.test", false);
    make_cert("rsa", "rsa.test", true);
    make_cert("star", "*.star.test", false);
    return 0;
}

static int clean_up(void **state)
{
    static const char *const names[] = { "ec", "rsa", "star", "now", "own", "long",
                                        "exponent" };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "%s.crt", names[i]);
        (void)unlink(at(name));
        (void)snprintf(name, sizeof(name), "%s.key", names[i]);
        (void)unlink(at(name));
    }
    return rmdir(folder);
}

/* ---- a client that requests new keys repeatedly, and a byte at the end */

struct asker {
    int fd, times;
};

static void *ask(void *arg)
{
    const struct asker *a = arg;
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(ctx);
    BIO *made = BIO_new(BIO_s_mem());
    char *data;
    long size, at = 0, n = 1;

    (void)SSL_set_fd(ssl, a->fd);
    if (SSL_connect(ssl) == 1) {
        SSL_set0_wbio(ssl, made);
        for (int i = 0; i < a->times; i++) {
            (void)SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED);
            (void)SSL_do_handshake(ssl);
        }
        (void)SSL_write(ssl, "x", 1);
        size = BIO_get_mem_data(made, &data);
        for (; at < size && n > 0; at += n)
            n = send(a->fd, data + at, (size_t)(size - at), MSG_NOSIGNAL);
    }
    (void)shutdown(a->fd, SHUT_WR);
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    return NULL;
}

/* Cost for others: the longest time in which no other coroutine ran. */
static err_t tick(void *arg)
{
    co_usec *longest = arg, last = co_clock();
    err_t err;

    while (!(err = co_sleep(CO_MS(1)))) {
        if (co_clock() - last > *longest)
            *longest = co_clock() - last;
        last = co_clock();
    }
    return err;
}

static void new_keys_without_end(void **state)
{
    static const struct {
        int times;
        enum err_code code;
    } rows[] = { { 3, ERR_OK }, { 30, ERR_OK }, { 40, ERR_TLS }, { 20000, ERR_TLS } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct io_tls_server *tls = server_of("ec");
        co_usec longest = 0;
        struct co_group g;
        struct asker a;
        struct io *io;
        pthread_t thread;
        int fds[2];
        size_t n;
        char c;

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
        a = (struct asker){ fds[0], rows[i].times };
        assert_int_equal(pthread_create(&thread, NULL, ask, &a), 0);
        co_group_init(&g);
        assert_ok(co_go(&g, "tick", tick, &longest));
        assert_ok(io_tcp_open(&io, fds[1]));
        assert_ok(io_tls_accept(&io, tls, CO_SECONDS(5)));
        io->read_timeout = CO_SECONDS(60); /* the client prepares all of it first */
        assert_err(io_read(io, &c, 1, &n), rows[i].code);
        io_close(io);
        (void)pthread_join(thread, NULL);
        (void)close(fds[0]);
        assert_err(co_group_stop(&g), ERR_STOPPED);
        assert_true(longest < CO_MS(200));
        (void)io_tls_server_unref(tls);
    }
}

static void ciphers(void **state)
{
    static const struct {
        const char *list, *wrong; /* NULL: it is fine */
    } rows[] = {
        { CONF_TLS_CIPHERS, NULL }, { "HIGH:!aNULL:!MD5", NULL }, { "ECDHE+AESGCM", NULL },
        { "ECDHE-RSA-AES128-GCM-SHA256,AES128-SHA", NULL }, { "HIGH:!NEVERWAS:@STRENGTH", NULL },
        { "DEFAULT@SECLEVEL=2", NULL },
        { "ECDHE-RSA-AES129-GCM-SHA256", "AES129" }, { "HIGH:AES128-GMC-SHA256", "GMC" },
        { "HIGH:!", "\"!\"" }, { "", "nothing is left" }, { "!ALL", "nothing is left" },
        { "TLS_AES_128_GCM_SHA256", "TLS 1.2" }, { "HIGH:TLS_AES_128_GCM_SHA256", "TLS_AES" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        err_t err = io_tls_check_ciphers(rows[i].list);
        char text[400];

        if (!err != !rows[i].wrong)
            fail_msg("%s", rows[i].list);
        if (err && !strstr(err_text(err, text, sizeof(text)), rows[i].wrong))
            fail_msg("%s: %s", rows[i].list, text);
        err_free(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(echoes), TEST(half_full_windows), TEST(who_is_trusted), TEST(bad_peers),
        TEST(files_are_checked), TEST(refreshed), TEST(threads_share), TEST(by_name), TEST(stopped),
        TEST(new_keys_without_end), TEST(ciphers), TEST(servers_with_slow_keys),
        TEST(groups_that_clients_choose),
    };

    return cmocka_run_group_tests(tests, set_up, clean_up);
}
