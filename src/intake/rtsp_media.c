/* SPDX-License-Identifier: MIT */
/* rtsp_media.c - chooses the media of a description to use. */
#include "base/log.h"
#include "base/must.h"
#include "base/random_id.h"
#include "intake/rtsp_impl.h"

#include <stdlib.h>
#include <string.h>

enum { CLOCK_LEAST = 1000, CLOCK_MOST = 1000000, NOTE_MAX = 400 };

static bool kind_of(const struct sdp_media *m, enum av_kind *kind)
{
    *kind = m->kind == SDP_VIDEO ? AV_VIDEO : AV_AUDIO;
    return m->kind == SDP_VIDEO || m->kind == SDP_AUDIO;
}

/* Returns the RTP format of a payload type; NULL: not supported. */
static const struct rtp_format *format_of(enum av_kind kind, const struct sdp_format *f)
{
    const struct rtp_format *fmt = *f->name ? rtp_format_named(kind, f->name, strlen(f->name))
                                            : rtp_format_fixed(f->type);

    if (!fmt || av_codec_row(fmt->codec)->kind != kind)
        return NULL;
    if (f->clock != 0 && (f->clock < CLOCK_LEAST || f->clock > CLOCK_MOST))
        return NULL;
    return fmt;
}

static bool open_track(struct rtsp_intake *r, unsigned media, enum av_kind kind,
                       const struct sdp_format *f)
{
    struct rtsp_track *t = &r->tracks[r->n_tracks];
    const struct rtp_intake_medium m = { .fmt = format_of(kind, f), .clock = f->clock,
                                         .channels = f->channels,
                                         .fmtp = { f->fmtp, strlen(f->fmtp) } };
    unsigned number; /* the intake's track number: both count them in order */
    err_t err;

    if (!m.fmt)
        return false;
    err = rtp_intake_add(r->intake, &m, &number);
    if (err) {
        log_end("RTSP: a track that cannot be read", &err);
        return false;
    }
    *t = (struct rtsp_track){ .media = media, .kind = kind, .codec = m.fmt->codec,
                                 .type = f->type };
    r->media[media].track = t;
    r->n_tracks++;
    return true;
}

/* Uses the first supported payload type of the medium: cameras also offer tones and the like. */
static bool take_media(struct rtsp_intake *r, const struct sdp *s, unsigned media)
{
    const struct sdp_media *m = &s->media[media];
    enum av_kind kind;

    if (!kind_of(m, &kind))
        return false;
    for (unsigned i = 0; i < r->n_tracks; i++) {
        if (r->tracks[i].kind == kind)
            return false;
    }
    for (unsigned i = 0; i < m->n; i++) {
        if (open_track(r, media, kind, &m->formats[i]))
            return true;
    }
    return false;
}

static void note_left_out(struct wr *w, const struct sdp_media *m, unsigned media)
{
    static const char *const kinds[] = { [SDP_VIDEO] = "video", [SDP_AUDIO] = "audio",
                                         [SDP_APPLICATION] = "application", [SDP_OTHER] = "other" };

    wr_printf(w, "%s%u %s", w->len > 0 ? ", " : "", media, kinds[m->kind]);
    if (m->n > 0 && *m->formats[0].name)
        wr_printf(w, " %.40s", m->formats[0].name);
    else if (m->n > 0)
        wr_printf(w, " of type %u", m->formats[0].type);
}

static void choose(struct rtsp_intake *r, const struct sdp *s)
{
    struct wr w;

    wr_init(&w, NOTE_MAX);
    if (r->opts.track >= 0 && (unsigned)r->opts.track < s->n)
        (void)take_media(r, s, (unsigned)r->opts.track);
    for (unsigned i = 0; i < s->n; i++) {
        if (!r->media[i].track && !take_media(r, s, i))
            note_left_out(&w, &s->media[i], i);
    }
    if (w.len > 0)
        log_trace("RTSP: tracks that are left out: %.*s", (int)w.len, (const char *)w.buf);
    wr_free(&w);
}

static void random_numbers(struct rtsp_intake *r)
{
    random_id(r->cname, RTSP_CNAME);
    for (unsigned i = 0; i < r->n_tracks; i++) {
        char id[sizeof(r->tracks[i].ssrc) + 1];

        random_id(id, sizeof(r->tracks[i].ssrc));
        memcpy(&r->tracks[i].ssrc, id, sizeof(r->tracks[i].ssrc));
    }
}

static struct rtsp_intake *receive_new(const struct sdp *s, const struct rtsp_intake_opts *opts)
{
    struct rtsp_intake *r = must(calloc(1, sizeof(*r)));
    const struct rtp_intake_opts in = { .keep_broken = opts->keep_broken,
                                        .signature = opts->signature };

    r->opts = *opts;
    r->intake = rtp_intake_new(&in);
    r->n = s->n;
    r->control = must_dup(s->control);
    for (unsigned i = 0; i < s->n; i++)
        r->media[i].control = must_dup(s->media[i].control);
    choose(r, s);
    random_numbers(r);
    return r;
}

err_t rtsp_intake_new(struct rtsp_intake **out, const char *text, size_t size,
                       const struct rtsp_intake_opts *opts)
{
    struct sdp *s = must(malloc(sizeof(*s))); /* too large for a stack */
    struct rtsp_intake *r;
    err_t err = sdp_parse(s, text, size);

    if (err) {
        free(s);
        return err;
    }
    r = receive_new(s, opts);
    sdp_free(s);
    free(s);
    if (r->n_tracks == 0) {
        err = err_new(ERR_UNSUPPORTED, "none of %u media is supported", r->n);
        rtsp_intake_free(r);
        return err;
    }
    *out = r;
    return NULL;
}

void rtsp_intake_free(struct rtsp_intake *r)
{
    if (!r)
        return;
    for (unsigned i = 0; i < r->n; i++)
        free(r->media[i].control);
    rtp_intake_free(r->intake);
    free(r->control);
    free(r);
}

unsigned rtsp_intake_count(const struct rtsp_intake *r)
{
    return r->n;
}

const char *rtsp_intake_control(const struct rtsp_intake *r, unsigned media)
{
    return r->media[media].control;
}

const char *rtsp_intake_session_control(const struct rtsp_intake *r)
{
    return r->control;
}

bool rtsp_intake_takes(const struct rtsp_intake *r, unsigned media)
{
    return media < r->n && r->media[media].track;
}

void rtsp_intake_set_up(struct rtsp_intake *r, unsigned media, bool on)
{
    if (rtsp_intake_takes(r, media))
        r->media[media].track->set_up = on;
}

unsigned rtsp_intake_ready(const struct rtsp_intake *r)
{
    unsigned n = 0;

    for (unsigned i = 0; i < r->n_tracks; i++)
        n += r->tracks[i].set_up;
    return n;
}
