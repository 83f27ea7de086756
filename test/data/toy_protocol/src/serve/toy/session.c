/* SPDX-License-Identifier: MIT */
/* session.c - a client of the toy over TCP. */
#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "serve/tcp/conn.h"
#include "serve/toy/toy.h"
#include "session/player.h"

#include <stdlib.h>
#include <string.h>

struct toy_session {
    struct session base;
    struct tcp_conn tcp;
    uint64_t lines;
};

static struct toy_session *session_of(struct tcp_conn *c)
{
    return container_of(c, struct toy_session, tcp);
}

/* ---- fields of the client in the API */

static const struct jput_field fields[] = { { "lines", .at = 0, .kind = JPUT_UINT } };

static bool read_detail(const struct session *s, void *out)
{
    const struct toy_session *t = container_of(s, const struct toy_session, base);

    memcpy(out, &t->lines, sizeof(t->lines));
    return true;
}

static const struct clients_detail detail = {
    .name = "toy", .fields = fields, .n = 1, .read = read_detail,
};

/* ---- the conversation */

static err_t read_line(struct toy_session *s, char line[TOY_LINE])
{
    size_t size = 0, n;
    err_t err = NULL;

    while (!err && (size == 0 || line[size - 1] != '\n')) {
        if (size == TOY_LINE - 1)
            return err_new(ERR_TOY, "a line of more than %d bytes", TOY_LINE - 1);
        err = io_read(s->base.io, line + size, 1, &n);
        size++;
    }
    if (!err)
        line[size - 1] = '\0';
    return err;
}

static err_t find_stream(struct toy_session *s)
{
    char line[TOY_LINE], *name;
    err_t err = read_line(s, line);

    if (err)
        return err;
    name = strchr(line, '/');
    if (!name)
        return err_new(ERR_TOY, "it begins with \"%.40s\", not with app/stream", line);
    *name = '\0';
    err = session_find_stream(&s->base, "", line, name + 1);
    if (!err && !s->base.vhost->toy.enabled)
        err = err_new(ERR_TOY, "it is off in vhost %s", s->base.vhost->name);
    return err;
}

static err_t echo_lines(struct toy_session *s)
{
    char line[TOY_LINE], answer[TOY_LINE];
    err_t err = NULL;

    while (!err) {
        err = read_line(s, line);
        if (!err) {
            size_t size = toy_echo(s->base.env, line, strlen(line), answer);

            s->lines++;
            answer[size] = '\n';
            err = io_write(s->base.io, answer, size + 1);
        }
        if (!err)
            err = co_check();
    }
    return err;
}

static err_t run(struct tcp_conn *c)
{
    struct toy_session *s = session_of(c);
    err_t err;

    log_trace("toy client ip=%s:%d", c->ip, c->port);
    session_begin(&s->base);
    err = find_stream(s);
    if (!err)
        err = session_play_begin(&s->base, CLIENTS_TOY_PLAY, NULL);
    if (err)
        return err;
    err = echo_lines(s);
    session_play_end(&s->base, err);
    return err;
}

/* ---- from accept to close */

static const struct tcp_ops ops;

static struct tcp_conn *make(struct session_env *env, struct io *io,
                             const struct protocol_accepted *guest)
{
    struct toy_session *s = must(calloc(1, sizeof(*s)));

    (void)guest;
    session_init(&s->base, env, io);
    tcp_conn_init(&s->tcp, &ops, env, &s->base.io);
    s->base.names = (struct session_stream){ .vhost = "", .app = "", .name = "", .param = "",
                                             .tc_url = "", .page_url = "", .ip = s->tcp.ip };
    s->base.detail = &detail;
    return &s->tcp;
}

static void free_session(struct tcp_conn *c)
{
    struct toy_session *s = session_of(c);

    tcp_conn_fini(c);
    session_fini(&s->base);
    free(s);
}

static void end(struct tcp_conn *c, err_t err)
{
    session_log_end(&session_of(c)->base, &err);
    free_session(c);
}

static const struct tcp_ops ops = {
    .name = "toy", .secure = "toy", .create = make, .run = run, .end = end, .free = free_session,
};

err_t toy_accept(struct session_env *env, const struct protocol_accepted *guest,
                 struct address_slot *place)
{
    return tcp_accept(&ops, env, guest, place);
}
