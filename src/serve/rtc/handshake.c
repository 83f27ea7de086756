/* SPDX-License-Identifier: MIT */
/* handshake.c - runs DTLS handshakes on helper threads. They parse certificates, create and verify
 * signatures and agree on keys: the peer decides how long that takes, which would block all others.
 *
 * The job owns the DTLS connection while it runs. Packets that arrive meanwhile wait for the next
 * job; over a limit they are dropped, and the peer retransmits them.
 */
#include "base/must.h"
#include "co/thread.h"
#include "serve/rtc/impl.h"

#include <stdlib.h>
#include <string.h>

enum { DATAGRAMS = 8 };
#define TIMEOUT CO_SECONDS(10)

struct job {
    struct dtls *dtls;
    co_usec now;
    unsigned n;
    size_t sizes[DATAGRAMS];
    uint8_t data[DATAGRAMS][DTLS_DATAGRAM_MAX];
};

struct rtc_handshake {
    struct rtc_peer *peer; /* NULL: closed */
    struct job *next;      /* packets received since; or NULL */
};

/* Runs on a helper thread. */
static void run(void *job)
{
    struct job *j = job;

    for (unsigned i = 0; i < j->n; i++)
        dtls_input(j->dtls, j->data[i], j->sizes[i], j->now);
}

static void drop(void *job)
{
    struct job *j = job;

    dtls_free(j->dtls);
    free(j);
}

/* The end of the handshake answers packets sent over the chosen path, which proves that the peer
 * receives there. */
static void on_handshake_done(struct rtc_peer *p, co_usec began)
{
    bool was_handshaking = p->base.state == DATAGRAM_HANDSHAKING;
    struct co_cid own;

    own = co_swap_cid(p->base.cid);
    rtc_peer_on_handshake(p, co_clock());
    co_set_cid(own.text);
    if (was_handshaking && p->base.state == DATAGRAM_ACTIVE && p->ice.chosen &&
        p->ice.moved < began)
        ice_reached(&p->ice, ice_path(&p->ice));
}

/* On error the job has freed the connection. */
static err_t run_next(struct rtc_handshake *sh)
{
    struct job *j = sh->next;
    co_usec began;
    err_t err;

    sh->next = NULL;
    j->dtls = sh->peer->dtls;
    j->now = co_clock();
    sh->peer->dtls = NULL;
    err = co_thread_run(CO_POOL_KEY, run, j, drop, TIMEOUT);
    if (err)
        return err;
    if (!sh->peer) {
        drop(j);
        return NULL;
    }
    sh->peer->dtls = j->dtls;
    began = j->now;
    free(j);
    if (sh->peer->base.state == DATAGRAM_HANDSHAKING || sh->peer->base.state == DATAGRAM_ACTIVE)
        on_handshake_done(sh->peer, began);
    return NULL;
}

/* co_fn */
static err_t handshake_main(void *handshake)
{
    struct rtc_handshake *sh = handshake;
    err_t err = NULL;

    co_log_as(LOG_UNTRUSTED);
    while (!err && sh->peer && sh->peer->dtls && sh->next)
        err = run_next(sh);
    if (sh->peer) {
        sh->peer->handshake = NULL;
        if (err)
            datagram_client_close(&sh->peer->base, err_wrap(err, "the handshake"));
        err = NULL;
    }
    err_free(&err);
    free(sh->next);
    free(sh);
    return NULL;
}

static bool begin(struct rtc_peer *p)
{
    err_t err;

    p->handshake = must(calloc(1, sizeof(*p->handshake)));
    p->handshake->peer = p;
    err = co_go(p->base.session.env->connections, "rtc-shake", handshake_main, p->handshake);
    if (!err)
        return true;
    free(p->handshake);
    p->handshake = NULL;
    datagram_client_close(&p->base, err);
    return false;
}

void rtc_handshake_put(struct rtc_peer *p, const uint8_t *data, size_t size)
{
    struct job *j;

    if (size > DTLS_DATAGRAM_MAX || (!p->handshake && !begin(p)))
        return;
    if (!p->handshake->next)
        p->handshake->next = must(calloc(1, sizeof(*j)));
    j = p->handshake->next;
    if (j->n == DATAGRAMS)
        return;
    memcpy(j->data[j->n], data, size);
    j->sizes[j->n++] = size;
}

void rtc_handshake_forget(struct rtc_peer *p)
{
    if (p->handshake)
        p->handshake->peer = NULL;
}
