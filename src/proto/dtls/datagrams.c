/* SPDX-License-Identifier: MIT */
/* datagrams.c - the BIO below OpenSSL: reads and writes one datagram at a time. (BIO_s_mem would
 * join consecutive writes.)
 */
#include "proto/dtls/own.h"

#include "base/mem.h"
#include "base/must.h"

#include <openssl/bio.h>
#include <string.h>

enum { HEAD = 2, LARGEST = 0xffff };

static int on_read(BIO *bio, char *to, int room)
{
    struct dtls_datagrams *g = BIO_get_data(bio);
    size_t n = g->in_size < (size_t)room ? g->in_size : (size_t)room;

    BIO_clear_retry_flags(bio);
    if (n == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(to, g->in, n); /* truncates like recv() */
    g->in_size = 0;
    return (int)n;
}

static bool more_room(struct dtls_datagrams *g, size_t need)
{
    size_t cap = g->out_end + need > 2 * g->out_cap ? g->out_end + need : 2 * g->out_cap;
    uint8_t *out;

    if (need <= g->out_cap - g->out_end)
        return true;
    out = g->out_end + need <= DTLS_OUT_MAX ? mem_try_more(g->out, cap) : NULL;
    if (!out)
        return false;
    g->out = out;
    g->out_cap = cap;
    return true;
}

/* Drops the datagram if there is no room; it will be retransmitted. */
void dtls_datagrams_put(struct dtls_datagrams *g, const uint8_t *data, size_t size)
{
    uint8_t *to;

    if (size == 0 || size > LARGEST || !more_room(g, HEAD + size))
        return;
    to = g->out + g->out_end;
    to[0] = (uint8_t)(size >> 8);
    to[1] = (uint8_t)size;
    memcpy(to + HEAD, data, size);
    g->out_end += HEAD + size;
}

static int on_write(BIO *bio, const char *data, int size)
{
    BIO_clear_retry_flags(bio);
    if (size > 0)
        dtls_datagrams_put(BIO_get_data(bio), (const uint8_t *)data, (size_t)size);
    return size;
}

static long on_control(BIO *bio, int command, long number, void *at)
{
    (void)bio, (void)number, (void)at;
    return command == BIO_CTRL_FLUSH;
}

BIO_METHOD *dtls_datagrams_method(void)
{
    BIO_METHOD *m = must(BIO_meth_new(BIO_TYPE_SOURCE_SINK, "datagrams"));

    must_be(BIO_meth_set_read(m, on_read) == 1 && BIO_meth_set_write(m, on_write) == 1 &&
            BIO_meth_set_ctrl(m, on_control) == 1);
    return m;
}

bool dtls_datagrams_next(struct dtls_datagrams *g, const uint8_t **data, size_t *size)
{
    if (g->out_at == g->out_end) {
        dtls_datagrams_fini(g);
        return false;
    }
    *size = (size_t)g->out[g->out_at] << 8 | g->out[g->out_at + 1];
    *data = g->out + g->out_at + HEAD;
    g->out_at += HEAD + *size;
    return true;
}

void dtls_datagrams_fini(struct dtls_datagrams *g)
{
    free(g->out); /* connections are idle most of the time */
    *g = (struct dtls_datagrams){ 0 };
}
