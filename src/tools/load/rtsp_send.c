/* SPDX-License-Identifier: MIT */
/* rtsp_send.c - the frames of a file as RTP of one publisher. */
#include "tools/load/rtsp_send.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "co/net/io_tcp.h"
#include "format/frame.h"
#include "proto/rtp/rtcp.h"
#include "tools/load/marker.h"

enum {
    PORT_LOW = 16384, PORT_HIGH = 65534, SEND_BUFFER = 1 << 20,
    FRAME_MAX = 16 << 20, PACKETS_MAX = 16384, REPORT_S = 5, REPORT_MAX = 512,
};

/* Of the frame that is being sent, whoever sends it: nothing yields until the kernel has it, or
 * what is left was copied. */
static struct wr out;
static uint16_t sizes[PACKETS_MAX];
static size_t count;

/* ------------------------------------------------------------ packets */

static void on_packet(struct rtp_sink *sink, uint8_t *head, size_t size, bool marker,
                      int64_t ticks)
{
    struct load_sender_track *t = (struct load_sender_track *)sink;

    if (!t->pair[0]) {
        rtp_interleaved_build(head, t->channel, (uint16_t)(size + RTP_HEADER));
        head += RTP_INTERLEAVED;
    }
    rtp_sender_head(&t->numbers, head, marker, ticks, size);
    if (count < PACKETS_MAX)
        sizes[count++] = (uint16_t)(size + RTP_HEADER);
}

/* What the connection does not take at once is copied, for it waits. */
static err_t send_stream(struct load_sender *s, const struct wr *w)
{
    struct io *io = s->c->talk.io;
    struct iovec iov = { w->buf, w->len };
    size_t n = 0, left;
    uint8_t *copy;
    err_t err = io_send_some(io, &iov, 1, &n);

    left = w->len - n;
    if (err || left == 0)
        return err;
    copy = must(malloc(left));
    memcpy(copy, w->buf + n, left);
    err = io_write(io, copy, left);
    free(copy);
    return err;
}

/* Packets of one size go as one row, the last of which may be shorter. */
static void send_datagrams(struct load_sender_track *t)
{
    struct udp_path path = { .peer = t->to[0] };
    uint8_t *p = out.buf;

    for (size_t i = 0; i < count;) {
        size_t total = sizes[i], n = 1;
        struct iovec iov = { p, 0 };

        while (i + n < count && sizes[i + n - 1] == sizes[i] && sizes[i + n] <= sizes[i])
            total += sizes[i + n++];
        iov.iov_len = total;
        (void)udp_send(t->pair[0], &(struct udp_out){ &iov, 1, n > 1 ? sizes[i] : 0, &path,
                                                      UDP_NOT_ECT }, 1);
        p += total;
        i += n;
    }
}

static err_t flush(struct load_sender *s, struct load_sender_track *t)
{
    err_t err = wr_err(&out, "a frame as RTP");

    s->c->bytes += out.len;
    s->c->run->stat.bytes_out += out.len;
    s->c->run->stat.rtp.packets += count;
    s->c->run->stat.messages++;
    if (err)
        return err;
    if (!t->pair[0])
        return send_stream(s, &out);
    send_datagrams(t);
    return NULL;
}

/* ------------------------------------------------------------ reports */

static err_t report(struct load_sender *s, struct load_sender_track *t, int64_t ticks)
{
    struct rtcp_sr sr = rtp_sender_report(&t->numbers, ticks, load_wall());
    struct udp_path path = { .peer = t->to[1] };
    size_t head = t->pair[1] ? 0 : RTP_INTERLEAVED;
    struct iovec iov;
    struct wr w;
    err_t err = NULL;

    wr_init(&w, REPORT_MAX);
    wr_be(&w, 0, head);
    rtcp_put_sr(&w, t->numbers.ssrc, &sr);
    rtcp_put_cname(&w, t->numbers.ssrc, "load");
    iov = (struct iovec){ w.buf, w.len };
    if (t->pair[1]) {
        (void)udp_send(t->pair[1], &(struct udp_out){ &iov, 1, 0, &path, UDP_NOT_ECT }, 1);
    } else {
        rtp_interleaved_build(w.buf, (uint8_t)(t->channel + 1), (uint16_t)(w.len - head));
        err = send_stream(s, &w);
    }
    wr_free(&w);
    return err;
}

static err_t reports(struct load_sender *s, int64_t time)
{
    err_t err = NULL;

    if (co_now() < s->report_due)
        return NULL;
    s->report_due = co_now() + CO_SECONDS(REPORT_S);
    for (unsigned i = 0; !err && i < s->source->n; i++)
        err = report(s, &s->tracks[i], rtp_ticks(time, s->tracks[i].numbers.clock));
    return err;
}

/* ------------------------------------------------------------ life */

/* The packer knows the clock once it has the configuration. */
static err_t open_track(struct load_sender *s, unsigned i)
{
    const struct load_source_track *from = &s->source->tracks[i];
    const struct rtp_packer_opts opts = { .codec = from->codec, .sets = true,
                                          .mtu = (size_t)s->c->run->opts.mtu };
    struct load_sender_track *t = &s->tracks[i];
    uint8_t random[RTP_SENDER_RANDOM];
    struct frame_reader r;
    struct frame f;
    err_t err = NULL;

    t->open = rtp_packer_init(&t->packer, &opts);
    frame_begin(&r, from->config);
    if (from->config->config && frame_next(&r, &f))
        err = rtp_pack(&t->packer, &f, &t->sink);
    for (size_t k = 0; k < sizeof(random); k++)
        random[k] = (uint8_t)(rand() >> 8);
    rtp_sender_init(&t->numbers, from->type, t->packer.clock ? t->packer.clock : AV_CLOCK, random);
    return err;
}

err_t load_sender_init(struct load_sender *s, struct load_client *c,
                       const struct load_source *source)
{
    err_t err = NULL;

    if (!out.limit)
        wr_init(&out, FRAME_MAX);
    *s = (struct load_sender){ .c = c, .source = source };
    for (unsigned i = 0; !err && i < source->n; i++)
        err = open_track(s, i);
    return err;
}

void load_sender_fini(struct load_sender *s)
{
    for (unsigned i = 0; i < LOAD_SOURCE_TRACKS; i++) {
        struct load_sender_track *t = &s->tracks[i];

        if (t->open)
            rtp_packer_fini(&t->packer);
        udp_close(t->pair[0]);
        udp_close(t->pair[1]);
    }
}

err_t load_sender_offer(struct load_sender *s, unsigned track, struct rtsp_transport *offer)
{
    const struct udp_opts opts = { .sndbuf = SEND_BUFFER };
    struct load_sender_track *t = &s->tracks[track];
    char bind_ip[64];
    err_t err;

    if (!s->c->run->opts.udp) {
        offer->channels = (struct rtsp_pair){ (int)track * 2, (int)track * 2 + 1 };
        return NULL;
    }
    err = load_opts_bind(&s->c->run->opts, s->c->index, bind_ip, sizeof(bind_ip));
    if (!err)
        err = udp_open_pair(t->pair, bind_ip, PORT_LOW, PORT_HIGH, &opts);
    if (err)
        return err;
    offer->lower = RTSP_UDP;
    offer->client_port = (struct rtsp_pair){ t->pair[0]->at.port, t->pair[1]->at.port };
    return NULL;
}

err_t load_sender_begin(struct load_sender *s, unsigned track, const struct rtsp_transport *got)
{
    struct load_sender_track *t = &s->tracks[track];
    const struct rtsp_pair *ports = &got->server_port;
    char ip[IO_ADDR_SIZE];
    int port;
    err_t err;

    t->sink = (struct rtp_sink){ .out = &out, .packet = on_packet,
                                 .head = RTP_HEADER + (t->pair[0] ? 0 : RTP_INTERLEAVED) };
    if (!t->pair[0]) {
        t->channel = (uint8_t)(got->channels.rtp < 0 ? (int)track * 2 : got->channels.rtp);
        return NULL;
    }
    if (ports->rtp <= 0)
        return err_new(ERR_RTSP, "SETUP: no server_port was answered");
    io_tcp_peer(s->c->talk.io, ip, &port);
    err = udp_addr_parse(&t->to[0], ip, ports->rtp);
    return err ? err : udp_addr_parse(&t->to[1], ip, ports->rtcp > 0 ? ports->rtcp
                                                                     : ports->rtp + 1);
}

/* ------------------------------------------------------------ frames */

static struct load_sender_track *track_of(struct load_sender *s, const struct frame *f)
{
    for (unsigned i = 0; i < s->source->n; i++) {
        if (s->source->tracks[i].kind == f->kind && s->source->tracks[i].codec == f->codec)
            return &s->tracks[i];
    }
    return NULL;
}

err_t load_sender_send(struct load_sender *s, const struct load_message *msg, uint64_t time)
{
    const struct av_packet *pkt = s->source->packets[msg - s->source->media.messages];
    struct load_sender_track *t;
    struct frame_reader r;
    struct frame f;
    err_t err = reports(s, AV_MS((int64_t)time));

    if (!pkt || err)
        return err;
    frame_begin(&r, pkt);
    while (!err && frame_next(&r, &f)) {
        t = track_of(s, &f);
        if (!t)
            continue;
        f.dts += AV_MS((int64_t)time);
        f.pts += AV_MS((int64_t)time);
        if (msg->marker && !s->c->run->opts.no_marker)
            load_marker_put(&f, s->c->number++);
        out.len = count = 0;
        err = rtp_pack(&t->packer, &f, &t->sink);
        if (!err && out.len > 0)
            err = flush(s, t);
    }
    return err;
}
