/* SPDX-License-Identifier: MIT */
/* fuzz_dtls.c - any datagrams into a new DTLS connection, of either role, and into a
 * connected one: it ends, uses little memory, and its answers are limited. */
#include "fuzz.h"
#include "proto/dtls/dtls.h"

#include <assert.h>
#include <string.h>

enum { SENT_MOST = 64 * 1024 };

static struct dtls_identity *id;
static struct dtls_fingerprint print;

static void begin(void)
{
    struct dtls_identity_opts o = { .rsa = false };
    char text[128] = "sha-256 ";

    if (id)
        return;
    assert(!dtls_identity_new(&id, &o));
    strcat(text, dtls_identity_fingerprint(id));
    assert(dtls_fingerprint_parse(&print, text, strlen(text)));
}

static size_t drain(struct dtls *from, struct dtls *to)
{
    const uint8_t *data;
    size_t size, sent = 0;

    while (dtls_output(from, &data, &size)) {
        assert(size > 0 && size <= DTLS_MTU);
        sent += size;
        if (to)
            dtls_input(to, data, size, 0);
    }
    return sent;
}

/* A connection in this state, and its other end: some states take far longer to reach than the input
 * takes to read. */
enum from { OF_SERVER, OF_CLIENT, OF_DONE, OF_SERVER_HALF, OF_CLIENT_HALF, OF_ALL };

static struct dtls *begin_as(bool client)
{
    struct dtls_opts o = { .client = client, .peer = print };
    struct dtls *d;

    assert(!dtls_new(&d, id, &o));
    dtls_start(d, 0);
    return d;
}

/* The other end, after this many flights. */
static struct dtls *shake(struct dtls *d, bool client, unsigned flights)
{
    struct dtls *other = begin_as(!client);
    struct dtls *ends[] = { client ? d : other, client ? other : d };

    for (unsigned i = 0; i < flights; i++)
        (void)drain(ends[i & 1], ends[!(i & 1)]);
    return other;
}

/* After the handshake unsealed input changes nothing, so one connection serves all inputs. */
static struct dtls *connected(void)
{
    static struct dtls *server;

    if (!server) {
        struct dtls *client;

        server = begin_as(false);
        client = shake(server, false, 4);
        assert(dtls_state(server) == DTLS_DONE && dtls_state(client) == DTLS_DONE);
        dtls_free(client);
    }
    return server;
}

/* Datagrams, each with its size in two bytes. */
static void feed(struct dtls *d, const uint8_t *data, size_t size, co_usec now)
{
    size_t sent = 0;

    while (size >= 2) {
        size_t n = (size_t)data[0] << 8 | data[1];

        n = n < size - 2 ? n : size - 2;
        dtls_input(d, data + 2, n, now);
        data += 2 + n;
        size -= 2 + n;
        assert((sent += drain(d, NULL)) <= SENT_MOST);
    }
}

/* The first byte selects the state. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static co_usec now;
    struct dtls *d, *other = NULL;
    enum from from;

    begin();
    if (size < 1)
        return 0;
    now += CO_SECONDS(1); /* this many records are read in each */
    from = data[0] % OF_ALL;
    if (from == OF_DONE) {
        feed(connected(), data + 1, size - 1, now);
        assert(dtls_state(connected()) == DTLS_DONE); /* no one else can end it */
        return 0;
    }
    d = begin_as(from == OF_CLIENT || from == OF_CLIENT_HALF);
    if (from == OF_SERVER_HALF)
        other = shake(d, false, 1);
    else if (from == OF_CLIENT_HALF)
        other = shake(d, true, 2);
    (void)drain(d, NULL);
    feed(d, data + 1, size - 1, now);
    assert(dtls_state(d) != DTLS_DONE);
    dtls_close(d);
    (void)drain(d, NULL);
    dtls_free(d);
    dtls_free(other);
    return 0;
}
