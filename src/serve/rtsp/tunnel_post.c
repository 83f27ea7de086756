/* SPDX-License-Identifier: MIT */
/* tunnel_post.c - the connection of a POST: the upstream half of a tunnel. */
#include "serve/rtsp/tunnel_post.h"

#include "base/log.h"
#include "base/must.h"
#include "proto/rtsp/tunnel.h"
#include "serve/rtsp/tunnel_io.h"
#include "session/move.h"
#include "session/address_slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 2048 };
#define CHECK_EVERY CO_MS(50) /* interval of checks for a late GET or a moving tunnel */

struct rtsp_post {
    struct session_env *env;
    struct io *io;
    struct address_slot slot;
    struct rtsp_upstream up;
    struct rtsp_base64 base64;
    uint8_t *rest;     /* bytes that came behind the head */
    size_t at, end;    /* its unread part */
    co_usec until;     /* deadline for joining the tunnel */
    bool joined;       /* it has been joined */
    int move_to;       /* the worker to move to; -1: none */
    char cookie[RTSP_COOKIE_MAX + 1];
};

struct rtsp_post *rtsp_post_new(struct session_env *env, struct io *io, const char *cookie,
                                const void *rest, size_t size)
{
    struct rtsp_post *p = must(calloc(1, sizeof(*p)));

    p->env = env;
    p->io = io;
    p->move_to = -1;
    p->until = co_clock() + RTSP_TUNNEL_TIME;
    (void)snprintf(p->cookie, sizeof(p->cookie), "%s", cookie);
    if (size > 0) {
        p->rest = must(malloc(size));
        memcpy(p->rest, rest, size);
        p->end = size;
    }
    workers_connected(env);
    return p;
}

struct address_slot *rtsp_post_slot(struct rtsp_post *p)
{
    return &p->slot;
}

void rtsp_post_free(struct rtsp_post *p)
{
    rtsp_upstream_leave(&p->up, false);
    address_slot_leave(&p->slot);
    workers_disconnected(p->env);
    io_close(p->io);
    free(p->rest);
    free(p);
}

/* ---- the tunnel */

/* Joins the tunnel, or sets move_to to its worker. If neither is possible yet, sleeps and returns
 * NULL: call it again. */
static err_t follow(struct rtsp_post *p)
{
    int where = rtsp_tunnel_where(p->cookie);

    if (p->up.replaced)
        return err_new(ERR_IO_CLOSED, "another POST of the tunnel replaced it");
    if (where == RTSP_TUNNEL_NOT_FOUND && p->joined)
        return err_new(ERR_IO_CLOSED, "the tunnel ended");
    if (where == (int)p->env->worker) {
        rtsp_upstream_join(&p->up, p->cookie);
        p->joined = true;
        return NULL;
    }
    if (where >= 0 && !atomic_load(&p->env->workers->ending)) {
        p->move_to = where;
        return NULL;
    }
    if (co_clock() >= p->until)
        return err_new(ERR_RTSP, "the POST of a tunnel, and no GET after %lld ms",
                       us_to_ms(RTSP_TUNNEL_TIME));
    return co_sleep(CHECK_EVERY);
}

/* ---- bytes */

static err_t read_some(struct rtsp_post *p, uint8_t *buf, size_t size, size_t *n)
{
    *n = p->end - p->at;
    if (*n == 0)
        return io_read_now(p->io, buf, size, n);
    if (*n > size)
        *n = size;
    memcpy(buf, p->rest + p->at, *n);
    p->at += *n;
    return NULL;
}

/* Waits for room, for input, or until it is removed from the tunnel. */
static err_t wait_for(struct rtsp_post *p, size_t room)
{
    enum co_wake wake = room == 0 ? co_park(CO_FOREVER) : io_wait(p->io, false, CO_FOREVER);

    return wake == CO_STOPPED ? co_stop_why() : NULL;
}

static err_t feed(struct rtsp_post *p)
{
    size_t room = rtsp_upstream_room(&p->up), n = 0;
    uint8_t buf[PIECE];
    err_t err;

    p->until = co_clock() + RTSP_TUNNEL_TIME;
    if (room == 0 || (p->at == p->end && !io_readable(p->io)))
        return wait_for(p, room);
    err = read_some(p, buf, room < PIECE ? room : PIECE, &n);
    if (err)
        return err;
    err = rtsp_base64_feed(&p->base64, buf, n, &n);
    rtsp_upstream_put(&p->up, buf, n);
    if (err)
        rtsp_upstream_leave(&p->up, true);
    co_yield_if_due();
    return err ? err : co_check();
}

static err_t run(struct rtsp_post *p)
{
    err_t err = NULL;

    while (!err && p->move_to < 0)
        err = p->up.tunnel ? feed(p) : follow(p);
    return err;
}

/* ---- life cycle */

static err_t arrive(void *post, struct session_env *env)
{
    struct rtsp_post *p = post;

    p->env = env;
    p->move_to = -1;
    return io_attach(p->io);
}

static void drop(void *post)
{
    rtsp_post_free(post);
}

err_t rtsp_post_main(void *post)
{
    static const struct session_mover mover = {
        .name = "rtsp-post", .arrive = arrive, .main = rtsp_post_main, .drop = drop,
    };
    struct rtsp_post *p = post;
    err_t err;

    co_log_as(LOG_UNTRUSTED);
    err = run(p);
    if (!err) {
        io_detach(p->io);
        session_move(p->env, (unsigned)p->move_to, &mover, p);
        return NULL;
    }
    log_end("the POST of a tunnel finished", &err);
    rtsp_post_free(p);
    return NULL;
}
