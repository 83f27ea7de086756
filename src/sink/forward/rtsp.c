/* SPDX-License-Identifier: MIT */
/* rtsp.c - forwards a stream to one destination over RTSP: ANNOUNCE, SETUP, RECORD, then the bytes
 * that RTSP players share. RFC 2326 sections 10.3 and 10.11. */
#include "sink/forward/session.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "proto/rtsp/call.h"
#include "wire/rtp.h"
#include "wire/rtsp_describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Timeouts: for connecting and for each response; for the tracks of a stream that has just started;
 * and for the response to TEARDOWN. */
#define ANSWER CO_SECONDS(5)
#define TRACKS CO_SECONDS(5)
#define LAST_WORDS CO_MS(500)

enum { SDP_MAX = 64 * 1024 };

/* One attempt. */
struct pushing {
    struct forward *f;
    struct rtsp_call call;
    struct rtsp_call_setup setup;
    unsigned tracks; /* bits of the sent tracks */
};

/* ---- offering the stream */

static err_t announce(struct pushing *p)
{
    static const struct rtsp_extra type[] = { { "Content-Type", "application/sdp" } };
    const struct session *s = &p->f->session;
    const struct sdp_session_out what = {
        .id = (uint64_t)co_wall_ms(), .version = 1, .name = s->names.name, .duration = -1 };
    struct wr sdp;
    err_t err;

    wr_init(&sdp, SDP_MAX);
    rtsp_describe_live(p->f->src, &what, &sdp);
    p->tracks = rtsp_describe_tracks(p->f->src);
    err = wr_err(&sdp, "a description");
    if (!err)
        err = rtsp_call_request(&p->call, &(struct rtsp_request){
            .method = RTSP_ANNOUNCE, .more = type,
            .n = 1, .body = sdp.buf, .size = sdp.len }, NULL);
    wr_free(&sdp);
    return err;
}

/* All RTSP clients share the bytes of the stream, so the channel numbers cannot change. */
static err_t check_channels(const struct rtsp_message *answer, int channel)
{
    const char *text = rtsp_message_field(answer, "Transport");
    struct rtsp_transport said[RTSP_OFFERS_MAX];
    size_t n = 0;

    rtsp_transport_parse(text ? text : "", said, &n);
    if (n > 0 && (said[0].lower != RTSP_TCP ||
                  (said[0].channels.rtp >= 0 && said[0].channels.rtp != channel)))
        return err_new(ERR_RTSP, "SETUP: unexpected Transport \"%.80s\"", text);
    return NULL;
}

static err_t set_up(struct pushing *p, unsigned track)
{
    char transport[80], control[16];
    const struct rtsp_extra more[] = { { "Transport", transport } };
    const struct rtsp_message *answer;
    char *url;
    err_t err;

    (void)snprintf(transport, sizeof(transport),
                   "RTP/AVP/TCP;unicast;interleaved=%u-%u;mode=record", track * 2, track * 2 + 1);
    (void)snprintf(control, sizeof(control), "trackID=%u", track);
    url = rtsp_url_join(p->call.client.location.url, control);
    p->call.reader.frames = true;
    rtsp_reader_add_channel(&p->call.reader, (uint8_t)(track * 2 + 1));
    err = rtsp_call_request(&p->call, &(struct rtsp_request){ .method = RTSP_SETUP, .url = url,
                                                      .more = more, .n = 1 }, &answer);
    if (!err)
        err = check_channels(answer, (int)track * 2);
    free(url);
    return err;
}

static err_t ask_to_record(struct pushing *p)
{
    static const struct rtsp_extra range[] = { { "Range", "npt=0.000-" } };
    err_t err = rtsp_call_request(&p->call, &(struct rtsp_request){ .method = RTSP_OPTIONS }, NULL);

    if (err_code(err) == ERR_RTSP_REFUSED)
        err_free(&err);
    if (!err)
        err = announce(p);
    for (unsigned i = 0; i < RTP_WIRE_N && !err; i++) {
        if (p->tracks & 1u << i)
            err = set_up(p, i);
    }
    if (!err)
        err = rtsp_call_request(&p->call, &(struct rtsp_request){ .method = RTSP_RECORD,
            .url = p->call.client.location.url, .more = range, .n = 1 }, NULL);
    return err;
}

/* ---- sending */

/* Reads receiver reports and keepalive requests of the destination. */
static err_t on_readable(struct session_player *player)
{
    struct forward *f = container_of(player, struct forward, player);
    struct pushing *p = f->pushing;
    struct rtsp_item item = { .kind = RTSP_ITEM_NONE };
    size_t n;
    err_t err = rtsp_reader_fill(&p->call.reader, false, &n);

    do {
        if (!err)
            err = rtsp_reader_take(&p->call.reader, &item);
        if (!err && item.kind == RTSP_ITEM_MESSAGE)
            err = rtsp_call_received(&p->call, item.message);
        co_yield_if_due();
    } while (!err && item.kind != RTSP_ITEM_NONE);
    rtsp_reader_trim(&p->call.reader);
    return err;
}

static void say_goodbye(struct forward *f)
{
    struct pushing *p = f->pushing;
    bool held = co_stop_hold();
    err_t err;

    p->call.io->write_timeout = p->setup.answer = LAST_WORDS;
    err = rtsp_call_request(&p->call, &(struct rtsp_request){ .method = RTSP_TEARDOWN,
        .url = p->call.client.location.url }, NULL);
    err_free(&err); /* a destination that does not read it sees the connection close */
    co_stop_resume(held);
}

static err_t send_stream(struct pushing *p)
{
    const uint32_t param[LIVE_PARAMS] = {
        [RTP_WIRE_TRACKS] = p->tracks,
        [RTP_WIRE_MTU] = (uint32_t)p->f->session.conf->rtsp_server.mtu,
        [RTP_WIRE_SEED] = rtp_wire_seed(live_source_name(p->f->src)),
    };

    return forward_send(p->f, &rtp_wire, param, on_readable, say_goodbye);
}

static err_t converse(struct pushing *p)
{
    enum rtsp_described found;
    err_t err = rtsp_describe_wait(p->f->src, TRACKS, &found);

    if (!err && rtsp_describe_tracks(p->f->src) == 0)
        err = err_new(ERR_UNSUPPORTED, "%s has no track that RTP can carry",
                      live_source_name(p->f->src));
    if (!err)
        err = ask_to_record(p);
    co_stack_trim();
    if (err)
        return err;
    p->f->session.io = p->call.io;
    err = send_stream(p);
    p->f->session.io = NULL;
    return err;
}

err_t forward_by_rtsp(struct forward *f)
{
    const struct conf_forward *set = &f->session.vhost->forward;
    struct pushing p = {
        .f = f,
        .setup = { .agent = f->session.env->signature, .connect = ANSWER, .answer = ANSWER,
                   .trust = { .any = !set->tls_verify, .ca = set->tls_ca } },
    };
    err_t err = rtsp_call_init(&p.call, f->url, &p.setup);

    if (err)
        return err;
    f->pushing = &p;
    err = converse(&p);
    f->pushing = NULL;
    rtsp_call_fini(&p.call);
    return err;
}
