/* SPDX-License-Identifier: MIT */
/* rtc_line.c - a connected session of WebRTC whose socket hands all datagrams to the test at once. */
#include "rtc_line.h"

#include <string.h>

/* The address of the peer is where it is, and its functions. */
struct address {
    struct rtc_peer *peer;
    const struct rtc_line_ops *ops;
};

static bool is_rtcp(const uint8_t *data, size_t size)
{
    return size > 1 && data[1] >= 192 && data[1] < 224;
}

static size_t send_all(struct udp *u, const struct udp_out *v, size_t n)
{
    (void)u;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *data = v[i].iov->iov_base;
        size_t size = v[i].iov->iov_len;
        struct address to;

        memcpy(&to, v[i].path->peer.ip, sizeof(to));
        assert_int_equal(v[i].count, 1);
        if (is_rtcp(data, size))
            to.ops->rtcp(to.peer, data, size);
        else
            to.ops->rtp(to.peer, data, size, v[i].segment ? v[i].segment : size);
    }
    return n;
}

void rtc_line_connect(struct rtc_peer *p, const struct rtc_line_ops *ops)
{
    static const struct udp_ops socket_ops = { .name = "line", .send = send_all };
    static struct udp socket = { .ops = &socket_ops };
    static struct rtc_endpoint endpoint = { .base.socket = &socket };
    const struct address to = { p, ops };
    struct ice_way *way = &p->ice.ways[0].way;

    _Static_assert(sizeof(to) <= sizeof(way->path.peer.ip), "it fits into an address");
    p->ice.n = 1;
    p->ice.at = 0;
    p->ice.chosen = p->ice.sure = true;
    way->link = &endpoint;
    memcpy(way->path.peer.ip, &to, sizeof(to));
}
