/* SPDX-License-Identifier: MIT */
/* check_rtsp.c - what RTSP is served by and pulled from: well-formed. */
#include "conf/check.h"

#include <string.h>

static err_t words_of(const struct conf_list *list, const char *const *known, const char *name)
{
    if (list->n == 0)
        return err_new(ERR_CONF, "%s has no word", name);
    for (size_t i = 0; i < list->n; i++) {
        const char *const *k = known;

        while (*k && strcmp(*k, list->v[i]) != 0)
            k++;
        if (!*k)
            return err_new(ERR_CONF, "%s: \"%.30s\" is not known: %s, %s%s%s", name, list->v[i],
                           known[0], known[1], known[2] ? ", " : "", known[2] ? known[2] : "");
    }
    return NULL;
}

static const char *const lower[] = { "tcp", "udp", NULL };
static const char *const methods[] = { "digest-md5", "digest-sha256", "basic", NULL };

/* RFC 3550 11: RTP has an even port, RTCP the next. */
static err_t check_port(int port, const char *name)
{
    return port % 2 ? err_new(ERR_CONF, "%s %d is odd: it is of RTP, RTCP has the next", name, port)
                    : NULL;
}

static err_t check_multicast(const struct conf_rtsp_multicast *m)
{
    static const uint8_t mapped[12] = { [10] = 0xff, 0xff };
    const struct conf_network *n = m->range.v;

    if (m->range.n != 1 || n->bits < 96 + 4 || memcmp(n->addr, mapped, sizeof(mapped)) != 0 ||
        n->addr[12] >> 4 != 0xe)
        return err_new(ERR_CONF, "range is one network of groups, as 239.0.0.0/8");
    return check_port(m->port, "port");
}

err_t conf_check_rtsp_server(const struct conf *c, const struct conf_source *src)
{
    const struct conf_rtsp_server *r = &c->rtsp_server;
    err_t err = check_multicast(&r->multicast);

    (void)src;
    if (err)
        return err_wrap(err, "rtsp_server.multicast");
    if (r->enabled && r->listen.n == 0)
        err = err_new(ERR_CONF, "it is on and has no listen");
    if (!err)
        err = words_of(&r->transports, lower, "transports");
    if (!err)
        err = check_port(r->udp_port, "udp_port");
    return err ? err_wrap(err, "rtsp_server") : NULL;
}

/* What a user may do: behind the name and the password. */
static err_t check_roles(const struct conf_list *line)
{
    for (size_t i = 2; i < line->n; i++) {
        if (strcmp(line->v[i], "play") != 0 && strcmp(line->v[i], "publish") != 0)
            return err_new(ERR_CONF, "user %.60s: \"%.30s\" is not known: play, publish",
                           line->v[0], line->v[i]);
        if (i > 2 && strcmp(line->v[i], line->v[2]) == 0)
            return err_new(ERR_CONF, "user %.60s: %s is there twice", line->v[0], line->v[i]);
    }
    return NULL;
}

/* RFC 7617 2: a colon ends the name. It is quoted in Digest. */
static err_t check_user(const struct conf_list *line)
{
    if (line->n < 2 || line->n > 4 || !*line->v[0] || !*line->v[1])
        return err_new(ERR_CONF, "user takes two words, the name and the password, and what it "
                       "may: play, publish or both");
    if (strpbrk(line->v[0], ":\"\\"))
        return err_new(ERR_CONF, "user %.60s: a name has neither : nor \" nor \\", line->v[0]);
    return check_roles(line);
}

static err_t check_auth(const struct conf_rtsp_auth *a)
{
    err_t err = words_of(&a->methods, methods, "methods");

    if (!err && strpbrk(a->realm, "\"\\\r\n"))
        err = err_new(ERR_CONF, "realm has neither \" nor \\");
    if (!err && a->enabled && a->user.n == 0)
        err = err_new(ERR_CONF, "it is on and has no user");
    for (size_t i = 0; i < a->user.n && !err; i++)
        err = check_user(&a->user.v[i]);
    return err ? err_wrap(err, "rtsp.auth") : NULL;
}

static err_t check_pull(const struct conf_rtsp_pulls *all, size_t at)
{
    const struct conf_rtsp_pull *p = &all->v[at];

    if (!p->enabled)
        return NULL;
    if (!*p->stream || !*p->url)
        return err_new(ERR_CONF, "it needs both stream and url");
    if (strncmp(p->url, "rtsp://", 7) != 0 && strncmp(p->url, "rtsps://", 8) != 0)
        return err_new(ERR_CONF, "the url of %.60s is none of rtsp:// or rtsps://", p->stream);
    for (size_t i = 0; i < at; i++) {
        if (all->v[i].enabled && strcmp(all->v[i].stream, p->stream) == 0)
            return err_new(ERR_CONF, "a second one for %.60s", p->stream);
    }
    return words_of(&p->transport, lower, "transport");
}

err_t conf_check_rtsp(const struct conf_vhost *v)
{
    err_t err = check_auth(&v->rtsp.auth);

    for (size_t i = 0; i < v->rtsp.pull.n && !err; i++) {
        err = check_pull(&v->rtsp.pull, i);
        if (err)
            err = err_wrap(err, "rtsp.pull");
    }
    return err;
}

static bool pulls(const struct conf_vhost_rtsp *r)
{
    for (size_t i = 0; i < r->pull.n; i++) {
        if (r->pull.v[i].enabled)
            return true;
    }
    return false;
}

void conf_warn_rtsp(const struct conf *c, const struct conf_ctx *ctx)
{
    bool served = false;

    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_vhost *v = &c->vhost.v[i];

        served |= v->rtsp.enabled;
        if (v->rtsp.enabled && !c->rtsp_server.enabled && !pulls(&v->rtsp))
            conf_warn(ctx, "vhost %.60s: rtsp is on and has no effect: rtsp_server is off",
                      v->name);
        if (!v->rtsp.enabled && pulls(&v->rtsp))
            conf_warn(ctx, "vhost %.60s: pull has no effect: rtsp is off", v->name);
    }
    if (c->rtsp_server.enabled && !served)
        conf_warn(ctx, "rtsp_server has no effect: no vhost has rtsp { enabled on; }");
    if (c->rtsp_server.https.enabled && !c->rtsp_server.enabled)
        conf_warn(ctx, "rtsp_server.https is on and has no effect: rtsp_server is off");
}
