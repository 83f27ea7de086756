/* SPDX-License-Identifier: MIT */
/* dtls_wire.c - two DTLS ends, and an in-memory network that loses, duplicates and reorders; its clock. */
#include "dtls_wire.h"

#include <openssl/x509v3.h>
#include <string.h>

co_usec dtls_time = CO_SECONDS(1000000);
struct dtls_identity *ours, *theirs;

int dtls_wire_timeofday(struct timeval *tv)
{
    tv->tv_sec = dtls_time / 1000000;
    tv->tv_usec = dtls_time % 1000000;
    return 0;
}

int dtls_wire_identities(void **state)
{
    struct dtls_identity_opts o = { .rsa = false };

    (void)state;
    assert_ok(dtls_identity_new(&ours, &o));
    assert_ok(dtls_identity_new(&theirs, &o));
    return 0;
}

int dtls_wire_no_identities(void **state)
{
    (void)state;
    dtls_identity_unref(ours);
    dtls_identity_unref(theirs);
    dtls_identity_unref(NULL);
    return 0;
}

struct dtls_fingerprint dtls_wire_print_of(struct dtls_identity *id, enum dtls_digest kind)
{
    struct dtls_fingerprint f = { .kind = kind };
    unsigned size;

    assert_int_equal(X509_digest(SSL_CTX_get0_certificate(dtls_identity_context(id)),
                                 kind == DTLS_SHA256   ? EVP_sha256()
                                 : kind == DTLS_SHA384 ? EVP_sha384()
                                                       : EVP_sha512(),
                                 f.v, &size), 1);
    return f;
}

void dtls_wire_init(struct dtls_wire *w, struct dtls_identity *client, struct dtls_identity *server,
                      uint32_t seed)
{
    struct dtls_opts o = { .client = true, .peer = dtls_wire_print_of(server, DTLS_SHA256) };

    *w = (struct dtls_wire){ .seed = seed, .began = dtls_time };
    w->flying = malloc(FLYING * sizeof(*w->flying));
    assert_ok(dtls_new(&w->ends[0].d, client, &o));
    o = (struct dtls_opts){ .peer = dtls_wire_print_of(client, DTLS_SHA256) };
    assert_ok(dtls_new(&w->ends[1].d, server, &o));
}

void dtls_wire_fini(struct dtls_wire *w)
{
    dtls_free(w->ends[0].d);
    dtls_free(w->ends[1].d);
    free(w->flying);
}

uint32_t dtls_wire_chance(struct dtls_wire *w, uint32_t of)
{
    w->seed = w->seed * 1664525 + 1013904223;
    return (w->seed >> 8) % of;
}

static bool is_lost(struct dtls_wire *w, const uint8_t *data)
{
    if (data[0] == 22 && data[13] == CLIENT_HELLO && w->lose_hellos > 0)
        return w->lose_hellos-- > 0;
    if (data[0] == 22 && data[13] == CERTIFICATE && w->lose_certificates > 0)
        return w->lose_certificates-- > 0;
    return w->loss > 0 && dtls_wire_chance(w, 100) < w->loss;
}

void dtls_wire_fly(struct dtls_wire *w, unsigned to, const uint8_t *data, size_t size)
{
    assert_true(w->n < FLYING && size <= sizeof(w->flying[0].data));
    w->flying[w->n].at = dtls_time + 1000 + (w->reorder ? dtls_wire_chance(w, (uint32_t)w->reorder) : 0);
    w->flying[w->n].to = to;
    w->flying[w->n].size = size;
    memcpy(w->flying[w->n++].data, data, size);
}

void dtls_wire_take_output(struct dtls_wire *w)
{
    for (unsigned from = 0; from < 2; from++) {
        struct dtls_end *e = &w->ends[from];
        const uint8_t *data;
        size_t size;

        while (dtls_output(e->d, &data, &size)) {
            e->sent++;
            e->largest = size > e->largest ? size : e->largest;
            assert_true(size <= DTLS_MTU);
            if (is_lost(w, data))
                continue;
            dtls_wire_fly(w, !from, data, size);
            if (w->twice > 0 && dtls_wire_chance(w, 100) < w->twice)
                dtls_wire_fly(w, !from, data, size);
        }
    }
}

static void arrive(struct dtls_wire *w, unsigned i)
{
    struct dtls_end *e = &w->ends[w->flying[i].to];
    uint8_t *data = malloc(w->flying[i].size);
    size_t size = w->flying[i].size;

    memcpy(data, w->flying[i].data, size);
    w->flying[i] = w->flying[--w->n];
    e->came++;
    dtls_input(e->d, data, size, dtls_time);
    free(data);
}

/* Runs the next event; false: there is none. */
bool dtls_wire_step(struct dtls_wire *w)
{
    co_usec next = INT64_MAX;
    unsigned which = FLYING;

    dtls_wire_take_output(w);
    for (unsigned i = 0; i < w->n; i++) {
        if (w->flying[i].at < next) {
            next = w->flying[i].at;
            which = i;
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        co_usec at = dtls_deadline(w->ends[i].d);

        if (at != CO_FOREVER && at < next) {
            next = at;
            which = FLYING + i;
        }
    }
    if (next == INT64_MAX)
        return false;
    dtls_time = next > dtls_time ? next : dtls_time;
    if (which < FLYING)
        arrive(w, which);
    else
        dtls_tick(w->ends[which - FLYING].d, dtls_time);
    return true;
}

enum dtls_state dtls_wire_state_of(const struct dtls_wire *w, unsigned i)
{
    return dtls_state(w->ends[i].d);
}

/* Until both are connected, and everything in flight has arrived. Returns how long it took. */
co_usec dtls_wire_shake(struct dtls_wire *w)
{
    co_usec took = 0;

    dtls_start(w->ends[0].d, dtls_time);
    while (dtls_time - w->began < CO_SECONDS(60) && dtls_wire_step(w)) {
        if (took == 0 && dtls_wire_state_of(w, 0) == DTLS_DONE && dtls_wire_state_of(w, 1) == DTLS_DONE)
            took = dtls_time - w->began;
    }
    return took;
}

void dtls_wire_assert_keys(const struct dtls_wire *w, enum srtp_profile profile)
{
    struct srtp_keys k[2][2];

    for (int i = 0; i < 2; i++)
        assert_true(dtls_keys(w->ends[i].d, &k[i][0], &k[i][1]));
    assert_memory_equal(&k[0][0], &k[1][1], sizeof(k[0][0]));
    assert_memory_equal(&k[0][1], &k[1][0], sizeof(k[0][0]));
    assert_memory_not_equal(&k[0][0], &k[0][1], sizeof(k[0][0]));
    assert_int_equal(k[0][0].profile, profile);
}
