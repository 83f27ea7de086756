/* SPDX-License-Identifier: MIT */
/* udp_runs.c - bytes of the wire as datagrams. */
#include "serve/rtsp/udp_runs.h"

#include "proto/rtp/header.h"

/* Where it is in the ranges. */
struct walk {
    const struct iovec *iov;
    int left;
    size_t off; /* in the first of those that are left */
};

static void skip(struct walk *w, size_t size)
{
    while (w->left > 0 && size >= w->iov->iov_len) {
        size -= w->iov->iov_len;
        w->iov++;
        w->left--;
    }
    w->off = size;
}

/* The packet there. False: it is none. */
static bool look(const struct walk *w, uint8_t *channel, struct iovec *packet)
{
    uint8_t *p = (uint8_t *)w->iov->iov_base + w->off;
    size_t left = w->iov->iov_len - w->off;
    uint16_t size;

    if (left < RTP_INTERLEAVED || !rtp_interleaved_parse(p, channel, &size) ||
        left - RTP_INTERLEAVED < size)
        return false;
    *packet = (struct iovec){ p + RTP_INTERLEAVED, size };
    return true;
}

static void pass(struct walk *w, size_t size)
{
    w->off += size;
    while (w->left > 0 && w->off == w->iov->iov_len) {
        w->iov++;
        w->left--;
        w->off = 0;
    }
}

/* It goes on in that run; else it begins one of its own. */
static bool fits(const struct rtsp_runs *r, const struct rtsp_run *run, uint8_t channel,
                 size_t size)
{
    return run->channel == channel && size <= run->segment &&
           r->iov[run->first + run->count - 1].iov_len == run->segment &&
           run->count < RTSP_RUN_SEGMENTS && run->size + size <= RTSP_RUN_BYTES;
}

/* The run that the packet belongs to; NULL: it waits for the next call. */
static struct rtsp_run *run_for(struct rtsp_runs *r, uint8_t channel, size_t size, size_t most)
{
    struct rtsp_run *last = r->n > 0 ? &r->v[r->n - 1] : NULL;

    if (r->pieces == RTSP_RUN_PIECES)
        return NULL;
    if (last && fits(r, last, channel, size))
        return last;
    if (r->n == RTSP_RUNS || r->size >= most || (last && (last->channel ^ channel) & 1))
        return NULL;
    r->v[r->n] = (struct rtsp_run){ .channel = channel, .segment = (uint16_t)size,
                                    .first = r->pieces };
    return &r->v[r->n++];
}

err_t rtsp_runs_cut(struct rtsp_runs *r, const struct iovec *iov, int n, size_t at, size_t most)
{
    struct walk w = { .iov = iov, .left = n };

    r->n = r->pieces = 0;
    r->size = 0;
    r->end = at;
    skip(&w, at);
    for (pass(&w, 0); w.left > 0;) {
        struct iovec packet;
        struct rtsp_run *run;
        uint8_t channel;

        if (!look(&w, &channel, &packet))
            return err_new(ERR_MALFORMED, "no packet at byte %zu of the wire", r->end);
        run = run_for(r, channel, packet.iov_len, most);
        if (!run)
            return NULL;
        r->iov[r->pieces++] = packet;
        run->count++;
        run->size += packet.iov_len;
        r->size += packet.iov_len;
        r->end += RTP_INTERLEAVED + packet.iov_len;
        run->end = r->end;
        pass(&w, RTP_INTERLEAVED + packet.iov_len);
    }
    return NULL;
}
