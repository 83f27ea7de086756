/* SPDX-License-Identifier: MIT */
/* protocol.c - functions over the rows of all protocols. */
#include "conf/protocol.h"

#include "conf/value.h"

#define XX(ID, id) extern const struct conf_protocol conf_protocol_##id;
PROTOCOL_LIST(XX)
#undef XX

static const struct conf_protocol *const all[PROTOCOLS] = {
#define XX(ID, id) [PROTOCOL_##ID] = &conf_protocol_##id,
    PROTOCOL_LIST(XX)
#undef XX
};

/* Protocols of PROTOCOL_SERVER_LIST have a server block and a block in vhosts. */
static bool has_blocks(const struct conf_protocol *p)
{
    return p->vhost != CONF_NOWHERE;
}

const struct conf_protocol *conf_protocol(enum protocol_id id)
{
    return all[id];
}

bool conf_protocol_in(const struct conf_protocol *p, const struct conf_vhost *v)
{
    return p->vhost == CONF_NOWHERE || *(const bool *)((const char *)v + p->vhost);
}

int conf_protocol_max(const struct conf_protocol *p, const struct conf *c)
{
    return p->max == CONF_NOWHERE ? 0 : *(const int *)((const char *)c + p->max);
}

static bool is_on(const struct conf *c, size_t offset)
{
    return offset == CONF_NOWHERE || *(const bool *)((const char *)c + offset);
}

bool conf_served_is_on(const struct conf_served *s, const struct conf *c)
{
    return is_on(c, s->enabled) && is_on(c, s->also);
}

const struct conf_endpoints *conf_served_listen(const struct conf_served *s, const struct conf *c)
{
    return (const void *)((const char *)c + s->listen);
}

const struct conf_tls *conf_served_tls(const struct conf_served *s, const struct conf *c)
{
    return s->tls == CONF_NOWHERE ? NULL : (const void *)((const char *)c + s->tls);
}

int conf_served_port(const struct conf_served *s, const struct conf *c)
{
    const struct conf_endpoints *e = conf_served_listen(s, c);

    return conf_served_is_on(s, c) && e->n > 0 ? e->v[0].port : 0;
}

bool conf_served_share(const struct conf_served *a, const struct conf_served *b)
{
    return a->speaks == b->speaks && ((a->flags ^ b->flags) & CONF_SERVED_UDP) == 0 &&
           (a->tls == CONF_NOWHERE) == (b->tls == CONF_NOWHERE);
}

const struct conf_served *conf_served_next(const struct conf_served *s, enum protocol_id *id)
{
    if (!s)
        *id = 0;
    else if (s + 1 < all[*id]->served + all[*id]->n_served)
        return s + 1;
    else if (++*id == PROTOCOLS)
        return NULL;
    return all[*id]->served;
}

/* ---- checks */

static err_t check(const struct conf_protocol *p, const struct conf *c)
{
    if (has_blocks(p) && is_on(c, p->served->enabled) && conf_served_listen(p->served, c)->n == 0)
        return err_new(ERR_CONF, "%s_server is on but has no listen", p->name);
    return p->check ? p->check(c) : NULL;
}

err_t conf_protocols_check(const struct conf *c)
{
    err_t err = NULL;

    for (int i = 0; i < PROTOCOLS && !err; i++)
        err = check(all[i], c);
    return err;
}

err_t conf_protocols_check_vhost(const struct conf_vhost *v)
{
    err_t err = NULL;

    for (int i = 0; i < PROTOCOLS && !err; i++)
        err = all[i]->check_vhost ? all[i]->check_vhost(v) : NULL;
    return err;
}

void conf_protocols_resolve(struct conf *c)
{
    for (int i = 0; i < PROTOCOLS; i++) {
        if (all[i]->resolve)
            all[i]->resolve(c);
    }
}

/* A protocol needs its server block and its block in a vhost. */
static void warn_half(const struct conf_protocol *p, const struct conf *c,
                      const struct conf_ctx *ctx)
{
    bool on = is_on(c, p->served->enabled), used = p->server_alone && p->server_alone(c);

    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_vhost *v = &c->vhost.v[i];

        used |= conf_protocol_in(p, v);
        if (!on && conf_protocol_in(p, v) && !(p->vhost_alone && p->vhost_alone(v)))
            conf_warn(ctx, "vhost %.60s: %s is on and has no effect: %s_server is off", v->name,
                      p->name, p->name);
    }
    if (on && !used)
        conf_warn(ctx, "%s_server has no effect: no vhost has %s { enabled on; }", p->name,
                  p->name);
}

void conf_protocols_warn(const struct conf *c, const struct conf_ctx *ctx)
{
    for (int i = 0; i < PROTOCOLS; i++) {
        if (has_blocks(all[i]))
            warn_half(all[i], c, ctx);
        if (all[i]->warn)
            all[i]->warn(c, ctx);
    }
}
