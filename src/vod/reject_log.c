/* SPDX-License-Identifier: MIT */
/* reject_log.c - log lines for rejected players. A client can request a damaged or missing file at
 * any rate, so the number of lines is limited: the first request for each of a few files has its
 * own line, and one line reports the number of the others.
 */
#include "base/container_of.h"
#include "base/log.h"
#include "base/text.h"
#include "vod/store.h"

#include <stdio.h>
#include <string.h>

#define EVERY CO_SECONDS(10)

/* A hash of the text; texts with equal hashes count as one. */
static uint32_t kind_of(const char *text)
{
    return (uint32_t)text_hash_more(TEXT_HASH_BEGIN, text, strlen(text));
}

/* True if this text was not logged yet and the table has room for it. */
static bool is_new(struct vod_refused *r, uint32_t kind)
{
    for (unsigned i = 0; i < r->n; i++) {
        if (r->kinds[i] == kind)
            return false;
    }
    if (r->n == VOD_REFUSED_KINDS)
        return false;
    r->kinds[r->n++] = kind;
    return true;
}

/* Logs the number of the others. This line bypasses the log budget, because nothing else reports
 * them. */
static void tell_rest(struct vod_refused *r)
{
    if (r->untold > 0)
        log_always(LOG_WARN, "vod: %u more were refused, the last one: %s", r->untold, r->last);
    r->untold = 0;
}

/* Keeps the table while rejections continue, so that known texts get no new line; a full table is
 * cleared. */
static void on_time(struct co_timer *t)
{
    struct vod_refused *r = container_of(t, struct vod_refused, timer);
    bool quiet = r->untold == 0;

    tell_rest(r);
    if (quiet || r->n == VOD_REFUSED_KINDS)
        r->n = 0;
    if (!quiet)
        co_timer_set(t, co_now() + EVERY, on_time);
}

void vod_refused(struct vod *v, const char *how, const char *ip, err_t why)
{
    struct vod_refused *r = &v->refused;
    char text[VOD_REFUSED_TEXT];

    v->stat.refused++;
    (void)err_text(why, text, sizeof(text));
    (void)snprintf(r->last, sizeof(r->last), "%s player of %.45s is refused: %.300s", how, ip,
                   text);
    if (!is_new(r, kind_of(text)))
        r->untold++;
    else
        log_always(LOG_WARN, "vod: %s; more of that are counted", r->last);
    if (!r->timer.prev)
        co_timer_set(&r->timer, co_now() + EVERY, on_time);
}

void vod_refused_end(struct vod_refused *r)
{
    co_timer_cancel(&r->timer);
    tell_rest(r);
}
