/* SPDX-License-Identifier: MIT */
/* keys_queue.c - computes the keys of handshakes on helper threads. */
#include "serve/rtmfp/keys_queue.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "co/thread.h"

#include <openssl/crypto.h>
#include <stdlib.h>

enum { AT_ONCE = 8, AHEAD = 64, AHEAD_ONCE = 16, KEYERS_MAX = 32 };

#define PATIENCE CO_SECONDS(20)

/* Data of a helper thread; returns to the coroutine when the helper is done. */
struct batch {
    struct rtmfp_shared *shared;         /* referenced */
    struct rtmfp_dh *dh;
    struct rtmfp_pool pools[RTMFP_GROUPS];
    unsigned n;
    struct rtmfp_work *v[AT_ONCE];
    unsigned made, missed;               /* key pairs created in, and missing for, the last call */
};

struct keyer {
    struct rtmfp_key_queue *keys;
    struct co *co;
    bool idle;
    struct batch *batch;
    unsigned n;
    struct rtmfp_handshake *v[AT_ONCE];  /* handshakes of the batch */
};

struct rtmfp_key_queue {
    struct rtmfp_service *service;
    unsigned n_keyers;
    struct rtmfp_handshake *first, **end;
    struct keyer keyers[KEYERS_MAX];
};

/* ---- on a helper thread */

static void run_one(struct batch *b, struct rtmfp_work *w)
{
    struct rtmfp_pair pair;

    if (!rtmfp_pool_take(&b->pools[w->job.group], &pair)) {
        rtmfp_pair_make(b->dh, &pair, w->job.group);
        b->missed++;
    }
    w->ok = rtmfp_job_run(b->dh, &b->shared->identity, &pair, &w->job, &w->keyed);
    rtmfp_pair_wipe(&pair);
}

/* Creates key pairs in advance for the first group that needs some. */
static void make_pairs(struct batch *b)
{
    for (int g = 0; g < RTMFP_GROUPS; g++) {
        while (b->shared->identity.groups[g] && rtmfp_pool_wants(&b->pools[g]) &&
               b->made < AHEAD_ONCE) {
            struct rtmfp_pair pair;

            rtmfp_pair_make(b->dh, &pair, (enum rtmfp_group)g);
            rtmfp_pool_put(&b->pools[g], &pair);
            b->made++;
        }
    }
}

static void run(void *batch)
{
    struct batch *b = batch;

    for (unsigned i = 0; i < b->n; i++)
        run_one(b, b->v[i]);
    if (b->n == 0)
        make_pairs(b);
}

static void work_free(struct rtmfp_work *w)
{
    if (!w)
        return;
    OPENSSL_cleanse(w, sizeof(*w));
    free(w);
}

/* Runs on any thread. */
static void batch_free(void *batch)
{
    struct batch *b = batch;

    for (unsigned i = 0; i < b->n; i++)
        work_free(b->v[i]);
    for (int g = 0; g < RTMFP_GROUPS; g++)
        rtmfp_pool_fini(&b->pools[g]);
    rtmfp_dh_free(b->dh);
    datagram_shared_unref(&b->shared->base);
    free(b);
}

static struct batch *batch_new(struct rtmfp_shared *shared)
{
    struct batch *b = must(calloc(1, sizeof(*b)));

    b->shared = shared;
    (void)datagram_shared_ref(&b->shared->base);
    b->dh = must(rtmfp_dh_new());
    for (int g = 0; g < RTMFP_GROUPS; g++)
        rtmfp_pool_init(&b->pools[g], g == RTMFP_GROUP_2 ? AHEAD : AHEAD_ONCE);
    return b;
}

/* ---- on the worker */

static void forget(struct rtmfp_key_queue *k, struct rtmfp_handshake *h)
{
    k->service->stat.keying--;
    rtmfp_table_remove_keying(k->service->table, h);
    address_limits_leave(&h->place, co_clock());
    atomic_fetch_sub(&k->service->shared->sessions, 1);
    work_free(h->work);
    free(h);
}

/* Opens the session if the helper computed its keys; otherwise drops the handshake. */
static void answer(struct rtmfp_key_queue *k, struct rtmfp_handshake *h, co_usec now)
{
    struct rtmfp_service *s = k->service;

    s->stat.key_jobs++;
    s->stat.key_time += (uint64_t)(now - h->since);
    if (h->work->ok && rtmfp_peer_open(s, h, now))
        atomic_fetch_add(&s->shared->sessions, 1); /* forget() releases the one of the handshake */
    forget(k, h);
}

static void take(struct keyer *y)
{
    struct rtmfp_key_queue *k = y->keys;
    struct batch *b = y->batch;

    while (k->first && y->n < AT_ONCE) {
        struct rtmfp_handshake *h = k->first;

        k->first = h->next;
        if (!k->first)
            k->end = &k->first;
        b->v[y->n] = h->work;
        h->work = NULL;
        y->v[y->n++] = h;
    }
    b->n = y->n;
    b->made = b->missed = 0;
}

static void give_back(struct keyer *y)
{
    struct rtmfp_service *s = y->keys->service;
    struct batch *b = y->batch;
    co_usec now = co_clock();
    unsigned n = y->n;

    s->stat.pairs_made += b->made;
    s->stat.pairs_missed += b->missed;
    y->n = b->n = 0;
    for (unsigned i = 0; i < n; i++) {
        y->v[i]->work = b->v[i];
        answer(y->keys, y->v[i], now);
    }
}

/* The coroutine stops before the helper returns: the helper keeps the batch, and the clients repeat
 * their handshakes. */
static void give_up(struct keyer *y)
{
    for (unsigned i = 0; i < y->n; i++)
        forget(y->keys, y->v[i]);
    y->n = 0;
    y->batch = NULL;
}

static bool wants_pairs(const struct batch *b)
{
    for (int g = 0; g < RTMFP_GROUPS; g++) {
        if (b->shared->identity.groups[g] && rtmfp_pool_wants(&b->pools[g]))
            return true;
    }
    return false;
}

static err_t turn(struct keyer *y)
{
    char text[256];
    err_t err;

    if (!y->batch)
        y->batch = batch_new(y->keys->service->shared);
    if (!y->keys->first && !wants_pairs(y->batch)) {
        y->idle = true;
        (void)!co_park(CO_FOREVER);
        y->idle = false;
        return co_check();
    }
    take(y);
    err = co_thread_run(CO_POOL_KEY, run, y->batch, batch_free, PATIENCE);
    if (!err) {
        give_back(y);
        return co_check();
    }
    give_up(y);
    if (co_stop_asked())
        return err;
    log_warn("RTMFP: computing the keys of handshakes failed: %s",
             err_text(err, text, sizeof(text)));
    err_free(&err);
    return co_sleep(CO_MS(100));
}

static err_t keyer_main(void *keyer)
{
    struct keyer *y = keyer;
    err_t err = NULL;

    while (!err)
        err = turn(y);
    if (y->batch)
        batch_free(y->batch);
    y->batch = NULL;
    err_free(&err);
    return NULL;
}

struct rtmfp_key_queue *rtmfp_keys_new(struct rtmfp_service *s, unsigned threads)
{
    struct rtmfp_key_queue *k = must(calloc(1, sizeof(*k)));

    k->service = s;
    k->end = &k->first;
    k->n_keyers = threads < KEYERS_MAX ? threads : KEYERS_MAX;
    return k;
}

err_t rtmfp_keys_begin(struct rtmfp_key_queue *k)
{
    err_t err = NULL;

    for (unsigned i = 0; i < k->n_keyers && !err; i++) {
        k->keyers[i].keys = k;
        err = co_go(&k->service->base.group, "rtmfp-keys", keyer_main, &k->keyers[i]);
        if (!err)
            k->keyers[i].co = co_newest(&k->service->base.group);
    }
    return err;
}

void rtmfp_keys_free(struct rtmfp_key_queue *k)
{
    while (k->first) {
        struct rtmfp_handshake *h = k->first;

        k->first = h->next;
        forget(k, h);
    }
    free(k);
}

bool rtmfp_keys_full(const struct rtmfp_key_queue *k)
{
    return k->service->stat.keying >= RTMFP_KEY_JOBS;
}

void rtmfp_keys_add(struct rtmfp_key_queue *k, struct rtmfp_handshake *h)
{
    k->service->stat.keying++;
    h->next = NULL;
    *k->end = h;
    k->end = &h->next;
    rtmfp_table_add_keying(k->service->table, h);
    for (unsigned i = 0; i < k->n_keyers; i++) {
        if (!k->keyers[i].idle)
            continue;
        k->keyers[i].idle = false;
        co_unpark(k->keyers[i].co);
        return;
    }
}
