/* SPDX-License-Identifier: MIT */
/* rtsp_send.c - the frames of a file as RTP of one publisher. */
#include "tools/load/rtsp_send.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

enum { REPORT_S = 5, REPORT_MAX = 512 };

/* ------------------------------------------------------------ packets */

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
static void send_datagrams(const struct load_pair *to)
{
    const uint16_t *sizes = load_packets.sizes;
    struct udp_path path = { .peer = to->to[0] };
    uint8_t *p = load_packets.bytes.buf;

    for (size_t i = 0; i < load_packets.n;) {
        size_t total = sizes[i], n = 1;
        struct iovec iov = { p, 0 };

        while (i + n < load_packets.n && sizes[i + n - 1] == sizes[i] && sizes[i + n] <= sizes[i])
            total += sizes[i + n++];
        iov.iov_len = total;
        (void)udp_send(to->udp[0], &(struct udp_out){ &iov, 1, n > 1 ? sizes[i] : 0, &path,
                                                       UDP_NOT_ECT }, 1);
        p += total;
        i += n;
    }
}

static err_t flush(void *arg, unsigned track)
{
    struct load_sender *s = arg;
    const struct wr *bytes = &load_packets.bytes;
    err_t err = wr_err(&load_packets.bytes, "a frame as RTP");

    s->c->bytes += bytes->len;
    s->c->run->stat.bytes_out += bytes->len;
    s->c->run->stat.rtp.packets += load_packets.n;
    s->c->run->stat.messages++;
    if (err)
        return err;
    if (!s->pairs[track].udp[0])
        return send_stream(s, bytes);
    send_datagrams(&s->pairs[track]);
    return NULL;
}

/* ------------------------------------------------------------ reports */

static err_t report(struct load_sender *s, unsigned track, int64_t time)
{
    const struct load_pair *to = &s->pairs[track];
    struct udp_path path = { .peer = to->to[1] };
    size_t head = to->udp[1] ? 0 : RTP_INTERLEAVED;
    struct iovec iov;
    struct wr w;
    err_t err = NULL;

    wr_init(&w, REPORT_MAX);
    wr_be(&w, 0, head);
    load_out_report(&s->out, track, time, &w);
    iov = (struct iovec){ w.buf, w.len };
    if (to->udp[1]) {
        (void)udp_send(to->udp[1], &(struct udp_out){ &iov, 1, 0, &path, UDP_NOT_ECT }, 1);
    } else {
        rtp_interleaved_build(w.buf, (uint8_t)(s->out.tracks[track].channel + 1),
                              (uint16_t)(w.len - head));
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
    for (unsigned i = 0; !err && i < s->out.source->n; i++)
        err = report(s, i, time);
    return err;
}

/* ------------------------------------------------------------ life */

err_t load_sender_init(struct load_sender *s, struct load_client *c,
                       const struct load_media *source)
{
    const struct rtp_packer_opts opts = { .sets = true, .mtu = (size_t)c->run->opts.mtu };

    *s = (struct load_sender){ .c = c };
    return load_out_init(&s->out, source, &opts, false);
}

void load_sender_fini(struct load_sender *s)
{
    load_out_fini(&s->out);
    for (unsigned i = 0; i < LOAD_TRACKS; i++)
        load_pair_close(&s->pairs[i]);
}

void load_sender_begin(struct load_sender *s, unsigned track)
{
    s->out.tracks[track].interleaved = !s->pairs[track].udp[0];
    s->out.tracks[track].channel = s->pairs[track].channel;
}

err_t load_sender_send(struct load_sender *s, const struct load_message *msg, uint64_t time)
{
    uint32_t *number = s->c->run->opts.no_marker ? NULL : &s->c->number;
    err_t err = reports(s, AV_MS((int64_t)time));

    return err ? err : load_out_message(&s->out, msg, time, number, flush, s);
}
