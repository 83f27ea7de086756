/* SPDX-License-Identifier: MIT */
/* away.c - one that publishes a stream which is at home at another worker.
 *
 * Its session stays where its datagrams come: its id says so to the kernel, and keys, flows and
 * words are there. The stream's publisher is at its home, with its coroutine, its callbacks and
 * its entry in the list of clients: what the client publishes goes there in batches, once a turn.
 *
 *     here                                 at home
 *     away_run, waits      -- move -->     home_main: is let in
 *     published            <-- begun --
 *     push, in batches     ---------->     rtmfp_publish_push
 *     its client, or session, ends: close ->
 *     unpublished          <-- ended --    nothing of it is left
 *     waits no more        -- gone -->     freed: no letter is under way
 */
#include "serve/rtmfp/connection.h"

#include "base/container_of.h"
#include "base/mem.h"
#include "base/must.h"
#include "session/move.h"
#include "session/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 16 << 10,      /* bytes of one; a larger message has its own */
    UNDER_WAY = 4 << 20,   /* bytes of one publisher: more are lost */
    LOST = 0,              /* for a type: its time is so many */
};

#define STAT CO_SECONDS(1) /* how often lists at home learn of the session */

/* An error does not cross; what it says does. */
struct why {
    enum err_code code;
    char text[400];
};

struct batch;

struct rtmfp_away {
    /* What both read. */
    struct workers *workers;
    unsigned here, home;
    struct session_stream names; /* with a key of their own */
    char cid[DATAGRAM_CID];
    atomic_size_t under_way;
    /* Letters: each is posted once. */
    struct co_mail begun, ended, close, gone;
    struct why why_ended, why_close;

    /* Of the session's worker. */
    struct rtmfp_netstream *n;
    struct batch *batch;   /* that is filled; or NULL */
    struct co_task send;
    co_usec stat_at;
    uint64_t lost;         /* to be told, with the next batch */
    bool closes, over;     /* it was asked to end; it has */

    /* Of the home. */
    struct session base;
    struct rtmfp_publish pub;
    err_t stop;            /* before it began */
    bool publishes, done;
    struct clients_detail detail;
    bool has_stat;         /* what the session's worker sent last */
    struct rtmfp_client_stat stat;
};

/* Messages, each behind a head. */
struct batch {
    struct co_mail mail;
    struct rtmfp_away *away;
    size_t size, room;
    bool has_stat;
    struct rtmfp_client_stat stat;
    uint8_t bytes[];
};

struct head {
    uint32_t size, time;
    uint8_t type;
    bool behind;
};

/* ---- why it ends */

static void write_why(struct why *out, err_t err)
{
    char text[sizeof(out->text)];
    const char *said;

    *out = (struct why){ .code = err_code(err) };
    if (!err)
        return;
    said = strstr(err_text(err, text, sizeof(text)), " : "); /* behind the name of its code */
    (void)snprintf(out->text, sizeof(out->text), "%s", said ? said + 3 : "");
}

static err_t read_why(const struct why *why)
{
    return why->code ? err_new(why->code, "%s", why->text) : NULL;
}

/* ---- at home */

static bool read_stat(const struct session *s, void *out)
{
    const struct rtmfp_away *a = container_of(s, const struct rtmfp_away, base);

    memcpy(out, &a->stat, sizeof(a->stat));
    return a->has_stat;
}

static void on_begun(struct co_mail *m);
static void on_ended(struct co_mail *m);

/* From now on it is the other worker's. */
static void end_at_home(struct rtmfp_away *a, err_t err)
{
    a->done = true;
    session_fini(&a->base);
    err_free(&a->stop);
    write_why(&a->why_ended, err);
    err_free(&err);
    a->ended.fn = on_ended;
    workers_post(a->workers, a->here, &a->ended);
}

static err_t publish(struct rtmfp_away *a)
{
    err_t err = rtmfp_publish_begin(&a->pub, &a->base);

    if (err)
        return err;
    a->publishes = true;
    a->begun.fn = on_begun;
    workers_post(a->workers, a->here, &a->begun);
    err = rtmfp_publish_wait(&a->pub);
    a->publishes = false;
    rtmfp_publish_end(&a->pub, err);
    return err;
}

static err_t home_main(void *away)
{
    struct rtmfp_away *a = away;
    err_t err = a->stop;

    a->stop = NULL;
    session_log_as_client(a->base.env, a->names.ip);
    session_begin(&a->base);
    if (!err)
        err = co_check();
    if (!err)
        err = publish(a);
    end_at_home(a, err);
    return NULL;
}

/* Nobody waits in that home for a stream that it does not publish: it is on its way there already,
 * by who sent it. */
static err_t arrive(void *away, struct session_env *env)
{
    struct rtmfp_away *a = away;
    const struct session_stream *names = &a->names;
    err_t err;

    session_init(&a->base, env, NULL);
    a->base.names = *names;
    a->base.names.key = NULL;
    a->base.id = a->cid;
    a->detail = rtmfp_client_detail;
    a->detail.read = read_stat;
    a->base.detail = &a->detail;
    err = session_find_stream(&a->base, names->vhost, names->app, names->name);
    if (!err)
        (void)session_goes_to(&a->base, true);
    return err;
}

static void drop(void *away)
{
    end_at_home(away, err_new(ERR_STOPPED, "it could not go to where its stream is at home"));
}

/* A message of a batch, or how many are not there. */
static void take(struct rtmfp_away *a, const struct head *h, const uint8_t *body)
{
    const struct rtmfp_rtmp_message said = { h->type, h->time, rtmfp_bytes(body, h->size) };

    if (a->publishes && h->type == LOST)
        rtmfp_publish_lost(&a->pub, h->time);
    else if (a->publishes)
        rtmfp_publish_push(&a->pub, &said, h->behind);
}

static void on_batch(struct co_mail *m)
{
    struct batch *b = container_of(m, struct batch, mail);
    struct rtmfp_away *a = b->away;

    if (b->has_stat) {
        a->stat = b->stat;
        a->has_stat = true;
    }
    for (size_t at = 0; at < b->size;) {
        struct head h;

        memcpy(&h, b->bytes + at, sizeof(h));
        at += sizeof(h);
        take(a, &h, b->bytes + at);
        at += h.size;
    }
    atomic_fetch_sub(&a->under_way, b->size);
    free(b);
}

static void on_close(struct co_mail *m)
{
    struct rtmfp_away *a = container_of(m, struct rtmfp_away, close);
    err_t err = read_why(&a->why_close);

    if (a->done) {
        err_free(&err);
        return;
    }
    if (!err && a->publishes) {
        rtmfp_publish_close(&a->pub);
        return;
    }
    if (!err)
        err = err_new(ERR_IO_CLOSED, "the client closed its stream");
    if (a->base.co)
        co_stop(a->base.co, err);
    else
        a->stop = err;
}

static void on_gone(struct co_mail *m)
{
    struct rtmfp_away *a = container_of(m, struct rtmfp_away, gone);

    session_stream_free(&a->names);
    free(a);
}

/* ---- here: what it publishes */

static void post_batch(struct rtmfp_away *a)
{
    struct batch *b = a->batch;

    co_post_cancel(&a->send);
    a->batch = NULL;
    atomic_fetch_add(&a->under_way, b->size);
    workers_post(a->workers, a->home, &b->mail);
}

static void on_send(struct co_task *t)
{
    struct rtmfp_away *a = container_of(t, struct rtmfp_away, send);

    if (a->batch)
        post_batch(a);
}

static struct batch *new_batch(struct rtmfp_away *a, size_t least)
{
    size_t room = least > BATCH ? least : BATCH;
    struct batch *b = mem_try(sizeof(*b) + room);
    co_usec now = co_now();

    if (!b)
        return NULL;
    *b = (struct batch){ .mail.fn = on_batch, .away = a, .room = room };
    if (now - a->stat_at >= STAT) {
        a->stat_at = now;
        b->has_stat = rtmfp_client_detail.read(&a->n->base.session, &b->stat);
    }
    co_post(&a->send, on_send);
    return b;
}

/* False: there is no room for it. */
static bool put(struct rtmfp_away *a, const struct head *h, const uint8_t *body)
{
    size_t need = sizeof(*h) + h->size;

    if (atomic_load(&a->under_way) + need > UNDER_WAY)
        return false;
    if (a->batch && a->batch->size + need > a->batch->room)
        post_batch(a);
    if (!a->batch)
        a->batch = new_batch(a, need);
    if (!a->batch)
        return false;
    memcpy(a->batch->bytes + a->batch->size, h, sizeof(*h));
    if (h->size > 0)
        memcpy(a->batch->bytes + a->batch->size + sizeof(*h), body, h->size);
    a->batch->size += need;
    return true;
}

void rtmfp_away_lost(struct rtmfp_away *a, uint64_t count)
{
    struct head h = { .type = LOST };

    a->lost += count;
    h.time = a->lost < UINT32_MAX ? (uint32_t)a->lost : UINT32_MAX;
    if (h.time > 0 && put(a, &h, NULL))
        a->lost -= h.time;
}

void rtmfp_away_push(struct rtmfp_away *a, const struct rtmfp_rtmp_message *said, bool behind)
{
    const struct head h = { (uint32_t)said->body.n, said->time, said->type, behind };

    if (a->lost > 0)
        rtmfp_away_lost(a, 0);
    if (!put(a, &h, said->body.p))
        a->lost++;
}

static void ask_to_end(struct rtmfp_away *a, err_t why)
{
    if (a->batch)
        post_batch(a);
    if (!a->closes) {
        a->closes = true;
        write_why(&a->why_close, why);
        a->close.fn = on_close;
        workers_post(a->workers, a->home, &a->close);
    }
    err_free(&why);
}

void rtmfp_away_close(struct rtmfp_away *a)
{
    ask_to_end(a, NULL);
}

/* ---- here: its coroutine */

static void on_begun(struct co_mail *m)
{
    rtmfp_netstream_published(container_of(m, struct rtmfp_away, begun)->n);
}

static void on_ended(struct co_mail *m)
{
    struct rtmfp_away *a = container_of(m, struct rtmfp_away, ended);

    a->over = true;
    co_unpark(a->n->base.session.co);
}

/* Asked to stop or not: the home has it. */
static void wait_for(struct rtmfp_away *a)
{
    bool held = false;

    while (!a->over) {
        err_t err = co_check();

        if (err) {
            ask_to_end(a, err);
            held |= co_stop_hold();
        }
        (void)!co_park(CO_FOREVER);
    }
    co_stop_resume(held);
}

static struct rtmfp_away *away_new(struct rtmfp_netstream *n, unsigned home)
{
    struct rtmfp_away *a = must(calloc(1, sizeof(*a)));
    const struct session *s = &n->base.session;

    a->workers = s->env->workers;
    a->here = s->env->worker;
    a->home = home;
    a->n = n;
    a->names = session_stream_copy(&s->names);
    session_stream_set_key(&a->names,
                           stream_key_new(s->names.vhost, s->names.app, s->names.name));
    (void)snprintf(a->cid, sizeof(a->cid), "%s", n->base.cid);
    return a;
}

/* Nothing of it is under way to us any more. */
static void part(struct rtmfp_away *a)
{
    co_post_cancel(&a->send);
    free(a->batch);
    a->gone.fn = on_gone;
    workers_post(a->workers, a->home, &a->gone);
}

err_t rtmfp_away_run(struct rtmfp_netstream *n, unsigned home)
{
    static const struct session_mover how = {
        .name = "rtmfp", .arrive = arrive, .main = home_main, .drop = drop,
    };
    struct rtmfp_away *a = away_new(n, home);
    err_t err;

    n->away = a;
    session_move(n->base.session.env, home, &how, a);
    co_stack_trim();
    wait_for(a);
    n->away = NULL;
    if (rtmfp_netstream_publishes(n))
        rtmfp_netstream_unpublished(n);
    err = read_why(&a->why_ended);
    part(a);
    return err;
}
