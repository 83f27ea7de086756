/* SPDX-License-Identifier: MIT */
/* tls_core.c - the state of one TLS connection without its pipe. */
#include "co/net/tls_core.h"

#include "base/mem.h"
#include "base/must.h"
#include "base/thread_own.h"
#include "co/net/tls_takeover.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The method of our BIOs; created once, never changed, so all threads may share it. */
static BIO_METHOD *method;
static pthread_once_t method_once = PTHREAD_ONCE_INIT;

uint8_t *tls_core_room(struct tls_core *c, size_t *size)
{
    if (c->in_at == c->in_end)
        c->in_at = c->in_end = 0;
    if (!c->in && !(c->in = mem_try(TLS_IN)))
        return NULL;
    *size = TLS_IN - c->in_end;
    return c->in + c->in_end;
}

/* Reads more encrypted bytes from below, if any are available. */
static void fetch(struct tls_core *c)
{
    size_t size, n = 0;
    uint8_t *room;

    if (!c->below || c->err)
        return;
    room = tls_core_room(c, &size);
    c->err = room ? io_read_now(c->below, room, size, &n)
                  : err_new(ERR_NO_MEMORY, "%d bytes of TLS", TLS_IN);
    c->in_end += n;
}

static int on_read(BIO *bio, char *buf, size_t size, size_t *n)
{
    struct tls_core *c = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    if (c->in_at == c->in_end)
        fetch(c);
    *n = c->err ? 0 : c->in_end - c->in_at;
    if (*n > size)
        *n = size;
    if (*n > 0) {
        memcpy(buf, c->in + c->in_at, *n);
        c->in_at += *n;
    }
    if (c->in_at == c->in_end) {
        free(c->in);
        c->in = NULL;
        c->in_at = c->in_end = 0;
    }
    if (*n == 0 && !c->err)
        BIO_set_retry_read(bio);
    return *n > 0;
}

static _Thread_local uint8_t *shared_out;

/* Moves the output to the connection's own buffer of `cap` bytes. */
static bool own_out(struct tls_core *c, size_t cap)
{
    uint8_t *out = c->out_shared ? mem_try(cap) : mem_try_more(c->out, cap);

    if (!out)
        return false;
    if (c->out_shared)
        memcpy(out, c->out, c->out_end);
    c->out = out;
    c->out_cap = cap;
    c->out_shared = false;
    return true;
}

uint8_t *tls_core_out_room(struct tls_core *c, size_t need)
{
    size_t cap = c->out_end + need > 2 * c->out_cap ? c->out_end + need : 2 * c->out_cap;

    if (need > c->out_cap - c->out_end && !own_out(c, cap))
        return NULL;
    return c->out + c->out_end;
}

void tls_core_share_out(struct tls_core *c)
{
    if (c->out)
        return; /* it still has unsent output */
    if (!shared_out)
        shared_out = thread_own(TLS_OUT, NULL);
    c->out = shared_out;
    c->out_cap = TLS_OUT;
    c->out_shared = true;
}

void tls_core_sent(struct tls_core *c, size_t n)
{
    c->out_at += n;
    if (c->out_at < c->out_end)
        return;
    if (!c->out_shared)
        free(c->out); /* connections are idle most of the time */
    c->out = NULL;
    c->out_at = c->out_end = c->out_cap = 0;
    c->out_shared = false;
}

bool tls_core_own_out(struct tls_core *c)
{
    size_t left = c->out_end - c->out_at;

    if (!c->out_shared)
        return true;
    if (left > 0)
        c->out += c->out_at;
    c->out_end = left;
    c->out_at = 0;
    if (left > 0 && own_out(c, left))
        return true;
    c->out_end = 0; /* output that cannot be kept is lost, and so is the connection */
    tls_core_sent(c, 0);
    return left == 0;
}

static int on_write(BIO *bio, const char *buf, size_t size, size_t *n)
{
    struct tls_core *c = BIO_get_data(bio);
    uint8_t *room = tls_core_out_room(c, size);

    BIO_clear_retry_flags(bio);
    if (!room) {
        *n = 0;
        return 0;
    }
    memcpy(room, buf, size);
    c->out_end += size;
    *n = size;
    return 1;
}

static long on_ctrl(BIO *bio, int cmd, long num, void *ptr)
{
    (void)bio;
    (void)num;
    (void)ptr;
    return cmd == BIO_CTRL_FLUSH; /* nothing else is supported: 0 */
}

static int on_create(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

static void make_method(void)
{
    method = must(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "pipe"));
    (void)BIO_meth_set_read_ex(method, on_read);
    (void)BIO_meth_set_write_ex(method, on_write);
    (void)BIO_meth_set_ctrl(method, on_ctrl);
    (void)BIO_meth_set_create(method, on_create);
}

struct tls_core *tls_core_new(SSL_CTX *ctx, struct tls_certs *certs, bool server)
{
    struct tls_core *c = must(calloc(1, sizeof(*c)));
    BIO *bio;

    (void)pthread_once(&method_once, make_method);
    c->ssl = must(SSL_new(ctx));
    c->certs = certs ? tls_certs_ref(certs) : NULL;
    bio = must(BIO_new(method));
    BIO_set_data(bio, c);
    SSL_set_bio(c->ssl, bio, bio);
    if (server) {
        SSL_set_accept_state(c->ssl);
        tls_takeover_begin(c);
    } else {
        SSL_set_connect_state(c->ssl);
    }
    return c;
}

/* Counts handshake messages: OpenSSL keeps reading while only such messages arrive. */
static void on_message(int out, int version, int type, const void *data, size_t size, SSL *ssl,
                       void *core)
{
    struct tls_core *c = core;

    (void)version;
    (void)data;
    (void)size;
    (void)ssl;
    if (!out && type == SSL3_RT_HANDSHAKE && ++c->talk > TLS_TALK && !c->err)
        c->err = err_new(ERR_TLS, "over %d handshake messages without data", TLS_TALK);
}

void tls_core_watch(struct tls_core *c)
{
    if (!c->ssl)
        return; /* our own records count them */
    c->talk = 0;
    SSL_set_msg_callback(c->ssl, on_message);
    SSL_set_msg_callback_arg(c->ssl, c);
}

void tls_core_free(void *core)
{
    struct tls_core *c = core;

    SSL_free(c->ssl);
    tls_takeover_forget(c);
    tls_records_free(c->records);
    (void)tls_certs_unref(c->certs);
    err_free(&c->err);
    free(c->in);
    if (!c->out_shared)
        free(c->out);
    free(c);
}

void tls_text(char text[TLS_TEXT], const char *what)
{
    unsigned long code = ERR_peek_error();
    const char *why = NULL;

    if (code) /* system errors have no text there */
        why = ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code))
                                     : ERR_reason_error_string(code);
    (void)snprintf(text, TLS_TEXT, "%.100s%s%.50s", what, why ? ": " : "", why ? why : "");
    ERR_clear_error();
}

void tls_core_why(struct tls_core *c, int rc)
{
    long verify = SSL_get_verify_result(c->ssl);

    (void)rc;
    if (verify != X509_V_OK && SSL_get_verify_mode(c->ssl) != SSL_VERIFY_NONE)
        tls_text(c->text, X509_verify_cert_error_string(verify));
    else
        tls_text(c->text, "TLS");
}

void tls_core_shake(void *core)
{
    struct tls_core *c = core;
    size_t before = c->out_end;
    int rc;

    ERR_clear_error();
    rc = SSL_do_handshake(c->ssl);
    c->text[0] = '\0';
    if (rc == 1) {
        c->step = TLS_DONE;
        tls_takeover_finish(c, before);
    } else if (SSL_get_error(c->ssl, rc) == SSL_ERROR_WANT_READ) {
        c->step = TLS_WANTS_INPUT;
    } else {
        c->step = TLS_FAILED;
        tls_core_why(c, rc);
    }
}

/* ---- the description of a certificate */

static int64_t seconds_of(const ASN1_TIME *t)
{
    struct tm tm;

    return ASN1_TIME_to_tm(t, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

/* Replaces control characters, which would end a log line; BMPString and similar types contain
 * them. */
static void clean(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    }
}

static void put_name(const X509_NAME *name, char *out, size_t size)
{
    BIO *b = BIO_new(BIO_s_mem());
    int n = 0;

    if (b && X509_NAME_print_ex(b, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) >= 0)
        n = BIO_read(b, out, (int)size - 1);
    out[n > 0 ? n : 0] = '\0';
    BIO_free(b);
    clean(out);
}

static void add(char *out, size_t size, const char *name, size_t n)
{
    size_t used = strlen(out);

    if (n == 0 || used + n + 2 > size)
        return;
    (void)snprintf(out + used, size - used, "%s%.*s", used > 0 ? " " : "", (int)n, name);
}

static void add_address(char *out, size_t size, const ASN1_OCTET_STRING *ip)
{
    char text[INET6_ADDRSTRLEN];
    int n = ASN1_STRING_length(ip), family = n == 4 ? AF_INET : AF_INET6;

    if ((n == 4 || n == 16) &&
        inet_ntop(family, ASN1_STRING_get0_data(ip), text, sizeof(text)))
        add(out, size, text, strlen(text));
}

/* RFC 6125: the common name is used only if there are no other names. */
static void put_names(const X509 *x, char *out, size_t size)
{
    GENERAL_NAMES *all = X509_get_ext_d2i(x, NID_subject_alt_name, NULL, NULL);
    char common[160];

    for (int i = 0; i < sk_GENERAL_NAME_num(all); i++) {
        const GENERAL_NAME *one = sk_GENERAL_NAME_value(all, i);

        if (one->type == GEN_DNS)
            add(out, size, (const char *)ASN1_STRING_get0_data(one->d.dNSName),
                (size_t)ASN1_STRING_length(one->d.dNSName));
        else if (one->type == GEN_IPADD)
            add_address(out, size, one->d.iPAddress);
    }
    GENERAL_NAMES_free(all);
    if (!*out && X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, common,
                                           sizeof(common)) > 0)
        add(out, size, common, strlen(common));
    clean(out);
}

void tls_about(const X509 *x, struct io_tls_about *out)
{
    ERR_clear_error();
    put_name(X509_get_subject_name(x), out->subject, sizeof(out->subject));
    put_name(X509_get_issuer_name(x), out->issuer, sizeof(out->issuer));
    put_names(x, out->names, sizeof(out->names));
    out->not_before = seconds_of(X509_get0_notBefore(x));
    out->not_after = seconds_of(X509_get0_notAfter(x));
    ERR_clear_error();
}
