/* SPDX-License-Identifier: MIT */
/* rtsp_udp.c - a player's sockets. */
#include "tools/load/rtsp_udp.h"

#include <stdlib.h>

enum { REPORT_S = 5, REPORT_MAX = 512 };

void load_udp_init(struct load_udp *u, struct load_rtp *rtp)
{
    *u = (struct load_udp){ .rtp = rtp, .ssrc = (uint32_t)rand() };
    co_group_init(&u->group);
}

static void input(void *me, const struct udp_in *v, size_t n, co_usec now)
{
    struct load_udp_track *t = me;
    struct load_client *c = t->rtp->c;

    (void)now;
    for (size_t i = 0; i < n; i++) {
        c->bytes += v[i].size;
        c->run->stat.bytes_in += v[i].size;
        load_rtp_packet(t->rtp, t->track, v[i].data, v[i].size);
    }
    c->read_at = co_now();
}

static err_t read_all(void *arg)
{
    static const struct udp_proto proto = { .input = input };
    struct load_udp_track *t = arg;

    return udp_drive(t->pair.udp[0], &proto, t);
}

err_t load_udp_begin(struct load_udp *u, unsigned track)
{
    struct load_udp_track *t = &u->tracks[track];

    t->rtp = u->rtp;
    t->track = &u->rtp->tracks[track];
    return co_go(&u->group, "datagrams", read_all, t);
}

static void report(const struct load_udp *u, struct load_udp_track *t)
{
    struct load_rtp_track *track = t->track;
    struct rtcp_block b;
    struct udp_path path = { .peer = t->pair.to[1] };
    struct iovec iov;
    struct wr w;

    if (!track->started || t->pair.to[1].port == 0)
        return;
    b = load_rtp_block(&track->stats, track->ssrc, track->last_sr, track->sr_at);
    wr_init(&w, REPORT_MAX);
    rtcp_put_rr(&w, u->ssrc, &b, 1);
    rtcp_put_cname(&w, u->ssrc, "load");
    iov = (struct iovec){ w.buf, w.len };
    (void)udp_send(t->pair.udp[1], &(struct udp_out){ &iov, 1, 0, &path, UDP_NOT_ECT }, 1);
    wr_free(&w);
}

static void hear(struct load_udp_track *t)
{
    const struct udp_in *v;
    size_t n = 0;
    err_t err;

    do {
        err = udp_recv_now(t->pair.udp[1], &v, &n);
        for (size_t i = 0; !err && i < n; i++)
            load_rtp_packet(t->rtp, t->track, v[i].data, v[i].size);
    } while (!err && n > 0);
    err_free(&err);
}

void load_udp_tick(struct load_udp *u)
{
    bool due = co_now() >= u->report_due;

    if (due)
        u->report_due = co_now() + CO_SECONDS(REPORT_S);
    for (unsigned i = 0; i < u->rtp->n; i++) {
        struct load_udp_track *t = &u->tracks[i];
        uint64_t lost = t->pair.udp[0]->stat.overflow + t->pair.udp[0]->stat.truncated;

        u->rtp->c->run->stat.rtp.overflow += lost - t->told;
        t->told = lost;
        hear(t);
        if (due)
            report(u, t);
    }
}

void load_udp_fini(struct load_udp *u)
{
    err_t err = co_group_stop(&u->group);

    err_free(&err); /* the session tells why it ends */
    for (unsigned i = 0; i < LOAD_RTP_TRACKS; i++)
        load_pair_close(&u->tracks[i].pair);
}
