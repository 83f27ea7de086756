/* SPDX-License-Identifier: MIT */
/* file.c - an RTSP player of a file: admission, description, playback, parameters. */
#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "format/rtp/formats.h"
#include "proto/rtsp/range.h"
#include "serve/rtsp/file.h"
#include "vod/wires.h"
#include "wire/rtsp_describe.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PARAMETER_MAX = 32 };

/* Limits of Scale in thousandths: slower playback is left to the player's buffers, and faster video
 * is not watchable. */
enum { SCALE_MIN = 500, SCALE_MAX = 4000, SCALE_AUDIO = 2000, ONE = VOD_SCALE_1 };

struct rtsp_file {
    struct vod_file *file;
    struct vod_feed feed;    /* open once the file was played */
    struct vod_wire_use use; /* for the tracks that were set up at the last PLAY */
    int64_t end;             /* end of the last requested range, 1/90000 s; INT64_MAX: end of the
                              * file */
    int scale;               /* current scale in thousandths; 0: never played */
    bool ended;              /* ended, and not played again since */
};

/* Converts 1/90000 s to microseconds. */
static int64_t us_of(int64_t ticks)
{
    return ticks > 0 ? ticks * 100 / 9 : 0;
}

static int64_t duration_of(const struct rtsp_file *f)
{
    return vod_file_info(f->file)->duration;
}

static int64_t end_of(const struct rtsp_file *f)
{
    return f->end < INT64_MAX ? f->end : duration_of(f);
}

/* Position in the file; the end once everything is sent, although the player may still be
 * behind. */
static int64_t position_of(const struct rtsp_file *f)
{
    if (f->scale == 0)
        return 0;
    return f->ended && !vod_feed_failed(&f->feed) ? end_of(f) : vod_feed_position(&f->feed);
}

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
        err = err_new(ERR_UNSUPPORTED, "RTP supports no track of %s", path);
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

/* ---- description */

void rtsp_file_tracks(const struct rtsp_file *f, struct rtp_wire_track out[RTP_WIRE_N])
{
    vod_rtp_tracks(f->file, out);
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        if (!rtp_format_of(out[i].codec))
            out[i].codec = AV_CODEC_NONE;
    }
}

/* The rate of the file is known only as a whole, so it applies to a track only if it is the only
 * one. */
static void rates_of(const struct rtsp_file *f, const struct rtp_wire_track tracks[RTP_WIRE_N],
                     unsigned kbits[RTP_WIRE_N])
{
    const struct demux_info *info = vod_file_info(f->file);
    const bool single = !info->tracks[DEMUX_VIDEO].codec || !info->tracks[DEMUX_AUDIO].codec;

    for (unsigned i = 0; i < RTP_WIRE_N; i++)
        kbits[i] = single && tracks[i].codec ? info->kbps : 0;
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
        .duration = us_of(vod_file_info(c->file->file)->duration) / 1000 },
        tracks, kbits, sdp);
}

/* ---- parameters: RFC 2326 10.8 */

/* Reads the next name of the list, one per line with an optional colon; "" at the end. */
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

void rtsp_file_parameters(struct rtsp_exchange *x, int *status)
{
    const char *p = (const char *)x->req->body, *end = p + x->req->size;
    int64_t ms = us_of(position_of(x->c->file)) / 1000;
    char name[PARAMETER_MAX];
    struct wr body;
    bool found = false;

    for (p = next_name(p, end, name); name[0]; p = next_name(p, end, name)) {
        if (strcasecmp(name, "position") != 0) {
            *status = 451;
            return;
        }
        found = true;
    }
    if (!found)
        return;
    wr_init(&body, 64);
    wr_printf(&body, "position: %lld.%03lld\r\n", (long long)(ms / 1000), (long long)(ms % 1000));
    rtsp_exchange_put(x, 200);
    rtsp_put_field(x->w, "Content-Type", "text/parameters");
    rtsp_put_body(x->w, body.buf, body.len);
    wr_free(&body);
}

/* ---- PLAY: range and speed; the end */

/* A parsed PLAY. */
struct play_request {
    bool seeks;       /* seeks to `from`; otherwise it continues at the current position */
    int64_t from, to; /* 1/90000 s; INT64_MAX: the end of the file */
    int scale, speed; /* the values in force, in thousandths */
    bool scaled, sped; /* the request has Scale, Speed */
};

/* ---- parsing */

/* Rounds to the millisecond, as in our responses: for a key frame at 9.9605 s we report 9.960. */
static int64_t ticks_of(int64_t us)
{
    return us * 9 / 100 + 89;
}

/* Defaults without a Range: continue at the current position. At the end of the file it starts
 * again. */
static void set_defaults(const struct rtsp_file *f, struct play_request *w)
{
    *w = (struct play_request){ .seeks = !f->scale || f->ended,
                                .to = f->scale ? f->end : INT64_MAX };
    if (f->ended && f->end < duration_of(f))
        w->from = f->end;
    if (f->ended)
        w->to = INT64_MAX;
}

/* Parses Range, RFC 2326 12.29. */
static int read_range(const struct rtsp_file *f, const char *text, struct play_request *w)
{
    int64_t all = duration_of(f);
    struct rtsp_range r;

    if (!rtsp_range_parse(text, &r) || r.unit != RTSP_RANGE_NPT)
        return 457;
    if (r.begin == RTSP_RANGE_NOW) {
        if (!w->seeks)
            w->from = position_of(f);
        if (r.end != RTSP_RANGE_OPEN)
            w->to = ticks_of(r.end);
        w->seeks |= r.end != RTSP_RANGE_OPEN;
        return w->from <= w->to ? 0 : 457;
    }
    w->seeks = true;
    w->to = INT64_MAX;
    if (r.begin == RTSP_RANGE_OPEN) { /* the last seconds of the file */
        w->from = all - r.end * 9 / 100;
        if (w->from < 0)
            w->from = 0;
        return 0;
    }
    w->from = r.begin > 0 ? ticks_of(r.begin) : 0;
    if (r.end != RTSP_RANGE_OPEN)
        w->to = ticks_of(r.end);
    return r.begin <= us_of(all) ? 0 : 457;
}

/* Parses a rate; without the field it is 1. Returns false if it is not a number. */
static bool read_rate(const char *text, int limit, int *out)
{
    int v;

    *out = ONE;
    if (!text)
        return true;
    if (!rtsp_rate_parse(text, &v))
        return false;
    if (v >= 0)
        *out = v < SCALE_MIN ? SCALE_MIN : v > limit ? limit : v;
    return true;
}

/* Parses Scale and Speed, RFC 2326 12.34 and 12.35. Playing backwards is not supported. Without
 * video no frames can be left out, so the limit for audio alone is lower. */
static int read_rates(const struct rtsp_exchange *x, struct play_request *w)
{
    const char *scale = rtsp_message_field(x->req, "Scale");
    const char *speed = rtsp_message_field(x->req, "Speed");
    int limit = x->session->tracks[DEMUX_VIDEO].url ? SCALE_MAX : SCALE_AUDIO;

    w->scaled = scale;
    w->sped = speed;
    return read_rate(scale, limit, &w->scale) && read_rate(speed, SCALE_MAX, &w->speed) ? 0 : 400;
}

static int parse(const struct rtsp_exchange *x, struct play_request *w)
{
    const struct rtsp_file *f = x->c->file;
    const char *range = rtsp_message_field(x->req, "Range");
    int status;

    set_defaults(f, w);
    status = range ? read_range(f, range, w) : 0;
    if (!status)
        status = read_rates(x, w);
    if (!w->seeks && w->scale != f->scale) {
        w->seeks = true;
        w->from = position_of(f);
    }
    return status;
}

/* ---- execution */

static struct vod_wire_use use_of(const struct rtsp_conn *c, const struct rtsp_session *session)
{
    uint32_t tracks = rtsp_play_tracks(session);

    return (struct vod_wire_use){
        .wire = &vod_wire_rtp, .tracks = tracks & (VOD_TRACKS_VIDEO | VOD_TRACKS_AUDIO),
        .param = { [RTP_WIRE_MTU] = (uint32_t)c->base.conf->rtsp_server.mtu,
                   [RTP_WIRE_SEED] = rtp_wire_seed(live_source_name(c->base.src)),
                   [RTP_WIRE_TRACKS] = tracks },
    };
}

static bool same_use(const struct vod_wire_use *x, const struct vod_wire_use *b)
{
    return x->tracks == b->tracks && memcmp(x->param, b->param, sizeof(x->param)) == 0;
}

/* Applies the tracks that are set up now. Returns true if they changed, so playback must be
 * positioned again. */
static bool set_use(struct rtsp_conn *c, const struct rtsp_session *session)
{
    struct rtsp_file *f = c->file;
    struct vod_wire_use use = use_of(c, session);

    if (f->scale && same_use(&use, &f->use))
        return false;
    if (f->scale)
        vod_feed_use(&f->feed, &use);
    else
        vod_feed_open(&f->feed, f->file, &(struct vod_feed_setup){
            .use = use, .loop = c->base.vhost->vod.loop });
    f->use = use;
    c->opened = true;
    return true;
}

/* Starts playback and returns the position of its start. */
static int64_t start_at(struct rtsp_conn *c, const struct play_request *w)
{
    struct rtsp_file *f = c->file;

    f->ended = false;
    f->scale = w->scale;
    f->end = w->to < duration_of(f) ? w->to : INT64_MAX;
    session_player_open_feed(&c->player, &f->feed.feed);
    io_tcp_nodelay(c->base.io, true); /* the first media must not wait for the response */
    return vod_feed_play(&f->feed, w->from, f->end, w->scale);
}

static void log_play(const struct rtsp_file *f, const struct play_request *w, int64_t begin)
{
    if (w->seeks)
        log_trace("RTSP client plays %s from %lld ms to %lld ms, scale=%d/1000",
                  vod_file_name(f->file), us_to_ms(us_of(begin)),
                  us_to_ms(us_of(end_of(f))), f->scale);
    else
        log_trace("RTSP client continues %s at %lld ms", vod_file_name(f->file),
                  us_to_ms(us_of(begin)));
}

static void put_rate(struct wr *w, const char *name, int rate)
{
    rtsp_put_name(w, name);
    rtsp_rate_put(w, rate);
    rtsp_put_line_end(w);
}

/* Writes the response. Playback to the end of the file gets no end in Range; the description has
 * it. GStreamer sets a timer by the end in Range, which sometimes fires at a seek and ends
 * playback. */
static void put_answer(struct rtsp_exchange *x, const struct play_request *w, int64_t begin,
                       bool starts)
{
    struct rtsp_file *f = x->c->file;
    int64_t to = f->end < INT64_MAX ? f->end : 0;
    struct rtp_wire_start start[RTP_WIRE_N];

    rtsp_exchange_put(x, 200);
    rtsp_put_name(x->w, "Range");
    rtsp_range_put(x->w, &(struct rtsp_range){
        .begin = us_of(begin), .end = to > begin ? us_of(to) : RTSP_RANGE_OPEN });
    rtsp_put_line_end(x->w);
    if (w->scaled || f->scale != ONE)
        put_rate(x->w, "Scale", f->scale);
    if (w->sped)
        put_rate(x->w, "Speed", w->speed);
    if (starts) {
        vod_rtp_start(&f->feed, start);
        rtsp_play_put_info(x, start);
    }
    rtsp_put_body(x->w, NULL, 0);
}

err_t rtsp_file_play(struct rtsp_exchange *x, int *status)
{
    struct rtsp_conn *c = x->c;
    bool ready = x->session->state == RTSP_READY;
    struct play_request w;
    int64_t begin;

    *status = parse(x, &w);
    if (*status)
        return NULL;
    if (set_use(c, x->session) && !w.seeks) {
        w.seeks = true;
        w.from = position_of(c->file);
    }
    live_sender_pause(&c->player.sender, false);
    vod_feed_speed(&c->file->feed, w.speed);
    begin = w.seeks ? start_at(c, &w) : position_of(c->file);
    log_play(c->file, &w, begin);
    rtsp_session_accepted(x->session, RTSP_PLAY);
    put_answer(x, &w, begin, ready || w.seeks);
    rtsp_play_start_media(x);
    return NULL;
}

void rtsp_file_tracks_changed(struct rtsp_conn *c)
{
    struct rtsp_file *f = c->file;
    struct play_request w = { .from = position_of(f), .to = f->end, .scale = f->scale };

    if (set_use(c, c->flowing) && !f->ended)
        (void)start_at(c, &w);
}

void rtsp_file_pause(const struct rtsp_conn *c)
{
    if (!c->file->ended)
        log_trace("RTSP client pauses %s at %lld ms", vod_file_name(c->file->file),
                  us_to_ms(us_of(position_of(c->file))));
}

void rtsp_file_ended(struct rtsp_conn *c)
{
    struct rtsp_file *f = c->file;

    f->ended = true;
    log_trace("RTSP client %s %s, at %lld ms", vod_feed_failed(&f->feed) ? "gets no more of"
              : "was sent all of", vod_file_name(f->file),
              us_to_ms(us_of(position_of(f))));
    rtsp_session_accepted(c->flowing, RTSP_PAUSE);
    live_sender_pause(&c->player.sender, true);
    c->player.sender.done = false;
}

/* ---- log */

void rtsp_file_log_sample(const struct session_player *p, co_usec now)
{
    const struct rtsp_conn *c = container_of(p, struct rtsp_conn, player);
    const struct session *s = p->s;

    log_always(LOG_TRACE, "%s rtsp-vod time=%lld, file=%s, at=%lld, scale=%d, msgs=%llu, okbps="
               KBPS_FMT ", ikbps=" KBPS_FMT, sampled_name(SAMPLED_PLAY),
               us_to_ms(now - s->began_at), vod_file_name(c->file->file),
               us_to_ms(us_of(position_of(c->file))), c->file->scale,
               (unsigned long long)live_sender_pending(&p->sender), KBPS_ARGS(&s->out_kbps),
               KBPS_ARGS(&s->in_kbps));
}
