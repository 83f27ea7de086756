/* SPDX-License-Identifier: MIT */
/* fuzz_dtls.c - any datagrams into a new connection of DTLS, of either role, and into one that is
 * connected: it ends, holds little, and answers with no more than it should. */
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

/* Its other end, connected. */
static struct dtls *connect(struct dtls *server)
{
    struct dtls_opts o = { .client = true, .peer = print };
    struct dtls *client;

    assert(!dtls_new(&client, id, &o));
    dtls_start(client, 0);
    for (int i = 0; i < 4; i++) {
        (void)drain(client, server);
        (void)drain(server, client);
    }
    assert(dtls_state(client) == DTLS_DONE && dtls_state(server) == DTLS_DONE);
    return client;
}

/* The first byte says which; then datagrams, each with its size in two bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dtls_opts o = { .peer = print };
    struct dtls *d, *other = NULL;
    size_t sent = 0;

    begin();
    if (size < 1)
        return 0;
    o.client = data[0] & 1;
    o.peer = print;
    assert(!dtls_new(&d, id, &o));
    if (o.client)
        dtls_start(d, 0);
    else if (data[0] & 2)
        other = connect(d);
    for (data++, size--; size >= 2;) {
        size_t n = (size_t)data[0] << 8 | data[1];

        n = n < size - 2 ? n : size - 2;
        dtls_input(d, data + 2, n, CO_SECONDS(1));
        data += 2 + n;
        size -= 2 + n;
        assert((sent += drain(d, NULL)) <= SENT_MOST);
    }
    assert(!other || dtls_state(d) == DTLS_DONE); /* nobody else can end it */
    assert(other || dtls_state(d) != DTLS_DONE);
    dtls_close(d);
    (void)drain(d, NULL);
    dtls_free(d);
    dtls_free(other);
    return 0;
}
