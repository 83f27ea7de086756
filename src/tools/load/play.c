/* SPDX-License-Identifier: MIT */
/* play.c - when each message of a file is due. */
#include "tools/load/media.h"
#include "tools/load/run.h"

#include <stdlib.h>

enum { CATCH_UP = 16 };

void load_play_begin(struct load_play *p, const struct load_media *m, unsigned seed, co_usec now)
{
    size_t keys = 0, pick;

    *p = (struct load_play){ .media = m, .from = now };
    for (size_t i = 0; i < m->count; i++)
        keys += m->messages[i].key;
    pick = keys ? seed % keys : 0;
    for (size_t i = 0; keys && i < m->count; i++) {
        if (m->messages[i].key && pick-- == 0) {
            p->at = i;
            break;
        }
    }
    p->base = 0 - (uint64_t)m->messages[p->at].time; /* wraps to 0 when the time is added */
    load_play_next(p);
}

void load_play_next(struct load_play *p)
{
    if (p->at == p->media->count) {
        p->at = 0;
        p->base += p->media->period;
    }
    p->msg = &p->media->messages[p->at++];
    p->time = p->base + p->msg->time;
}

static err_t wait_due(struct io *io, co_usec due, unsigned sent, err_t (*hear)(void *arg),
                      void *arg)
{
    co_usec now = co_clock();

    if (now >= due && sent % CATCH_UP == 0)
        co_yield();
    do {
        err_t err = io_readable(io) ? hear(arg) : NULL;

        if (err)
            return err;
        if (now < due && io_wait(io, false, due - now) == CO_STOPPED)
            return err_new(ERR_STOPPED, "publisher");
        now = co_clock();
    } while (now < due);
    return co_check();
}

err_t load_publish(struct load_client *c, const struct load_media *m, err_t (*hear)(void *arg),
                   err_t (*send)(void *arg, const struct load_message *msg, uint64_t time),
                   void *arg)
{
    struct load_play play;
    err_t err = NULL;

    c->alive = true;
    c->mark_at = co_clock();
    load_hist_add(&c->run->stat.first_byte, c->mark_at - c->began); /* the first that we may send */
    co_stack_trim();
    load_play_begin(&play, m, (unsigned)rand(), c->mark_at);
    for (unsigned i = 0; !err && !load_is_over(c); i++, load_play_next(&play)) {
        err = wait_due(c->talk.io, load_play_due(&play), i, hear, arg);
        if (err)
            break;
        load_hist_add(&c->run->stat.lag, co_clock() - load_play_due(&play));
        err = send(arg, play.msg, play.time);
    }
    return err;
}
