/* SPDX-License-Identifier: MIT */
/* file.c - a client that plays a file: let in, described, asked about. */
#include "serve/rtsp/file.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "format/rtp/formats.h"
#include "serve/rtsp/file_impl.h"
#include "wire/rtsp_describe.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PARAMETER_MAX = 32 };

bool rtsp_file_is(const struct rtsp_conn *c, char path[VOD_PATH_MAX])
{
    return c->base.env->vod &&
           vod_is_file(c->base.vhost, c->base.names.app, c->base.names.name, path);
}

static bool has_tracks(const struct rtsp_file *f)
{
    struct rtp_wire_track tracks[RTP_WIRE_N];

    rtsp_file_tracks(f, tracks);
    return tracks[0].codec || tracks[1].codec;
}

err_t rtsp_file_begin(struct rtsp_conn *c, const char *path)
{
    err_t err;

    c->base.on_demand = true;
    err = rtsp_play_begin(c);
    if (err) {
        c->base.on_demand = false;
        return err;
    }
    c->role = RTSP_PLAYER;
    c->file = must(calloc(1, sizeof(*c->file)));
    err = vod_file_open(&c->file->file, c->base.env->vod, c->base.vhost, path);
    if (!err && !has_tracks(c->file))
        err = err_new(ERR_UNSUPPORTED, "RTP carries nothing of %s", path);
    return err;
}

void rtsp_file_end(struct rtsp_conn *c)
{
    struct rtsp_file *f = c->file;

    c->base.on_demand = false;
    if (!f)
        return;
    c->player.sender.feed = NULL;
    vod_feed_close(&f->feed);
    (void)vod_file_unref(f->file);
    free(f);
    c->file = NULL;
}

/* ---- described */

void rtsp_file_tracks(const struct rtsp_file *f, struct rtp_wire_track out[RTP_WIRE_N])
{
    vod_rtp_tracks(f->file, out);
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        if (!rtp_format_of(out[i].codec))
            out[i].codec = AV_CODEC_NONE;
    }
}

/* The rate of the whole file is that of a track which is alone in it. */
static void rates_of(const struct rtsp_file *f, const struct rtp_wire_track tracks[RTP_WIRE_N],
                     unsigned kbits[RTP_WIRE_N])
{
    const struct demux_info *info = vod_file_info(f->file);
    const bool alone = !info->tracks[DEMUX_VIDEO].codec || !info->tracks[DEMUX_AUDIO].codec;

    for (unsigned i = 0; i < RTP_WIRE_N; i++)
        kbits[i] = alone && tracks[i].codec ? info->kbps : 0;
}

void rtsp_file_describe(const struct rtsp_conn *c, struct wr *sdp)
{
    const struct session *s = &c->base;
    struct rtp_wire_track tracks[RTP_WIRE_N];
    unsigned kbits[RTP_WIRE_N];

    rtsp_file_tracks(c->file, tracks);
    rates_of(c->file, tracks, kbits);
    rtsp_describe_put(&(struct sdp_session_out){
        .id = (uint64_t)s->began_at, .version = 1, .name = s->names.name,
        .duration = rtsp_file_us(vod_file_info(c->file->file)->duration) / 1000 },
        tracks, kbits, sdp);
}

/* ---- parameters: RFC 2326 10.8 */

/* The next name of the list, one in a line, with or without a colon behind it; "" at the end. */
static const char *next_name(const char *p, const char *end, char name[PARAMETER_MAX])
{
    size_t n = 0;

    while (p < end && strchr(" \t\r\n:", *p) && *p)
        p++;
    while (p < end && (!strchr(" \t\r\n:", *p) || !*p)) {
        if (n < PARAMETER_MAX - 1)
            name[n++] = *p;
        p++;
    }
    name[n] = '\0';
    return p;
}

void rtsp_file_parameters(struct rtsp_asked *a, int *status)
{
    const char *p = (const char *)a->req->body, *end = p + a->req->size;
    int64_t ms = rtsp_file_us(rtsp_file_position(a->c->file)) / 1000;
    char name[PARAMETER_MAX];
    struct wr body;
    bool asked = false;

    for (p = next_name(p, end, name); name[0]; p = next_name(p, end, name)) {
        if (strcasecmp(name, "position") != 0) {
            *status = 451;
            return;
        }
        asked = true;
    }
    if (!asked)
        return;
    wr_init(&body, 64);
    wr_printf(&body, "position: %lld.%03lld\r\n", (long long)(ms / 1000), (long long)(ms % 1000));
    rtsp_asked_put(a, 200);
    rtsp_put_field(a->w, "Content-Type", "text/parameters");
    rtsp_put_body(a->w, body.buf, body.len);
    wr_free(&body);
}

/* ---- in the log */

void rtsp_file_log_sample(const struct session_player *p, co_usec now)
{
    const struct rtsp_conn *c = container_of(p, struct rtsp_conn, player);
    const struct session *s = p->s;

    log_always(LOG_TRACE, "%s rtsp-vod time=%lld, file=%s, at=%lld, scale=%d, msgs=%llu, okbps="
               KBPS_FMT ", ikbps=" KBPS_FMT, sampled_name(SAMPLED_PLAY),
               us_to_ms(now - s->began_at), vod_file_name(c->file->file),
               us_to_ms(rtsp_file_us(rtsp_file_position(c->file))), c->file->scale,
               (unsigned long long)live_sender_pending(&p->sender), KBPS_ARGS(&s->out_kbps),
               KBPS_ARGS(&s->in_kbps));
}
