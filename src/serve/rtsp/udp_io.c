/* SPDX-License-Identifier: MIT */
/* udp_io.c - the io of a player's sender: sends the bytes of a wire as datagrams.
 *
 * Each packet is sent without its four-byte header to the port of its track. Consecutive packets of
 * one track and size go to the kernel in one call. Everything else, such as reads, uses the
 * connection.
 *
 * Receivers and routers buffer a few hundred packets. A connection's window would slow down a burst
 * (a GOP at the start, merged packets, a large key frame); here a token bucket paces it. It starts
 * with a rate that every network for video has, and doubles the rate until it is enough.
 */
#include "base/container_of.h"
#include "base/iov.h"
#include "base/list.h"
#include "proto/rtp/header.h"
#include "serve/rtsp/udp_impl.h"

#include <string.h>

enum {
    BURST = 64 * 1024,         /* bytes at once */
    PORTION = 24 * 1024,       /* smallest amount that is worth a turn */
    FIRST_RATE = 5000000,      /* bytes per second */
    LAST_RATE = 1 << 30,
};

#define TOO_SLOW CO_MS(500)    /* double the rate after being short of tokens for this long */
#define ROOM_WAIT CO_MS(20)    /* the kernel does not signal every kind of room */

/* ---- runs */

/* Position in the ranges. */
struct walk {
    const struct iovec *iov;
    int left;
    size_t off; /* offset in the current range */
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

/* Parses the packet at the position. Returns false if there is none. */
static bool parse_packet(const struct walk *w, uint8_t *channel, struct iovec *packet)
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

static bool fits(const struct rtsp_run *run, size_t size)
{
    return size <= run->segment && run->last == run->segment && run->count < RTSP_RUN_SEGMENTS &&
           run->size + size <= RTSP_RUN_BYTES;
}

static void add(struct rtsp_runs *r, uint8_t channel, const struct iovec *packet)
{
    int16_t i = r->open[channel];

    if (i < 0 || !fits(&r->v[i], packet->iov_len)) {
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

/* Sorts the packets by run. */
static void collect(struct rtsp_runs *r)
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

err_t rtsp_runs_cut(struct rtsp_runs *r, const struct iovec *iov, int n, size_t at, size_t limit)
{
    struct walk w = { .iov = iov, .left = n };

    r->n = r->packets = 0;
    r->size = 0;
    r->end = at;
    memset(r->open, -1, sizeof(r->open));
    skip(&w, at);
    for (pass(&w, 0); w.left > 0 && r->packets < RTSP_RUNS && r->size < limit;) {
        struct iovec packet;
        uint8_t channel;

        if (!parse_packet(&w, &channel, &packet))
            return err_new(ERR_MALFORMED, "no packet at byte %zu of the wire", r->end);
        if (r->n > 0 && (r->v[0].channel ^ channel) & 1)
            break;
        add(r, channel, &packet);
        pass(&w, RTP_INTERLEAVED + packet.iov_len);
    }
    collect(r);
    return NULL;
}

/* ---- the io */

static struct rtsp_udp_pipe *pipe_of(struct io *io)
{
    return container_of(io, struct rtsp_udp_pipe, io);
}

static struct rtsp_udp_peer *peer_of(struct rtsp_udp_pipe *pipe)
{
    return container_of(pipe, struct rtsp_udp_peer, pipe);
}

/* ---- pacing */

static void gain_tokens(struct rtsp_udp_pipe *p, co_usec now)
{
    size_t gain;

    if (now - p->at >= CO_SECONDS(1)) /* prevents an overflow; the bucket is full anyway */
        gain = BURST;
    else
        gain = (size_t)(now - p->at) * p->rate / CO_SECONDS(1);
    p->at = now;
    p->tokens = gain < BURST - p->tokens ? p->tokens + gain : BURST;
}

/* Out of tokens: returns the time to continue. */
static co_usec resume_at(struct rtsp_udp_pipe *p, co_usec now)
{
    if (!p->short_since)
        p->short_since = now;
    if (now - p->short_since >= TOO_SLOW && p->rate < LAST_RATE) {
        p->rate *= 2;
        p->short_since = now;
    }
    return now + (co_usec)(PORTION * CO_SECONDS(1) / (co_usec)p->rate) + 1;
}

/* ---- sending */

/* Fills the rows for the socket; packets of tracks that are not set up are dropped. */
static size_t address(const struct rtsp_udp_peer *p, const struct rtsp_runs *r,
                      struct udp_out *out, size_t begins[RTSP_RUNS])
{
    size_t n = 0;

    for (int i = 0; i < r->n; i++) {
        const struct rtsp_run *run = &r->v[i];
        const struct rtsp_udp_track *t = rtsp_udp_track(p, run->channel / 2);

        if (!t || run->size == 0)
            continue;
        out[n] = (struct udp_out){ .iov = r->iov + run->first, .count = run->count,
                                   .segment = run->segment,
                                   .path = &t->ports[run->channel & 1].path };
        begins[n++] = run->begin;
    }
    return n;
}

/* Sends all runs. Returns false if the socket is full: *at is then the first packet that was not
 * sent, and packets of other runs behind it may be sent twice. */
static bool send_runs(struct rtsp_udp_peer *p, size_t *at)
{
    struct rtsp_udp *u = p->udp;
    struct rtsp_runs *r = &u->runs;
    size_t begins[RTSP_RUNS], n = address(p, r, u->out, begins), put = 0;

    if (n > 0)
        put = udp_send(u->side[r->v[0].channel & 1].socket, u->out, n);
    if (put < n) {
        *at = begins[put];
        return false;
    }
    *at = r->end;
    return true;
}

static err_t udp_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    struct rtsp_udp_pipe *pipe = pipe_of(io);
    struct rtsp_udp_peer *p = peer_of(pipe);
    size_t total = iov_size(iov, count), at = 0;
    co_usec now = co_clock();
    bool room = true;
    err_t err = NULL;

    gain_tokens(pipe, now);
    while (!err && room && at < total && pipe->tokens > 0) {
        struct rtsp_runs *r = &p->udp->runs;

        err = rtsp_runs_cut(r, iov, count, at, pipe->tokens);
        room = err || send_runs(p, &at);
        pipe->tokens -= r->size < pipe->tokens ? r->size : pipe->tokens;
    }
    io->again = 0;
    if (!err && room && at < total)
        io->again = resume_at(pipe, now);
    else
        pipe->short_since = 0;
    /* the connection has the byte counters of the session */
    (pipe->control ? pipe->control : io)->bytes_out += at;
    *n = at;
    return err;
}

static enum co_wake udp_io_wait(struct io *io, bool out, co_usec timeout);

static err_t udp_writev(struct io *io, struct iovec *iov, int count)
{
    size_t total = iov_size(iov, count), at = 0, n;
    err_t err = NULL;

    while (!err && at < total) {
        struct iovec *first = iov;
        size_t skip = at;

        while (skip >= first->iov_len)
            skip -= first++->iov_len;
        first->iov_base = (char *)first->iov_base + skip;
        first->iov_len -= skip;
        total -= at;
        count -= (int)(first - iov);
        iov = first;
        err = udp_send_some(io, iov, count, &n);
        at = n;
        if (!err && at < total)
            (void)udp_io_wait(io, true, ROOM_WAIT);
        if (!err)
            err = co_check();
    }
    return err;
}

/* ---- waiting */

void rtsp_udp_room(struct rtsp_udp_side *side)
{
    while (side->waiters) {
        struct rtsp_udp_waiter *w = side->waiters;

        LIST_TAKE(w);
        co_unpark(w->co);
    }
}

static enum co_wake wait_room(struct rtsp_udp_pipe *pipe, co_usec timeout)
{
    struct rtsp_udp_side *side = &peer_of(pipe)->udp->side[RTSP_UDP_RTP];
    struct rtsp_udp_waiter *w = &pipe->waiter;
    enum co_wake wake;

    w->co = co_self();
    LIST_PUT(&side->waiters, w);
    wake = co_park(timeout);
    if (w->prev)
        LIST_TAKE(w);
    return wake;
}

/* Waits for room, but never long: the sender then tries again. */
static enum co_wake wait_out(struct rtsp_udp_pipe *pipe, co_usec timeout)
{
    co_usec limit = pipe->io.again ? pipe->io.again - co_clock() : ROOM_WAIT;
    bool cut = timeout != CO_FOREVER && timeout < limit;
    enum co_wake wake = CO_WOKEN;

    if (limit > 0)
        wake = pipe->io.again ? co_park(cut ? timeout : limit)
                              : wait_room(pipe, cut ? timeout : limit);
    return wake == CO_TIMEOUT && !cut ? CO_WOKEN : wake;
}

static enum co_wake udp_io_wait(struct io *io, bool out, co_usec timeout)
{
    struct rtsp_udp_pipe *pipe = pipe_of(io);

    if (out)
        return wait_out(pipe, timeout);
    return pipe->detached ? co_park(timeout) : io_wait(pipe->control, false, timeout);
}

/* ---- reads, from the connection */

static err_t udp_read(struct io *io, void *buf, size_t size, size_t *n)
{
    return io_read(pipe_of(io)->control, buf, size, n);
}

static err_t udp_read_now(struct io *io, void *buf, size_t size, size_t *n)
{
    return io_read_now(pipe_of(io)->control, buf, size, n);
}

static bool udp_readable(struct io *io)
{
    return !pipe_of(io)->detached && io_readable(pipe_of(io)->control);
}

static void udp_io_close(struct io *io)
{
    (void)io; /* owned by the peer */
}

static const struct io_ops udp_io_ops = {
    .name = "udp",
    .read = udp_read,
    .read_now = udp_read_now,
    .writev = udp_writev,
    .send_some = udp_send_some,
    .readable = udp_readable,
    .wait = udp_io_wait,
    .close = udp_io_close,
};

void rtsp_udp_pipe_init(struct rtsp_udp_pipe *pipe)
{
    *pipe = (struct rtsp_udp_pipe){ .io = { .ops = &udp_io_ops }, .rate = FIRST_RATE,
                                    .tokens = BURST, .at = co_clock() };
}

struct io *rtsp_udp_io(struct rtsp_udp_peer *p, struct io *control)
{
    p->pipe.control = control;
    p->pipe.detached |= !control;
    p->pipe.io.read_timeout = control ? control->read_timeout : CO_FOREVER;
    p->pipe.io.write_timeout = control ? control->write_timeout : CO_FOREVER;
    return &p->pipe.io;
}
