/* SPDX-License-Identifier: MIT */
/* sb_rtsp_load.c - many RTSP players, over the connection or datagrams, that look at all they get.
 */
#include "tools/load/rtsp.h"
#include "tools/load/rtsp_udp.h"
#include "tools/load/watch.h"

#include "co/net/io_tcp.h"
#include "format/rtp/formats.h"
#include "proto/rtsp/range.h"
#include "proto/rtsp/rtp_info.h"
#include "proto/sdp/sdp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_CLOCK = 90000 };

struct player {
    struct load_rtsp talk;
    struct load_rtp rtp;
    struct load_udp udp;
};

/* ------------------------------------------------------------ until media flow */

static err_t describe(struct player *p, struct sdp *sdp)
{
    static const struct rtsp_extra accept = { "Accept", "application/sdp" };
    struct load_rtsp *t = &p->talk;
    const struct rtsp_message *answer = NULL;
    err_t err = load_rtsp_ask(t, &(struct rtsp_request){ .method = RTSP_OPTIONS }, NULL);

    if (!err)
        err = load_rtsp_ask(t, &(struct rtsp_request){ .method = RTSP_DESCRIBE, .more = &accept,
                                                   .n = 1 }, &answer);
    if (err)
        return err;
    t->base = rtsp_client_base(&t->call.client, answer);
    return sdp_parse(sdp, (const char *)answer->body, answer->size);
}

static void fill_track(struct load_rtp_track *track, const struct sdp_media *m)
{
    const struct sdp_format *f = &m->formats[0];
    enum av_kind kind = m->kind == SDP_VIDEO ? AV_VIDEO : AV_AUDIO;
    const struct rtp_format *fmt = *f->name ? rtp_format_named(kind, f->name, strlen(f->name))
                                            : rtp_format_fixed(f->type);

    *track = (struct load_rtp_track){ .type = f->type, .video = kind == AV_VIDEO,
                                      .codec = fmt ? fmt->codec : AV_CODEC_NONE };
    track->clock = f->clock;
    if (track->clock == 0 && fmt)
        track->clock = av_codec_row(fmt->codec)->rtp.clock;
    if (track->clock == 0)
        track->clock = USUAL_CLOCK;
    track->marks = track->video || track->codec == AV_AAC;
    rtp_stats_init(&track->stats, track->clock);
}

static err_t set_up_track(struct player *p, const struct sdp_media *m)
{
    unsigned n = p->rtp.n;
    struct load_rtp_track *track = &p->rtp.tracks[n];
    struct load_pair *pair = &p->udp.tracks[n].pair;
    err_t err;

    fill_track(track, m);
    err = load_rtsp_setup(&p->talk, m->control, n, false, pair);
    if (!err && p->rtp.datagrams)
        err = load_udp_begin(&p->udp, n);
    if (err)
        return err;
    track->channel = pair->channel;
    p->rtp.n++;
    return NULL;
}

static err_t set_up(struct player *p)
{
    struct sdp *sdp = calloc(1, sizeof(*sdp)); /* large */
    err_t err;

    if (!sdp)
        return err_new(ERR_NO_MEMORY, "a description");
    err = describe(p, sdp);
    for (unsigned i = 0; !err && i < sdp->n && p->rtp.n < LOAD_RTP_TRACKS; i++) {
        const struct sdp_media *m = &sdp->media[i];

        if ((m->kind == SDP_VIDEO || m->kind == SDP_AUDIO) && m->n > 0)
            err = set_up_track(p, m);
    }
    if (!err && p->rtp.n == 0)
        err = err_new(ERR_RTSP, "a description without video and audio");
    sdp_free(sdp);
    free(sdp);
    return err;
}

/* One entry for each track in the order of SETUP; where the server has it otherwise, it tells
 * nothing. */
static void take_info(struct player *p, const struct rtsp_message *answer)
{
    const char *text = rtsp_message_field(answer, "RTP-Info");
    struct rtsp_rtp_info info[RTSP_RTP_INFO_MAX];

    if (!text || rtsp_rtp_info_parse(text, info) != p->rtp.n)
        return;
    for (unsigned i = 0; i < p->rtp.n; i++) {
        p->rtp.tracks[i].has_first = info[i].has_seq;
        p->rtp.tracks[i].first = info[i].seq;
    }
}

/* "10" means from there on. */
static void range_of(const struct load_opts *o, char *out, size_t size)
{
    const char *npt = o->npt ? o->npt : "0.000";

    if (o->anywhere > 0)
        snprintf(out, size, "npt=%.3f-", load_opts_place(o));
    else
        snprintf(out, size, "npt=%s%s", npt, strchr(npt, '-') ? "" : "-");
}

static err_t start(struct player *p)
{
    const struct load_opts *o = &p->rtp.c->run->opts;
    struct rtsp_extra more[] = { { "Range", NULL }, { "Scale", NULL } };
    char range[64], scale[32];
    const struct rtsp_request ask = { .method = RTSP_PLAY, .url = p->talk.base, .more = more,
                                  .n = o->scale != 0 ? 2 : 1 };
    const struct rtsp_message *answer;
    err_t err;

    range_of(o, range, sizeof(range));
    snprintf(scale, sizeof(scale), "%.3f", o->scale);
    more[0].value = range;
    more[1].value = scale;
    p->rtp.c->asked = co_clock();
    err = load_rtsp_ask(&p->talk, &ask, &answer);
    if (err)
        return err;
    take_info(p, answer);
    load_rtsp_begin(&p->talk);
    load_talk_acknowledge(&p->rtp.c->talk);
    return NULL;
}

/* ------------------------------------------------------------ media */

static err_t read_some(struct player *p, size_t *n)
{
    struct load_client *c = p->rtp.c;
    err_t err;

    *n = 0;
    err = load_unless_over(c, load_rtp_read(&p->rtp, &p->talk.call.reader, n));
    if (!err && load_rtp_is_left(&p->rtp))
        err = err_new(ERR_IO_CLOSED, "the sender said BYE");
    return err;
}

static err_t read_media(struct player *p)
{
    size_t n;
    err_t err;

    load_limit_wait(p->rtp.c);
    err = read_some(p, &n);
    return err ? err : load_count(p->rtp.c, n);
}

/* Others read the datagrams: here is what the server says, and looks after it all. */
static err_t wait_a_second(struct player *p)
{
    struct load_client *c = p->rtp.c;
    co_usec silent;
    size_t n;
    err_t err;

    c->talk.io->read_timeout = load_left(c, CO_SECONDS(1));
    err = read_some(p, &n);
    if (err_code(err) == ERR_IO_TIMEOUT)
        err_free(&err);
    load_udp_tick(&p->udp);
    silent = co_now() - (c->read_at ? c->read_at : c->began);
    if (!err && (double)silent > c->run->opts.timeout * 1e6)
        err = err_new(ERR_IO_TIMEOUT, "no datagrams");
    return err;
}

static err_t run(struct player *p)
{
    struct load_client *c = p->rtp.c;
    err_t err = NULL;

    if (!c->run->opts.idle) {
        err = set_up(p);
        if (!err)
            err = start(p);
        if (!err)
            co_stack_trim();
    }
    c->alive = !err;
    while (!err && !load_is_over(c)) {
        err = p->rtp.datagrams ? wait_a_second(p) : read_media(p);
        if (!err)
            err = load_rtsp_alive(&p->talk);
        if (!err)
            err = co_check();
    }
    if (!err && !c->run->opts.idle)
        load_rtsp_teardown(&p->talk);
    return err;
}

static err_t play(struct load_client *c, const struct load_url *url)
{
    struct player *p = calloc(1, sizeof(*p));
    err_t err;

    if (!p)
        return err_new(ERR_NO_MEMORY, "a player");
    p->rtp.c = c;
    p->rtp.datagrams = c->run->opts.udp;
    load_udp_init(&p->udp, &p->rtp);
    if (c->run->opts.read_kbps > 0)
        load_watch_slowly(c);
    err = load_rtsp_init(&p->talk, c, url);
    if (!err) {
        err = run(p);
        load_udp_fini(&p->udp);
        load_rtsp_fini(&p->talk);
    }
    free(p);
    return err;
}

static err_t prepare(struct load_run *run)
{
    char text[64];
    struct rtsp_range range;

    range_of(&run->opts, text, sizeof(text));
    if (!rtsp_range_parse(text, &range))
        return err_new(ERR_CONF, "--npt: \"%s\" is no time", run->opts.npt);
    return NULL;
}

static const struct load_tool tool = {
    .name = "sb_rtsp_load",
    .what = "many RTSP players that look at all they get",
    .kind = LOAD_RTSP,
    .schemes = "rtsp rtsps",
    .open = load_rtsp_open,
    .prepare = prepare,
    .session = play,
};

int main(int argc, char **argv)
{
    return load_main(&tool, argc, argv);
}
