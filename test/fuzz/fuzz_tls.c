/* SPDX-License-Identifier: MIT */
/* fuzz_tls.c - shapes of TLS records, from a client that can shake hands and does not behave.
 *
 * The first byte chooses the version and how the client cuts its records; or that all the rest is
 * sent as it is. The second says in pieces of how many bytes the server gets the first of it. Then,
 * for each record of the client, what becomes of it: see mangle(). A server echoes what it reads.
 */
#include "fuzz.h"

#include "base/rd.h"
#include "base/wr.h"
#include "co/io_tls.h"

#include <assert.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RAW = 1, OLD = 2, SMALL = 4, HEAD = 5, STEPS_MOST = 32, PIECES = 3000, OUT_MOST = 4 << 20 };

static SSL_CTX *client_context;
static struct io_tls_server *server;

struct wire {
    struct io io;       /* first; the server's side */
    struct rd script;
    SSL *client;        /* NULL: the script is what is said */
    unsigned steps;     /* that the client made */
    struct wr out;      /* what it said, mangled */
    size_t at, piece;   /* read of it, and at once */
};

/* ---- what becomes of a record */

static void split(struct wr *out, const uint8_t *record, size_t size, size_t piece)
{
    for (size_t at = HEAD; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;

        wr_bytes(out, record, 3);
        wr_u16(out, (uint16_t)n);
        wr_bytes(out, record + at, n);
    }
}

static void insert(struct wr *out, struct rd *script)
{
    size_t n = rd_u8(script);
    const uint8_t *p;

    if (n > rd_left(script))
        n = rd_left(script);
    p = rd_take(script, n);
    if (p)
        wr_bytes(out, p, n);
}

static void mangle(struct wr *out, struct rd *script, uint8_t *record, size_t size)
{
    size_t where;

    switch (rd_left(script) > 0 ? rd_u8(script) % 9 : 0) {
    case 1: /* lost */
        return;
    case 2: /* twice */
        wr_bytes(out, record, size);
        break;
    case 3: /* another byte somewhere */
        where = rd_u8(script) % size;
        record[where] ^= rd_u8(script);
        break;
    case 4: /* in its head */
        where = rd_u8(script) % HEAD;
        record[where] = rd_u8(script);
        break;
    case 5: /* as many small ones */
        split(out, record, size, (size_t)rd_u8(script) + 1);
        return;
    case 6: /* something before it */
        insert(out, script);
        break;
    case 7: /* cut */
        size = rd_u8(script) % size;
        break;
    case 8: /* an empty one before it */
        wr_bytes(out, record, 3);
        wr_u16(out, 0);
        break;
    default:
        break;
    }
    wr_bytes(out, record, size);
}

/* ---- the client */

/* One step of what a client does: shake hands, then say something, and at last good bye. */
static void client_step(struct wire *w)
{
    static const uint8_t data[3000];
    uint8_t buf[4096];
    int rc;

    if (!SSL_is_init_finished(w->client)) {
        rc = SSL_do_handshake(w->client);
    } else {
        switch (rd_left(&w->script) > 0 ? rd_u8(&w->script) % 4 : 3) {
        case 0:
            rc = SSL_write(w->client, data, sizeof(data));
            break;
        case 1:
            rc = SSL_write(w->client, data, 1);
            break;
        case 2:
            rc = SSL_key_update(w->client, SSL_KEY_UPDATE_REQUESTED);
            rc = SSL_write(w->client, data, 1);
            break;
        default:
            rc = SSL_shutdown(w->client);
        }
        while (SSL_read(w->client, buf, sizeof(buf)) > 0)
            continue;
    }
    (void)rc;
}

/* What the client says next, record by record. */
static void speak(struct wire *w)
{
    uint8_t *said, *copy;
    long size;

    while (w->client && w->at == w->out.len && w->steps++ < STEPS_MOST) {
        client_step(w);
        size = BIO_get_mem_data(SSL_get_wbio(w->client), &said);
        copy = malloc((size_t)size + 1);
        assert(copy);
        memcpy(copy, said, (size_t)size);
        (void)BIO_reset(SSL_get_wbio(w->client));
        for (size_t at = 0; at + HEAD <= (size_t)size;) {
            size_t n = HEAD + (size_t)(copy[at + 3] << 8 | copy[at + 4]);

            mangle(&w->out, &w->script, copy + at, n);
            at += n;
        }
        free(copy);
    }
}

/* ---- the pipe */

static struct wire *wire_of(struct io *io)
{
    return (struct wire *)io;
}

static err_t wire_read(struct io *io, void *buf, size_t size, size_t *n)
{
    struct wire *w = wire_of(io);

    *n = 0;
    speak(w);
    if (w->at == w->out.len)
        return err_new(ERR_IO_CLOSED, "end of the script");
    *n = w->out.len - w->at;
    if (*n > size)
        *n = size;
    if (w->piece && w->at < PIECES && *n > w->piece)
        *n = w->piece;
    memcpy(buf, w->out.buf + w->at, *n);
    w->at += *n;
    return NULL;
}

static void hear(struct wire *w, const struct iovec *iov, int count)
{
    for (int i = 0; i < count && w->client; i++)
        (void)BIO_write(SSL_get_rbio(w->client), iov[i].iov_base, (int)iov[i].iov_len);
}

static err_t wire_writev(struct io *io, struct iovec *iov, int count)
{
    hear(wire_of(io), iov, count);
    return NULL;
}

static err_t wire_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    *n = 0;
    for (int i = 0; i < count; i++)
        *n += iov[i].iov_len;
    hear(wire_of(io), iov, count);
    return NULL;
}

static bool wire_readable(struct io *io)
{
    (void)io;
    return true;
}

static enum co_wake wire_wait(struct io *io, bool out, co_usec timeout)
{
    (void)io;
    (void)out;
    (void)timeout;
    return CO_WOKEN;
}

static void wire_close(struct io *io)
{
    (void)io;
}

static const struct io_ops wire_ops = { "wire",         wire_read,     wire_read, wire_writev,
                                        wire_send_some, wire_readable, wire_wait, wire_close,
                                        NULL };

/* ---- the server */

static err_t serve(void *arg)
{
    struct wire *w = arg;
    struct io *io = &w->io;
    uint8_t *buf = malloc(4096);
    err_t err = io_tls_accept(&io, server, CO_SECONDS(10));
    size_t n;

    assert(buf);
    while (!err) {
        err = io_read(io, buf, 4096, &n);
        if (!err)
            err = io_write(io, buf, n);
    }
    free(buf);
    if (io != &w->io)
        io_close(io);
    return err;
}

/* A certificate that signs itself, in these files. */
static void make_certificate(const char *cert_file, const char *key_file)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    FILE *f = fopen(cert_file, "wb"), *k = fopen(key_file, "wb");

    assert(key && cert && f && k);
    (void)X509_gmtime_adj(X509_getm_notBefore(cert), -1000);
    (void)X509_gmtime_adj(X509_getm_notAfter(cert), 100000);
    (void)X509_set_pubkey(cert, key);
    assert(X509_sign(cert, key, EVP_sha256()) > 0 && PEM_write_X509(f, cert) == 1);
    assert(PEM_write_PrivateKey(k, key, NULL, NULL, 0, NULL, NULL) == 1);
    assert(fclose(f) == 0 && fclose(k) == 0);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static void begin(void)
{
    char dir[] = "/tmp/fuzz_tls.XXXXXX", cert[64], key[64];
    const struct io_tls_cert of = { "", cert, key };
    const struct io_tls_rules rules = { .v12 = true, .v13 = true, .ciphers = "ECDHE+AESGCM",
                                        .tickets = true };
    err_t err = co_init();

    assert(!err && mkdtemp(dir));
    (void)snprintf(cert, sizeof(cert), "%s/c", dir);
    (void)snprintf(key, sizeof(key), "%s/k", dir);
    make_certificate(cert, key);
    err = io_tls_server_new(&server, &of, 1, &rules);
    assert(!err);
    assert(unlink(cert) == 0 && unlink(key) == 0 && rmdir(dir) == 0);
    client_context = SSL_CTX_new(TLS_client_method());
    assert(client_context);
}

static SSL *new_client(unsigned how)
{
    SSL *ssl = SSL_new(client_context);

    assert(ssl);
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl);
    (void)SSL_set_tlsext_host_name(ssl, "a.b");
    if (how & OLD)
        (void)SSL_set_max_proto_version(ssl, TLS1_2_VERSION);
    if (how & SMALL)
        (void)SSL_set_max_send_fragment(ssl, 512);
    return ssl;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire w = { .io = { .ops = &wire_ops } };
    err_t err;

    if (!server)
        begin();
    if (size < 2)
        return 0;
    w.piece = data[1];
    w.script = rd_init(data + 2, size - 2);
    wr_init(&w.out, OUT_MOST);
    if (data[0] & RAW)
        wr_bytes(&w.out, data + 2, size - 2);
    else
        w.client = new_client(data[0]);
    err = fuzz_run(serve, &w);
    assert(err);
    err_free(&err);
    SSL_free(w.client);
    wr_free(&w.out);
    assert(err_live() == 0);
    return 0;
}
