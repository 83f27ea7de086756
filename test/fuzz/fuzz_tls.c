/* SPDX-License-Identifier: MIT */
/* fuzz_tls.c - TLS records from a peer that completes the handshake and then misbehaves: a client
 * of our server, or the server that our client forwards to.
 *
 * The first byte selects which, its version and how it splits its records; or that the whole rest is
 * sent unchanged. The second is the size of the pieces in which the first of it arrives. Then, for each
 * record of the peer, the change applied to it: see mangle(). We echo what we read; a client sends first.
 */
#include "base/rd.h"
#include "base/wr.h"
#include "co/net/io_tls.h"
#include "fuzz.h"

#include <assert.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RAW = 1, OLD = 2, SMALL = 4, SERVER = 8, TRUST = 16 };
enum { HEAD = 5, STEPS_MOST = 32, PIECES = 3000, OUT_MOST = 4 << 20 };

static SSL_CTX *client_context, *server_context;
static struct io_tls_server *server;
static char folder[] = "/tmp/fuzz_tls.XXXXXX", cert_file[64], key_file[64];

struct wire {
    struct io io;       /* first; our side */
    unsigned how;       /* RAW and so on */
    struct rd script;
    SSL *peer;          /* NULL: the script is sent */
    unsigned steps;     /* that the peer made */
    struct wr out;      /* its output, mangled */
    size_t at, piece;   /* bytes of it that were read, and per read */
};

/* ---- changes of a record */

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
    case 4: /* in its header */
        where = rd_u8(script) % HEAD;
        record[where] = rd_u8(script);
        break;
    case 5: /* as many small ones */
        split(out, record, size, (size_t)rd_u8(script) + 1);
        return;
    case 6: /* something before it */
        insert(out, script);
        break;
    case 7: /* truncated */
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

/* ---- the peer */

/* One step of the peer: handshake, then data, and finally close_notify. */
static void peer_step(struct wire *w)
{
    static const uint8_t data[3000];
    uint8_t buf[4096];
    int rc;

    if (!SSL_is_init_finished(w->peer)) {
        rc = SSL_do_handshake(w->peer);
    } else {
        switch (rd_left(&w->script) > 0 ? rd_u8(&w->script) % 4 : 3) {
        case 0:
            rc = SSL_write(w->peer, data, sizeof(data));
            break;
        case 1:
            rc = SSL_write(w->peer, data, 1);
            break;
        case 2:
            rc = SSL_key_update(w->peer, SSL_KEY_UPDATE_REQUESTED);
            rc = SSL_write(w->peer, data, 1);
            break;
        default:
            rc = SSL_shutdown(w->peer);
        }
        while (SSL_read(w->peer, buf, sizeof(buf)) > 0)
            continue;
    }
    (void)rc;
}

/* Its next output, record by record. */
static void speak(struct wire *w)
{
    uint8_t *said, *copy;
    long size;

    while (w->peer && w->at == w->out.len && w->steps++ < STEPS_MOST) {
        peer_step(w);
        size = BIO_get_mem_data(SSL_get_wbio(w->peer), &said);
        copy = malloc((size_t)size + 1);
        assert(copy);
        memcpy(copy, said, (size_t)size);
        (void)BIO_reset(SSL_get_wbio(w->peer));
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
    for (int i = 0; i < count && w->peer; i++)
        (void)BIO_write(SSL_get_rbio(w->peer), iov[i].iov_base, (int)iov[i].iov_len);
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

static const struct io_ops wire_ops = {
    .name = "wire",
    .read = wire_read,
    .read_now = wire_read,
    .writev = wire_writev,
    .send_some = wire_send_some,
    .readable = wire_readable,
    .wait = wire_wait,
    .close = wire_close,
};

/* ---- we */

static err_t connect_to_it(struct io **io, bool any)
{
    static const uint8_t first[3000];
    const struct io_tls_trust trust = { .any = any, .ca = cert_file };
    err_t err = io_tls_connect(io, "a.b", &trust, CO_SECONDS(10));

    return err ? err : io_write(*io, first, sizeof(first));
}

static err_t talk(void *arg)
{
    struct wire *w = arg;
    struct io *io = &w->io;
    uint8_t *buf = malloc(4096);
    err_t err = w->how & SERVER ? connect_to_it(&io, !(w->how & TRUST))
                                : io_tls_accept(&io, server, CO_SECONDS(10));
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

static void name_it(X509 *cert)
{
    X509_EXTENSION *alt = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "DNS:a.b");

    assert(alt && X509_add_ext(cert, alt, -1) == 1);
    X509_EXTENSION_free(alt);
}

/* A self-signed certificate, in files. */
static void make_certificate(void)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    FILE *f = fopen(cert_file, "wb"), *k = fopen(key_file, "wb");

    assert(key && cert && f && k);
    (void)X509_gmtime_adj(X509_getm_notBefore(cert), -1000);
    (void)X509_gmtime_adj(X509_getm_notAfter(cert), 100000);
    (void)X509_set_pubkey(cert, key);
    name_it(cert);
    assert(X509_sign(cert, key, EVP_sha256()) > 0 && PEM_write_X509(f, cert) == 1);
    assert(PEM_write_PrivateKey(k, key, NULL, NULL, 0, NULL, NULL) == 1);
    assert(fclose(f) == 0 && fclose(k) == 0);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static void clean(void)
{
    assert(unlink(cert_file) == 0 && unlink(key_file) == 0 && rmdir(folder) == 0);
}

/* OpenSSL's memory is not tested here, and would take most of the sanitizer's time. */
extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void __libc_free(void *p);

static void *take(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return __libc_malloc(size);
}

static void *take_again(void *p, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return __libc_realloc(p, size);
}

static void give(void *p, const char *file, int line)
{
    (void)file;
    (void)line;
    __libc_free(p);
}

static void begin(void)
{
    const struct io_tls_cert of = { "", cert_file, key_file };
    const struct io_tls_rules rules = { .v12 = true, .v13 = true, .ciphers = "ECDHE+AESGCM",
                                        .tickets = true };
    err_t err = co_init();

    assert(CRYPTO_set_mem_functions(take, take_again, give) == 1);
    fuzz_no_threads();
    fuzz_time_flies();
    assert(!err && mkdtemp(folder));
    (void)snprintf(cert_file, sizeof(cert_file), "%s/c", folder);
    (void)snprintf(key_file, sizeof(key_file), "%s/k", folder);
    make_certificate();
    (void)atexit(clean);
    err = io_tls_server_new(&server, &of, 1, &rules);
    assert(!err);
    client_context = SSL_CTX_new(TLS_client_method());
    server_context = SSL_CTX_new(TLS_server_method());
    assert(client_context && server_context);
    assert(SSL_CTX_use_certificate_file(server_context, cert_file, SSL_FILETYPE_PEM) == 1);
    assert(SSL_CTX_use_PrivateKey_file(server_context, key_file, SSL_FILETYPE_PEM) == 1);
}

static SSL *new_peer(unsigned how)
{
    SSL *ssl = SSL_new(how & SERVER ? server_context : client_context);

    assert(ssl);
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    if (how & SERVER)
        SSL_set_accept_state(ssl);
    else
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
    w.how = data[0];
    w.piece = data[1];
    w.script = rd_init(data + 2, size - 2);
    wr_init(&w.out, OUT_MOST);
    if (data[0] & RAW)
        wr_bytes(&w.out, data + 2, size - 2);
    else
        w.peer = new_peer(w.how);
    err = fuzz_run(talk, &w);
    assert(err);
    err_free(&err);
    SSL_free(w.peer);
    wr_free(&w.out);
    assert(err_live() == 0);
    return 0;
}
