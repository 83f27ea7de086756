/* SPDX-License-Identifier: MIT */
/* file.c - a client that plays a file: admitted, described, sent, asked about. */
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

/* Slower than this a player's buffers have it; faster than that nobody sees a picture. */
enum { SCALE_LEAST = 500, SCALE_MOST = 4000, SCALE_AUDIO = 2000, ONE = VOD_SCALE_1 };

struct rtsp_file {
    struct vod_file *file;
    struct vod_feed feed;    /* once it was played */
    struct vod_wire_use use; /* by the tracks that were set up then */
    int64_t end;             /* of what was asked for last, 1/90000 s; INT64_MAX: of the file */
    int scale;               /* in force, thousandths; 0: it was never played */
    bool ended;              /* and not played again since */
};

/* 1/90000 s in microseconds. */
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

/* Its player is not there yet when all is sent: what was sent to its end is at it. */
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
        .duration = us_of(vod_file_info(c->file->file)->duration) / 1000 },
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
    int64_t ms = us_of(position_of(a->c->file)) / 1000;
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

/* ---- PLAY: from where, to where, how fast; and the end */

/* What PLAY asks for. */
struct wish {
    bool moves;       /* to `from`; else it goes on where it is */
    int64_t from, to; /* 1/90000 s; INT64_MAX: the end of the file */
    int scale, speed; /* that it gets, thousandths */
    bool scaled, sped; /* it names Scale, Speed */
};

/* ---- what is asked for */

/* To the millisecond, as we say where it is: of a key frame at 9.9605 s we say 9.960. */
static int64_t ticks_of(int64_t us)
{
    return us * 9 / 100 + 89;
}

/* Where it goes on if nothing is said of that: where it is. What has come to the end of its file
 * begins again. */
static void go_on(const struct rtsp_file *f, struct wish *w)
{
    *w = (struct wish){ .moves = !f->scale || f->ended, .to = f->scale ? f->end : INT64_MAX };
    if (f->ended && f->end < duration_of(f))
        w->from = f->end;
    if (f->ended)
        w->to = INT64_MAX;
}

/* RFC 2326 12.29. */
static int read_range(const struct rtsp_file *f, const char *text, struct wish *w)
{
    int64_t all = duration_of(f);
    struct rtsp_range r;

    if (!rtsp_range_parse(text, &r) || r.unit != RTSP_RANGE_NPT)
        return 457;
    if (r.begin == RTSP_RANGE_NOW) {
        if (!w->moves)
            w->from = position_of(f);
        if (r.end != RTSP_RANGE_OPEN)
            w->to = ticks_of(r.end);
        w->moves |= r.end != RTSP_RANGE_OPEN;
        return w->from <= w->to ? 0 : 457;
    }
    w->moves = true;
    w->to = INT64_MAX;
    if (r.begin == RTSP_RANGE_OPEN) { /* the last seconds of it */
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

/* Without the field it is 1. False: it is no number. */
static bool read_rate(const char *text, int most, int *out)
{
    int v;

    *out = ONE;
    if (!text)
        return true;
    if (!rtsp_rate_parse(text, &v))
        return false;
    if (v >= 0)
        *out = v < SCALE_LEAST ? SCALE_LEAST : v > most ? most : v;
    return true;
}

/* RFC 2326 12.34, 12.35. Backwards is not there. Without sound and pictures apart there is nothing
 * to leave out, so sound alone is never sent faster than all of it may be. */
static int read_rates(const struct rtsp_asked *a, struct wish *w)
{
    const char *scale = rtsp_message_field(a->req, "Scale");
    const char *speed = rtsp_message_field(a->req, "Speed");
    int most = a->session->tracks[DEMUX_VIDEO].url ? SCALE_MOST : SCALE_AUDIO;

    w->scaled = scale;
    w->sped = speed;
    return read_rate(scale, most, &w->scale) && read_rate(speed, SCALE_MOST, &w->speed) ? 0 : 400;
}

static int understand(const struct rtsp_asked *a, struct wish *w)
{
    const struct rtsp_file *f = a->c->file;
    const char *range = rtsp_message_field(a->req, "Range");
    int status;

    go_on(f, w);
    status = range ? read_range(f, range, w) : 0;
    if (!status)
        status = read_rates(a, w);
    if (!w->moves && w->scale != f->scale) {
        w->moves = true;
        w->from = position_of(f);
    }
    return status;
}

/* ---- done */

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

static bool same_use(const struct vod_wire_use *a, const struct vod_wire_use *b)
{
    return a->tracks == b->tracks && memcmp(a->param, b->param, sizeof(a->param)) == 0;
}

/* The tracks that are set up now. True: they are others than before, so it has to be placed. */
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

/* Gives where it begins. */
static int64_t place(struct rtsp_conn *c, const struct wish *w)
{
    struct rtsp_file *f = c->file;

    f->ended = false;
    f->scale = w->scale;
    f->end = w->to < duration_of(f) ? w->to : INT64_MAX;
    session_player_open_feed(&c->player, &f->feed.feed);
    io_tcp_nodelay(c->base.io, true); /* its answer is not to hold back what it asks for */
    return vod_feed_play(&f->feed, w->from, f->end, w->scale);
}

static void log_play(const struct rtsp_file *f, const struct wish *w, int64_t begin)
{
    if (w->moves)
        log_trace("RTSP client plays %s from %lld ms to %lld ms, scale=%d/1000",
                  vod_file_name(f->file), us_to_ms(us_of(begin)),
                  us_to_ms(us_of(end_of(f))), f->scale);
    else
        log_trace("RTSP client goes on with %s at %lld ms", vod_file_name(f->file),
                  us_to_ms(us_of(begin)));
}

static void put_rate(struct wr *w, const char *name, int rate)
{
    rtsp_put_name(w, name);
    rtsp_rate_put(w, rate);
    rtsp_put_line_end(w);
}

/* What plays to the end of its file has no end here, the description has it: GStreamer sets a timer
 * by it, which goes off at a seek now and then, and that is the end for it. */
static void put_answer(struct rtsp_asked *a, const struct wish *w, int64_t begin, bool starts)
{
    struct rtsp_file *f = a->c->file;
    int64_t to = f->end < INT64_MAX ? f->end : 0;
    struct rtp_wire_start start[RTP_WIRE_N];

    rtsp_asked_put(a, 200);
    rtsp_put_name(a->w, "Range");
    rtsp_range_put(a->w, &(struct rtsp_range){
        .begin = us_of(begin), .end = to > begin ? us_of(to) : RTSP_RANGE_OPEN });
    rtsp_put_line_end(a->w);
    if (w->scaled || f->scale != ONE)
        put_rate(a->w, "Scale", f->scale);
    if (w->sped)
        put_rate(a->w, "Speed", w->speed);
    if (starts) {
        vod_rtp_start(&f->feed, start);
        rtsp_play_put_info(a, start);
    }
    rtsp_put_body(a->w, NULL, 0);
}

err_t rtsp_file_play(struct rtsp_asked *a, int *status)
{
    struct rtsp_conn *c = a->c;
    bool ready = a->session->state == RTSP_READY;
    struct wish w;
    int64_t begin;

    *status = understand(a, &w);
    if (*status)
        return NULL;
    if (set_use(c, a->session) && !w.moves) {
        w.moves = true;
        w.from = position_of(c->file);
    }
    live_sender_pause(&c->player.sender, false);
    vod_feed_speed(&c->file->feed, w.speed);
    begin = w.moves ? place(c, &w) : position_of(c->file);
    log_play(c->file, &w, begin);
    rtsp_session_accepted(a->session, RTSP_PLAY);
    put_answer(a, &w, begin, ready || w.moves);
    rtsp_play_flows(a);
    return NULL;
}

void rtsp_file_less(struct rtsp_conn *c)
{
    struct rtsp_file *f = c->file;
    struct wish w = { .from = position_of(f), .to = f->end, .scale = f->scale };

    if (set_use(c, c->flowing) && !f->ended)
        (void)place(c, &w);
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

/* ---- in the log */

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
