/* SPDX-License-Identifier: MIT */
/* netstream.c - one stream of a connection from publish or play on; a separate client in all lists.
 * A coroutine admits it; a publisher keeps the coroutine, a player gets another one for its end. */
#include "serve/rtmfp/connection.h"

#include "base/container_of.h"
#include "base/list.h"
#include "base/log.h"
#include "base/must.h"
#include "proto/rtmp/command.h"
#include "session/move.h"
#include "session/address_slot.h"
#include "vod/vod.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages */

void rtmfp_netstream_write(struct rtmfp_netstream *n, uint8_t type, uint32_t time,
                         const uint8_t *data, size_t size)
{
    rtmfp_write(n->peer, n->control, type, time, rtmfp_bytes(data, size));
}

void rtmfp_netstream_status(struct rtmfp_netstream *n, unsigned status, const char *text)
{
    struct wr body;

    wr_init(&body, RTMFP_REPLY_MAX);
    rtmp_reply_status(&body, (enum rtmp_status)status, text, n->base.session.names.name);
    rtmfp_write_body(n->peer, n->control, RTMP_COMMAND, &body);
}

/* ---- end */

static void close_flows(struct rtmfp_netstream *n)
{
    struct rtmfp_flow_out *const flows[] = { n->control, n->audio, n->video };

    for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
        if (flows[i])
            rtmfp_flow_out_close(flows[i]);
    }
}

/* Frees the stream and notifies the code that waits for its end. */
static void release(struct rtmfp_netstream *n)
{
    struct rtmfp_peer *p = n->peer;

    LIST_CUT(&p->connection->streams, n);
    close_flows(n);
    datagram_client_part(&n->base);
    datagram_client_fini(&n->base);
    free(n);
    rtmfp_peer_touch(p);
    if (p->closing)
        rtmfp_peer_close(p, NULL);
}

static void close_player(struct datagram_client *c, err_t why)
{
    struct rtmfp_netstream *n = container_of(c, struct rtmfp_netstream, base);

    rtmfp_play_end(n, why);
    if (n->control)
        rtmfp_netstream_status(n, RTMP_PLAY_STOP, NULL);
    session_log_end(&n->base.session, &why);
    release(n);
}

void rtmfp_netstream_end(struct rtmfp_netstream *n, err_t why)
{
    datagram_client_state(&n->base, DATAGRAM_ENDING);
    co_set_cid(n->base.cid);
    session_log_as_client(n->base.session.env, n->base.session.names.ip);
    close_player(&n->base, why);
}

static err_t closed_by_client(void)
{
    return err_new(ERR_IO_CLOSED, "the client closed its stream");
}

void rtmfp_netstream_close(struct rtmfp_netstream *n, bool fc)
{
    n->fc = fc;
    if (n->remote)
        rtmfp_publish_remote_close(n->remote);
    else if (n->publish)
        rtmfp_publish_close(n->publish);
    else
        datagram_client_close(&n->base, closed_by_client());
}

/* Closes the whole connection, as with RTMP over TCP: otherwise the client would return at once. */
static void on_kick(struct session *s)
{
    struct rtmfp_netstream *n = container_of(s, struct rtmfp_netstream, base.session);

    rtmfp_peer_close(n->peer, err_new(ERR_KICKED, "%s", s->names.ip));
}

/* ---- begin */

struct rtmfp_netstream *rtmfp_netstream_find(const struct rtmfp_connection *c, uint32_t number)
{
    for (struct rtmfp_netstream *n = c->streams; n; n = n->next) {
        if (n->number == number && n->base.state != DATAGRAM_ENDING)
            return n;
    }
    return NULL;
}

/* Copies the strings of its request: the vhost of the connection may change meanwhile. */
static err_t set_names(struct rtmfp_netstream *n, const struct rtmfp_connection *c,
                       const char *name)
{
    const struct session_stream *from = &c->base.names;
    struct session_stream *names = &n->base.session.names;
    struct rtmp_url url;
    err_t err = rtmp_url_resolve(&url, from->tc_url, name);

    if (err)
        return err;
    n->base.names = must_print("%s%c%s%c%s%c%s", url.param, '\0', from->tc_url, '\0',
                               from->page_url, '\0', from->swf_url);
    names->param = n->base.names;
    names->tc_url = names->param + strlen(names->param) + 1;
    names->page_url = names->tc_url + strlen(names->tc_url) + 1;
    names->swf_url = names->page_url + strlen(names->page_url) + 1;
    if (url.stream[0])
        err = session_find_stream(&n->base.session, url.vhost, url.app, url.stream);
    else
        err = err_new(ERR_RTMP_CONNECT, "the stream has no name");
    rtmp_url_free(&url);
    return err;
}

static bool is_on_demand(const struct rtmfp_netstream *n)
{
    const struct session *s = &n->base.session;
    char path[VOD_PATH_MAX];

    return s->env->vod && vod_is_file(s->vhost, s->names.app, s->names.name, path);
}

/* Checks whether this worker may serve the stream over RTMFP. */
static err_t settle(struct rtmfp_netstream *n)
{
    const struct conf_vhost *vhost = n->base.session.vhost;

    if (!vhost->rtmfp.enabled)
        return err_new(ERR_VHOST_DISABLED, "vhost %s has no RTMFP: rtmfp { enabled on; }",
                       vhost->name);
    if (is_on_demand(n))
        return err_new(ERR_DENIED, "%s/%s is the name of a VOD file, which RTMFP does not serve",
                       n->base.session.names.app, n->base.session.names.name);
    return NULL;
}

static void refuse(struct rtmfp_netstream *n, bool publishes, err_t why)
{
    enum err_code code = err_code(why);
    bool taken = code == ERR_STREAM_BUSY || code == ERR_REPLACED;
    enum rtmp_status status = publishes ? taken ? RTMP_PUBLISH_BAD_NAME : RTMP_PUBLISH_DENIED
                              : code == ERR_NO_FILE ? RTMP_PLAY_NOT_FOUND : RTMP_PLAY_FAILED;

    rtmfp_netstream_status(n, status, NULL);
}

/* The coroutine is about to return. A client kicked during a call loses everything it has. */
static void finish(struct rtmfp_netstream *n, err_t err)
{
    datagram_client_state(&n->base, DATAGRAM_ENDING);
    if (!err)
        err = closed_by_client();
    if (err_code(err) == ERR_KICKED)
        rtmfp_peer_close(n->peer, err_copy(err));
    session_log_end(&n->base.session, &err);
    release(n);
}

void rtmfp_netstream_active(struct rtmfp_netstream *n)
{
    const struct rtmfp_event e = { .id = RTMP_STREAM_BEGIN, .value = n->number };
    uint8_t body[RTMFP_EVENT_MAX];

    datagram_client_state(&n->base, DATAGRAM_ACTIVE);
    rtmfp_peer_media(n->peer, true);
    rtmfp_netstream_write(n, RTMP_USER_CONTROL, 0, body, rtmfp_event_write(&e, body));
}

void rtmfp_netstream_published(struct rtmfp_netstream *n)
{
    rtmfp_netstream_active(n);
    rtmfp_netstream_status(n, RTMP_PUBLISH_START, NULL);
}

void rtmfp_netstream_unpublished(struct rtmfp_netstream *n)
{
    struct wr body;

    datagram_client_state(&n->base, DATAGRAM_ENDING);
    rtmfp_peer_media(n->peer, false);
    if (n->fc) { /* FCUnpublish is answered now */
        wr_init(&body, RTMFP_REPLY_MAX);
        rtmp_reply_fc(&body, RTMP_UNPUBLISH_SUCCESS);
        rtmfp_write_body(n->peer, n->control, RTMP_COMMAND, &body);
    }
    rtmfp_netstream_status(n, RTMP_UNPUBLISH_SUCCESS, NULL);
}

/* Runs a publisher until its end. An error before it is admitted is sent to the client. */
static void publish(struct rtmfp_netstream *n, err_t err)
{
    unsigned owner = n->base.session.env->worker;

    if (!err)
        err = settle(n);
    if (!err)
        owner = session_goes_to(&n->base.session, true);
    if (!err)
        err = owner == n->base.session.env->worker ? rtmfp_publish_run(n)
                                                  : rtmfp_publish_remote_run(n, owner);
    if (err && n->base.state == DATAGRAM_ADMITTING)
        refuse(n, true, err);
    finish(n, err);
}

/* A player needs no coroutine once it is admitted. */
static void play(struct rtmfp_netstream *n, err_t err)
{
    if (!err)
        err = settle(n); /* it stays at this worker, which gets a replica of the stream */
    if (!err)
        err = rtmfp_play_begin(n);
    if (err) {
        refuse(n, false, err);
        finish(n, err);
        return;
    }
    err = co_check();
    n->base.session.co = NULL;
    if (err)
        rtmfp_netstream_end(n, err);
}

static err_t stream_main(void *stream)
{
    struct rtmfp_netstream *n = stream;
    const struct session_stream *names = &n->base.session.names;
    bool publishes = n->base.publishes;

    co_new_cid();
    (void)snprintf(n->base.cid, sizeof(n->base.cid), "%s", co_cid());
    session_log_as_client(n->base.session.env, names->ip);
    session_begin(&n->base.session);
    log_trace("client identified, type=%s, vhost=%s, app=%s, stream=%s, param=%s, session=%s",
              clients_type_name(publishes ? CLIENTS_RTMFP_PUBLISH : CLIENTS_RTMFP_PLAY),
              names->vhost, names->app, names->name, log_param(names->param), n->peer->cid);
    if (publishes)
        publish(n, co_check());
    else
        play(n, co_check());
    return NULL;
}

static const struct datagram_client_ops ops = {
    .close = close_player, .sampled = SAMPLED_RTMFP_PLAY, .changed = rtmfp_play_changed,
    .check = rtmfp_play_check, .log_sample = rtmfp_play_log_sample,
};

static struct rtmfp_netstream *netstream_new(struct rtmfp_connection *c, struct rtmfp_flow_in *f,
                                             uint32_t number, bool publishes)
{
    struct rtmfp_netstream *n = must(calloc(1, sizeof(*n)));
    uint8_t metadata[RTMFP_FLOW_METADATA_MAX];
    size_t size = rtmfp_flow_metadata_build(number, metadata);

    datagram_client_init(&n->base, c->base.env);
    (void)snprintf(n->base.ip, sizeof(n->base.ip), "%s", c->ip);
    n->base.session.on_kick = on_kick;
    n->base.session.detail = &rtmfp_client_detail;
    n->base.ops = &ops;
    n->base.publishes = publishes;
    datagram_client_enter(&n->base, &c->peer->service->base);
    n->play.no_opus = !c->opus;
    n->peer = c->peer;
    n->number = number;
    n->from = f;
    n->control = rtmfp_flow_open(&c->peer->session, rtmfp_bytes(metadata, size), f, RTMFP_COMMANDS);
    n->next = c->streams;
    c->streams = n;
    return n;
}

static unsigned count(const struct rtmfp_connection *c)
{
    unsigned n = 0;

    for (const struct rtmfp_netstream *s = c->streams; s; s = s->next)
        n++;
    return n;
}

void rtmfp_netstream_begin(struct rtmfp_connection *c, struct rtmfp_flow_in *f, uint32_t number,
                           const char *name, bool publishes)
{
    struct co_group *group = c->base.env->connections;
    struct rtmfp_netstream *n;
    err_t err;

    if (count(c) >= RTMFP_NETSTREAMS_MAX) {
        rtmfp_peer_hostile(c->peer, "too many streams at one time");
        return;
    }
    n = netstream_new(c, f, number, publishes);
    err = set_names(n, c, name);
    if (!err)
        err = co_go(group, "rtmfp", stream_main, n);
    if (!err) {
        n->base.session.co = co_newest(group);
        return;
    }
    refuse(n, publishes, err);
    log_end("identify", &err);
    release(n);
}
