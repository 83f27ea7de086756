/* SPDX-License-Identifier: MIT */
/* fuzz_record.c - TLS 1.3 records after the handshake, from a client that knows its keys.
 *
 * The first byte selects the suite, and the size of the pieces in which the input arrives. Then the
 * client's records, one after the other: a byte selects the change (see record()), the next is
 * its type, and the one after that the number of bytes of its content. Valid records are
 * read, regardless of later ones; a rejection is final.
 */
#include "base/rd.h"
#include "base/wr.h"
#include "co/net/tls_record.h"
#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_MOST = 1 << 20, MOST = TLS_CONTENT + 300 };

static const uint8_t client_secret[TLS_SECRET] = "a client's", server_secret[TLS_SECRET] = "ours";

static void seal(struct wr *out, struct tls_key *k, uint8_t type, const uint8_t *p, size_t size)
{
    const struct iovec iov = { (void *)(uintptr_t)p, size };
    struct tls_from from = { &iov, 1, 0 };
    uint8_t *made = malloc(size + TLS_MORE);

    assert(made && tls_key_seal(k, type, &from, size, made));
    wr_bytes(out, made, size + TLS_MORE);
    free(made);
}

/* One of them; the client's keys change after it if it requests that. */
static void record(struct wr *out, struct tls_key *k, struct rd *script)
{
    uint8_t how = rd_u8(script), type = rd_u8(script);
    size_t size = rd_u8(script), times = 1, at = out->len;
    const uint8_t *p;
    uint8_t *much;

    if (size > rd_left(script))
        size = rd_left(script);
    p = rd_take(script, size);
    if (how & 1 && size > 0) /* long ones, up to more than is allowed */
        times = (size_t)(how >> 4) * MOST / 15 / size;
    much = calloc(MOST, 1);
    assert(much);
    for (size_t i = 0; i < times && p; i++)
        memcpy(much + i * size, p, size);
    seal(out, k, type, much, size * times);
    free(much);
    if (how & 2)
        out->buf[at + (size_t)(how >> 4) % (out->len - at)] ^= 1;
    if (type == 22 && !(how & 4))
        assert(tls_key_next(k));
}

/* Reads record by record; returns the number of bytes consumed. */
static size_t read_on(struct tls_records *r, uint8_t *in, size_t size, enum tls_kind *last)
{
    uint8_t out[TLS_UPDATE];
    struct tls_got got;
    size_t at = 0;

    do {
        got = tls_records_read(r, in + at, size - at);
        assert(got.taken <= size - at && (got.kind == TLS_PARTIAL) == !(got.taken || r->ended));
        if (got.kind == TLS_DATA)
            assert(got.size > 0 && got.data >= in + at + TLS_HEAD &&
                   got.data + got.size <= in + at + got.taken - TLS_TAG);
        if (got.kind == TLS_ASKS)
            assert(tls_records_update(r, out) == TLS_UPDATE);
        at += got.taken;
        *last = got.kind;
    } while (got.taken > 0 && !r->ended);
    return at;
}

static void feed(struct tls_records *r, const uint8_t *p, size_t size, size_t piece)
{
    enum tls_kind last = TLS_PARTIAL;
    uint8_t *in = malloc(TLS_RECORD + 256);
    size_t have = 0;

    assert(in);
    while (size > 0 && !r->ended) {
        size_t n = size < piece ? size : piece, taken;

        if (n > TLS_RECORD + 256 - have)
            n = TLS_RECORD + 256 - have;
        assert(n > 0); /* the longest valid record has room */
        memcpy(in + have, p, n);
        have += n;
        p += n;
        size -= n;
        taken = read_on(r, in, have, &last);
        have -= taken;
        memmove(in, in + taken, have);
    }
    if (r->ended)
        assert(tls_records_read(r, in, have).kind == TLS_ENDED);
    free(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tls_records *r = calloc(1, sizeof(*r));
    struct rd script = rd_init(data + 1, size > 0 ? size - 1 : 0);
    struct tls_key client;
    enum tls_suite suite;
    struct wr out;

    assert(r);
    wr_init(&out, OUT_MOST);
    suite = size > 0 ? data[0] % TLS_SUITES : 0;
    assert(tls_key_init(&r->in, suite, client_secret) && tls_key_init(&client, suite, client_secret));
    assert(tls_key_init(&r->out, suite, server_secret));
    while (rd_left(&script) >= 3 && out.len < OUT_MOST / 4)
        record(&out, &client, &script);
    if (rd_left(&script) > 0) /* and input that is not a record at all */
        wr_bytes(&out, rd_take(&script, rd_left(&script)), 1);
    feed(r, out.buf, out.len, size > 0 ? (size_t)(data[0] >> 2) * 5 + 1 : 1);
    wr_free(&out);
    tls_key_wipe(&client);
    tls_records_free(r);
    return 0;
}
