/* SPDX-License-Identifier: MIT */
/* publish.c - receives a stream that a client announces and records. */
#include "serve/rtsp/publish.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "co/net/round.h"
#include "intake/rtsp.h"
#include "proto/http/url.h"
#include "proto/rtp/header.h"
#include "session/publisher.h"

#include <stdlib.h>
#include <string.h>

/* MERGED_READ: the most that the kernel collects for a merged read; the timer usually ends the wait
 * long before. */
enum { MERGED_READ = 1 << 20, REPORTS_MAX = 1024, NO_CHANNEL = 0xff };

#define CHECK_EVERY CO_SECONDS(1) /* interval of checks while media come as datagrams */

struct rtsp_publish {
    struct session_publisher publisher;
    struct rtsp_conn *c;
    struct rtsp_intake *receive;
    char *base;           /* the announced URL; the URLs of its tracks are below it */
    bool begun;           /* RECORD came */
    bool datagrams;
    struct co_timer timer; /* datagrams: runs tasks that are due even if none arrive */
    uint64_t unknown_frames; /* frames on unknown channels */
    uint8_t channels[256]; /* number of its medium times 2, plus 1 for RTCP; or NO_CHANNEL */
};

/* ---- ANNOUNCE */

/* Returns "track=" of the parameters, which selects one of several video tracks; -1: none. */
static int selected_track(const struct rtsp_conn *c)
{
    const char *param = c->base.names.param;
    char buf[8];
    const char *v = http_url_param(*param ? param + 1 : param, "track", buf, sizeof(buf));

    return v && *v >= '0' && *v <= '9' ? (int)strtoul(v, NULL, 10) : -1;
}

static err_t read_description(struct rtsp_exchange *x, struct rtsp_intake **out)
{
    const struct session *s = &x->c->base;
    struct rtsp_intake_opts opts = {
        .track = selected_track(x->c), .keep_broken = s->vhost->rtsp.keep_broken,
        .jitter = s->vhost->rtsp.jitter, .signature = s->env->signature,
    };

    return rtsp_intake_new(out, (const char *)x->req->body, x->req->size, &opts);
}

err_t rtsp_publish_begin(struct rtsp_exchange *x)
{
    struct rtsp_conn *c = x->c;
    struct rtsp_intake *receive;
    struct rtsp_publish *p;
    err_t err = read_description(x, &receive);

    if (err)
        return err;
    p = must(calloc(1, sizeof(*p)));
    err = session_publisher_begin(&p->publisher, &c->base, CLIENTS_RTSP_PUBLISH);
    if (err) {
        rtsp_intake_free(receive);
        free(p);
        return err;
    }
    session_publisher_silence(&p->publisher, c->base.conf->rtsp_server.publish_timeout);
    p->c = c;
    p->receive = receive;
    p->base = must_dup(x->req->url);
    memset(p->channels, NO_CHANNEL, sizeof(p->channels));
    c->publish = p;
    return NULL;
}

static void log_end_of(const struct rtsp_publish *p)
{
    struct rtp_intake_stat s;

    rtsp_intake_stat(p->receive, &s);
    log_trace("RTSP publisher of %s sent %llu packets, %llu frames; lost=%llu, reordered=%llu, "
              "late=%llu, dropped=%llu, broken=%llu, waiting=%llu",
              live_source_name(p->c->base.src), (unsigned long long)s.packets,
              (unsigned long long)s.frames, (unsigned long long)s.lost,
              (unsigned long long)s.reordered, (unsigned long long)s.late,
              (unsigned long long)(s.dropped + p->unknown_frames), (unsigned long long)s.broken,
              (unsigned long long)s.waiting);
}

void rtsp_publish_end(struct rtsp_conn *c, err_t why)
{
    struct rtsp_publish *p = c->publish;

    c->publish = NULL;
    co_timer_cancel(&p->timer);
    log_end_of(p);
    session_publisher_end(&p->publisher, why);
    rtsp_intake_free(p->receive);
    free(p->base);
    free(p);
}

/* ---- SETUP and RECORD */

/* Returns the last part of a path, without parameters. */
static const char *last_part(const char *url, size_t *size)
{
    const char *slash = strrchr(url, '/'), *p = slash ? slash + 1 : url;

    *size = strcspn(p, "?");
    return p;
}

/* Compares without parameters: they may be anywhere, and GStreamer omits them. */
static bool ends_alike(const char *url, const char *control)
{
    size_t n, m;
    const char *x = last_part(url, &n), *b = last_part(control, &m);

    return n > 0 && n == m && memcmp(x, b, n) == 0;
}

/* Finds the announced track of a SETUP: by its control URL, else by its number. */
static int media_of(const struct rtsp_exchange *x)
{
    const struct rtsp_publish *p = x->c->publish;
    unsigned n = rtsp_intake_count(p->receive);

    for (unsigned i = 0; i < n; i++) {
        if (rtsp_url_is_track(x->req->url, p->base, rtsp_intake_control(p->receive, i)))
            return (int)i;
    }
    for (unsigned i = 0; i < n; i++) {
        if (ends_alike(x->req->url, rtsp_intake_control(p->receive, i)))
            return (int)i;
    }
    if (x->target.track >= 0 && (unsigned)x->target.track < n)
        return x->target.track;
    return n == 1 ? 0 : -1;
}

int rtsp_publish_setup(struct rtsp_exchange *x, struct rtsp_transport *t)
{
    struct rtsp_publish *p = x->c->publish;
    int media = media_of(x), status;

    if (media < 0)
        return 404;
    status = rtsp_server_setup(&x->c->server, x->req, (unsigned)media, co_now(), &x->session, t);
    if (status == 0)
        rtsp_intake_set_up(p->receive, (unsigned)media, true);
    return status;
}

static void set_channels(struct rtsp_publish *p, const struct rtsp_session *session)
{
    memset(p->channels, NO_CHANNEL, sizeof(p->channels));
    for (unsigned i = 0; i < session->n_tracks; i++) {
        unsigned media = session->order[i];
        struct rtsp_pair pair = session->tracks[media].pair;

        if (pair.rtp >= 0 && pair.rtp < 256)
            p->channels[pair.rtp] = (uint8_t)(media * 2);
        if (pair.rtcp >= 0 && pair.rtcp < 256)
            p->channels[pair.rtcp] = (uint8_t)(media * 2 + 1);
    }
}

int rtsp_publish_record(struct rtsp_exchange *x)
{
    struct rtsp_conn *c = x->c;
    struct rtsp_publish *p = c->publish;

    if (!p->begun && rtsp_intake_ready(p->receive) == 0)
        return 415;
    p->datagrams = x->session->lower != RTSP_TCP;
    if (!p->datagrams)
        set_channels(p, x->session);
    if (!p->begun)
        rtsp_intake_begin(p->receive, c->base.src, p->datagrams, co_now());
    p->begun = true;
    rtsp_session_accepted(x->session, RTSP_RECORD);
    c->flowing = x->session;
    c->begin = true;
    return 200;
}

/* ---- media */

static void take(struct rtsp_publish *p, unsigned media, bool is_rtcp, const uint8_t *data,
                 size_t size, co_usec now)
{
    if (rtsp_intake_put(p->receive, media, is_rtcp, data, size, now))
        session_publisher_media(&p->publisher);
    else if (is_rtcp)
        session_publisher_spoke(&p->publisher);
}

static void on_frame(void *publish, uint8_t channel, const uint8_t *data, size_t size)
{
    struct rtsp_publish *p = publish;
    uint8_t at = p->channels[channel];

    if (at == NO_CHANNEL)
        p->unknown_frames++;
    else
        take(p, at / 2, at % 2, data, size, co_now());
}

/* Updates the list of clients. */
static void report_stats(struct rtsp_publish *p)
{
    struct rtp_intake_stat s;

    rtsp_intake_stat(p->receive, &s);
    rtsp_conn_report(p->c, s.lost, (co_usec)(s.jitter * CO_SECONDS(1)));
}

static void on_due(struct co_timer *t)
{
    struct rtsp_publish *p = container_of(t, struct rtsp_publish, timer);
    uint8_t packet[RTSP_INTAKE_REPORT];
    unsigned media;
    size_t size;

    rtsp_intake_tick(p->receive, co_now());
    while (rtsp_intake_report(p->receive, co_now(), &media, packet, &size)) {
        if (p->c->udp)
            rtsp_udp_send(p->c->udp, media, true, packet, size);
        report_stats(p);
    }
    co_timer_set(t, rtsp_intake_due(p->receive), on_due);
}

void rtsp_publish_datagram(void *conn, unsigned media, bool is_rtcp, const uint8_t *data,
                           size_t size, co_usec now)
{
    struct rtsp_conn *c = conn;
    struct rtsp_publish *p = c->publish;
    co_usec due;

    if (!p || !p->begun || !p->datagrams)
        return;
    c->base.io->bytes_in += size;
    take(p, media, is_rtcp, data, size, now);
    p->publisher.place.active_at = now;
    due = rtsp_intake_due(p->receive);
    if (due != p->timer.due || !p->timer.prev)
        co_timer_set(&p->timer, due, on_due);
}

/* Sends all reports that are due in one write. */
static err_t report(struct rtsp_publish *p)
{
    uint8_t packet[RTSP_INTAKE_REPORT], head[RTP_INTERLEAVED];
    struct rtsp_session *session = p->c->flowing;
    unsigned media;
    size_t size;
    struct wr w;
    err_t err = NULL;

    wr_init(&w, REPORTS_MAX);
    while (rtsp_intake_report(p->receive, co_now(), &media, packet, &size)) {
        int channel = session->tracks[media].url ? session->tracks[media].pair.rtcp : -1;

        if (channel < 0)
            continue;
        rtp_interleaved_build(head, (uint8_t)channel, (uint16_t)size);
        wr_bytes(&w, head, sizeof(head));
        wr_bytes(&w, packet, size);
    }
    report_stats(p);
    if (w.len > 0 && !w.bad)
        err = io_write(p->c->base.io, w.buf, w.len);
    wr_free(&w);
    return err;
}

/* ---- turns */

static void apply_read(struct rtsp_conn *c)
{
    io_tcp_read_low(c->base.io, c->base.vhost->publish.mr ? MERGED_READ : 1);
}

/* Handles requests and the frames behind them. */
static err_t take_items(struct rtsp_conn *c)
{
    struct rtsp_publish *p = c->publish;
    struct rtsp_item item;
    err_t err;

    do {
        err = rtsp_reader_take(&c->reader, &item);
        if (!err && item.kind == RTSP_ITEM_FRAME)
            on_frame(p, item.channel, item.data, item.size);
        if (!err && item.kind == RTSP_ITEM_MESSAGE && item.message->is_request) {
            session_publisher_spoke(&p->publisher);
            err = c->answer(c, item.message);
        }
        co_yield_if_due();
    } while (!err && c->flowing && item.kind != RTSP_ITEM_NONE);
    return err;
}

/* Reads what arrived: with merged reads the kernel does not wake us before the time is up (some
 * hundred milliseconds), then everything is read at once. */
static err_t read_some(struct rtsp_conn *c)
{
    bool merged = c->base.vhost->publish.mr;
    size_t n;
    err_t err = NULL;

    if (merged && io_wait(c->base.io, false, c->base.vhost->publish.mr_latency) == CO_STOPPED)
        err = co_check();
    if (!err)
        err = rtsp_reader_frames(&c->reader, !merged, on_frame, c->publish, &n);
    if (err && c->publish->datagrams && err_code(err) == ERR_IO_TIMEOUT && !co_stop_asked())
        err_free(&err); /* the media come as datagrams */
    return err;
}

static err_t turn(struct rtsp_conn *c)
{
    struct rtsp_publish *p = c->publish;
    bool changed = false;
    err_t err = read_some(c);

    if (!err)
        err = take_items(c);
    if (err || !c->flowing)
        return err;
    err = session_publisher_turn(&p->publisher, &changed);
    if (!err && !p->datagrams && co_now() >= rtsp_intake_due(p->receive))
        err = report(p);
    if (changed)
        apply_read(c);
    return err;
}

err_t rtsp_publish_receive(struct rtsp_conn *c)
{
    struct co_round round = { 0 };
    err_t err;

    /* the publisher has its own timeout for silence */
    c->base.io->read_timeout = c->publish->datagrams ? CHECK_EVERY : CO_FOREVER;
    report_stats(c->publish);
    apply_read(c);
    co_stack_trim();
    live_source_prefetch(c->base.src, 1);
    err = take_items(c);
    while (!err && c->flowing) {
        err = turn(c);
        if (!err)
            err = co_round_io(&round, c->base.io);
    }
    co_prefetch(1, NULL, 0);
    io_tcp_read_low(c->base.io, 1);
    c->begin = false;
    return err;
}
