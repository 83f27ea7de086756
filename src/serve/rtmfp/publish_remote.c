/* SPDX-License-Identifier: MIT */
/* publish_remote.c - a publisher whose stream belongs to another worker, the owner.
 *
 * Its session stays at the worker that its datagrams reach: its id says so to the kernel. The
 * stream's publisher, with its coroutine, callbacks and entry in the list of clients, is at the
 * owner worker; each message of the client goes there as bytes.
 *
 *     here                                at the owner worker
 *     rtmfp_publish_remote_run      -- move -->     owner_main: admitted
 *     published           <-- begun --
 *     rtmfp_publish_remote_push     -- message -->  rtmfp_publish_push
 *     the client ends     -- close -->
 *     unpublished         <-- ended --    nothing of it is left
 *                         -- gone -->     freed: no mail is under way
 */
#include "serve/rtmfp/connection.h"

#include "base/container_of.h"
#include "base/mem.h"
#include "base/must.h"
#include "session/move.h"
#include "session/address_slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNDER_WAY = 4 << 20 }; /* bytes in transit for one publisher; more are dropped */

#define STAT CO_SECONDS(1) /* interval at which lists at the owner worker get the session's
                            * statistics */

struct rtmfp_publish_remote {
    struct workers *workers;
    unsigned here, owner;
    atomic_size_t under_way;
    struct co_mail begun, ended, close, gone; /* each is posted once */
    enum err_code code;          /* code and text of the error, which itself does not cross */
    char text[400];
    enum err_code closed_by;

    /* fields of the session's worker */
    struct rtmfp_netstream *n;   /* its strings stay unchanged while its coroutine waits */
    co_usec stat_at;
    uint64_t lost;               /* messages lost since the last one sent */
    bool closes, over;           /* asked to end; has ended */

    /* fields of the owner worker */
    struct session base;
    struct rtmfp_publish pub;
    err_t stop;                  /* stopped before it began */
    bool publishes, done;
    struct clients_detail detail;
    struct rtmfp_client_stat stat;
};

struct message {
    struct co_mail mail;
    struct rtmfp_publish_remote *remote;
    struct rtmfp_rtmp_message message;
    uint64_t lost;
    bool behind, has_stat;
    struct rtmfp_client_stat stat;
    uint8_t body[];
};

/* ---- at the owner worker */

static bool read_stat(const struct session *s, void *out)
{
    const struct rtmfp_publish_remote *a = container_of(s, const struct rtmfp_publish_remote, base);

    memcpy(out, &a->stat, sizeof(a->stat));
    return a->stat.peer_id[0];
}

static void on_begun(struct co_mail *m)
{
    rtmfp_netstream_published(container_of(m, struct rtmfp_publish_remote, begun)->n);
}

static void on_ended(struct co_mail *m)
{
    struct rtmfp_publish_remote *a = container_of(m, struct rtmfp_publish_remote, ended);

    a->over = true;
    co_unpark(a->n->base.session.co);
}

/* Ends it at the owner worker and posts the error to the session's worker. */
static void end_at_owner(struct rtmfp_publish_remote *a, err_t err)
{
    char text[sizeof(a->text)];
    const char *reason = err ? strstr(err_text(err, text, sizeof(text)), " : ") : NULL;

    a->done = true;
    session_fini(&a->base);
    err_free(&a->stop);
    a->code = err_code(err);
    (void)snprintf(a->text, sizeof(a->text), "%s", reason ? reason + strlen(" : ") : "");
    err_free(&err);
    workers_post(a->workers, a->here, &a->ended);
}

static err_t publish(struct rtmfp_publish_remote *a)
{
    err_t err = rtmfp_publish_begin(&a->pub, &a->base);

    if (err)
        return err;
    a->publishes = true;
    workers_post(a->workers, a->here, &a->begun);
    err = rtmfp_publish_wait(&a->pub);
    a->publishes = false;
    rtmfp_publish_end(&a->pub, err);
    return err;
}

static err_t owner_main(void *remote)
{
    struct rtmfp_publish_remote *a = remote;
    err_t err = a->stop;

    a->stop = NULL;
    session_log_as_client(a->base.env, a->base.names.ip);
    session_begin(&a->base);
    if (!err)
        err = co_check();
    end_at_owner(a, err ? err : publish(a));
    return NULL;
}

static err_t arrive(void *remote, struct session_env *env)
{
    struct rtmfp_publish_remote *a = remote;
    const struct session *of = &a->n->base.session;
    err_t err;

    session_init(&a->base, env, NULL);
    a->base.names = of->names;
    a->base.names.key = NULL;
    a->base.id = of->id;
    a->detail = rtmfp_client_detail;
    a->detail.read = read_stat;
    a->base.detail = &a->detail;
    err = session_find_stream(&a->base, of->names.vhost, of->names.app, of->names.name);
    if (!err)
        (void)session_goes_to(&a->base, true); /* this group, which holds the other session */
    return err;
}

static void drop(void *remote)
{
    end_at_owner(remote,
                 err_new(ERR_STOPPED, "it could not move to the owner worker of its stream"));
}

static void on_message(struct co_mail *mail)
{
    struct message *m = container_of(mail, struct message, mail);
    struct rtmfp_publish_remote *a = m->remote;

    if (m->has_stat)
        a->stat = m->stat;
    if (a->publishes)
        rtmfp_publish_push(&a->pub, &m->message, m->behind, m->lost);
    atomic_fetch_sub(&a->under_way, sizeof(*m) + m->message.body.n);
    free(m);
}

static void on_close(struct co_mail *m)
{
    struct rtmfp_publish_remote *a = container_of(m, struct rtmfp_publish_remote, close);
    err_t err;

    if (a->done)
        return;
    if (!a->closed_by && a->publishes) {
        rtmfp_publish_close(&a->pub);
        return;
    }
    err = err_new(a->closed_by ? a->closed_by : ERR_IO_CLOSED, "the client closed its stream");
    if (a->base.co)
        co_stop(a->base.co, err);
    else
        a->stop = err;
}

static void on_gone(struct co_mail *m)
{
    free(container_of(m, struct rtmfp_publish_remote, gone));
}

/* ---- at the worker of the session */

void rtmfp_publish_remote_push(struct rtmfp_publish_remote *a,
                               const struct rtmfp_rtmp_message *message, bool behind, uint64_t lost)
{
    size_t size = sizeof(struct message) + message->body.n;
    bool fits = atomic_load(&a->under_way) + size <= UNDER_WAY;
    struct message *m = fits ? mem_try(size) : NULL;
    co_usec now = co_now();

    a->lost += lost;
    if (!m) {
        a->lost++;
        return;
    }
    *m = (struct message){ .mail.fn = on_message, .remote = a, .message = *message, .lost = a->lost,
                           .behind = behind, .has_stat = now - a->stat_at >= STAT };
    a->lost = 0;
    if (message->body.n > 0)
        memcpy(m->body, message->body.p, message->body.n);
    m->message.body.p = m->body;
    if (m->has_stat) {
        a->stat_at = now;
        m->has_stat = rtmfp_client_detail.read(&a->n->base.session, &m->stat);
    }
    atomic_fetch_add(&a->under_way, size);
    workers_post(a->workers, a->owner, &m->mail);
}

static void request_end(struct rtmfp_publish_remote *a, enum err_code why)
{
    if (a->closes)
        return;
    a->closes = true;
    a->closed_by = why;
    workers_post(a->workers, a->owner, &a->close);
}

void rtmfp_publish_remote_close(struct rtmfp_publish_remote *a)
{
    request_end(a, 0);
}

/* Waits until the owner worker has ended the publisher, even if asked to stop meanwhile. Returns
 * why it was asked to stop, or NULL. */
static err_t wait_for(struct rtmfp_publish_remote *a)
{
    bool held = false;
    err_t why = NULL;

    while (!a->over) {
        err_t err = co_check();

        if (err) {
            request_end(a, err_code(err));
            held |= co_stop_hold();
            err_free(&why);
            why = err;
        }
        (void)!co_park(CO_FOREVER);
    }
    co_stop_resume(held);
    return why;
}

err_t rtmfp_publish_remote_run(struct rtmfp_netstream *n, unsigned owner)
{
    static const struct session_mover how = {
        .name = "rtmfp", .arrive = arrive, .main = owner_main, .drop = drop,
    };
    const struct session_env *env = n->base.session.env;
    struct rtmfp_publish_remote *a = must(calloc(1, sizeof(*a)));
    err_t err;

    *a = (struct rtmfp_publish_remote){ .workers = env->workers,
                                        .here = env->worker,
                                        .owner = owner,
                                        .n = n,
                                        .begun.fn = on_begun,
                                        .ended.fn = on_ended,
                                        .close.fn = on_close,
                                        .gone.fn = on_gone };
    n->remote = a;
    session_move(n->base.session.env, owner, &how, a);
    co_stack_trim();
    err = wait_for(a);
    n->remote = NULL;
    if (rtmfp_netstream_publishes(n))
        rtmfp_netstream_unpublished(n);
    if (err)
        err = err_wrap(err, "publish %s/%s", n->base.session.names.app, n->base.session.names.name);
    else if (a->code)
        err = err_new(a->code, "%s", a->text);
    workers_post(a->workers, owner, &a->gone);
    return err;
}
