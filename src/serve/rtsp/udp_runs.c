/* SPDX-License-Identifier: MIT */
/* udp_runs.c - bytes of the wire as datagrams. */
#include "serve/rtsp/udp_runs.h"

#include "proto/rtp/header.h"

#include <string.h>

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

static bool goes_on(const struct rtsp_run *run, size_t size)
{
    return size <= run->segment && run->last == run->segment && run->count < RTSP_RUN_SEGMENTS &&
           run->size + size <= RTSP_RUN_BYTES;
}

static void add(struct rtsp_runs *r, uint8_t channel, const struct iovec *packet)
{
    int16_t i = r->open[channel];

    if (i < 0 || !goes_on(&r->v[i], packet->iov_len)) {
        i = r->open[channel] = (int16_t)r->n++;
        r->v[i] = (struct rtsp_run){ .channel = channel, .segment = (uint16_t)packet->iov_len,
                                     .begin = r->end };
    }
    r->v[i].count++;
    r->v[i].last = (uint16_t)packet->iov_len;
    r->v[i].size += packet->iov_len;
    r->run_of[r->packets] = i;
    r->seen[r->packets++] = *packet;
    r->size += packet->iov_len;
    r->end += RTP_INTERLEAVED + packet->iov_len;
}

/* The packets of each run one after the other. */
static void gather(struct rtsp_runs *r)
{
    int first = 0;

    for (int i = 0; i < r->n; i++) {
        r->v[i].first = first;
        first += r->v[i].count;
        r->v[i].count = 0;
    }
    for (int i = 0; i < r->packets; i++) {
        struct rtsp_run *run = &r->v[r->run_of[i]];

        r->iov[run->first + run->count++] = r->seen[i];
    }
}

err_t rtsp_runs_cut(struct rtsp_runs *r, const struct iovec *iov, int n, size_t at, size_t most)
{
    struct walk w = { .iov = iov, .left = n };

    r->n = r->packets = 0;
    r->size = 0;
    r->end = at;
    memset(r->open, -1, sizeof(r->open));
    skip(&w, at);
    for (pass(&w, 0); w.left > 0 && r->packets < RTSP_RUNS && r->size < most;) {
        struct iovec packet;
        uint8_t channel;

        if (!look(&w, &channel, &packet))
            return err_new(ERR_MALFORMED, "no packet at byte %zu of the wire", r->end);
        if (r->n > 0 && (r->v[0].channel ^ channel) & 1)
            break;
        add(r, channel, &packet);
        pass(&w, RTP_INTERLEAVED + packet.iov_len);
    }
    gather(r);
    return NULL;
}
