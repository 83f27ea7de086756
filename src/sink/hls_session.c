/* SPDX-License-Identifier: MIT */
/* hls_session.c - who plays HLS: sessions by the id in their urls. */
#include "sink/hls_session.h"

#include "base/log.h"
#include "sink/hls_stream.h"

#include <stdlib.h>
#include <string.h>

enum { SESSIONS_MAX = 100000, BUCKETS = 1024 };

struct hls_sessions {
    struct hls_session *buckets[BUCKETS];
    unsigned all, players; /* with those that were kicked, and without */
    co_usec swept_at;
};

struct hls_sessions *hls_sessions_new(void)
{
    struct hls_sessions *t = calloc(1, sizeof(*t));

    if (!t)
        abort();
    return t;
}

static struct hls_session **bucket(struct hls *h, const char *id)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (; *id; id++)
        hash = (hash ^ (uint8_t)*id) * 16777619u;
    return &h->sessions->buckets[hash % BUCKETS];
}

#define SWEEP CO_SECONDS(1)

static char *copy(const char *text)
{
    char *made = strdup(text);

    if (!made)
        abort();
    return made;
}

static void end(struct hls *h, struct hls_session *s)
{
    h->sessions->players -= !s->kicked;
    h->sessions->all--;
    free(s->stream);
    free(s->ip);
    free(s->url);
    free(s);
}

/* Those who ask no more. A kicked one stays as long, so its id stays refused. */
static void sweep_bucket(struct hls *h, struct hls_session **at, co_usec now)
{
    while (*at) {
        struct hls_session *s = *at;

        if (now - s->asked_at <= s->patience) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        log_trace("HLS session %s of %s ends: %llu requests, %llu bytes", s->id, s->stream,
                  (unsigned long long)s->requests, (unsigned long long)s->bytes);
        end(h, s);
    }
}

static void sweep(struct hls *h)
{
    co_usec now = co_now();

    if (now - h->sessions->swept_at < SWEEP)
        return;
    h->sessions->swept_at = now;
    for (size_t i = 0; i < BUCKETS; i++)
        sweep_bucket(h, &h->sessions->buckets[i], now);
}

struct hls_session *hls_session_find(struct hls *h, const char *id)
{
    struct hls_session *s = *bucket(h, id);

    while (s && strcmp(s->id, id) != 0)
        s = s->next;
    return s;
}

struct hls_session *hls_session_new(struct hls *h, const char *stream, const char *url,
                                    const char *ip, co_usec patience)
{
    struct hls_session *s, **at;

    sweep(h);
    if (h->sessions->all >= SESSIONS_MAX)
        return NULL;
    s = calloc(1, sizeof(*s));
    if (!s)
        abort();
    (void)memcpy(s->id, co_cid(), strnlen(co_cid(), HLS_SESSION_ID));
    s->stream = copy(stream);
    s->url = copy(url);
    s->ip = copy(ip);
    s->began_at = s->asked_at = co_now();
    s->patience = patience;
    at = bucket(h, s->id);
    s->next = *at;
    *at = s;
    h->sessions->all++;
    h->sessions->players++;
    log_trace("HLS session %s of %s, ip=%s", s->id, s->stream, s->ip);
    return s;
}

void hls_session_asked(struct hls *h, struct hls_session *s, size_t bytes)
{
    s->asked_at = co_now();
    s->bytes += bytes;
    s->requests++;
    sweep(h);
}

struct hls_session *hls_session_next(struct hls *h, const struct hls_session *s)
{
    struct hls_session **at = h->sessions->buckets, **last = at + BUCKETS, *next = NULL;

    if (s) {
        at = bucket(h, s->id) + 1;
        next = s->next;
    }
    while ((!next || next->kicked) && (next || at < last))
        next = next ? next->next : *at++;
    return next;
}

void hls_session_kick(struct hls *h, struct hls_session *s)
{
    h->sessions->players -= !s->kicked;
    s->kicked = true;
}

unsigned hls_players(struct hls *h)
{
    sweep(h);
    return h->sessions->players;
}

void hls_sessions_free(struct hls *h)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        while (h->sessions->buckets[i]) {
            struct hls_session *s = h->sessions->buckets[i];

            h->sessions->buckets[i] = s->next;
            end(h, s);
        }
    }
    free(h->sessions);
}
