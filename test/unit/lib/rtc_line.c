/* SPDX-License-Identifier: MIT */
/* rtc_line.c - a connected WebRTC session whose socket hands all datagrams to the test at once. */
#include "rtc_line.h"

static void on_sent(void *line, const struct udp_out *out)
{
    const struct rtc_line *l = line;
    const uint8_t *data = out->iov->iov_base;
    size_t size = out->iov->iov_len;

    assert_int_equal(out->count, 1);
    if (size > 1 && data[1] >= 192 && data[1] < 224)
        l->ops->rtcp(l->peer, data, size);
    else
        l->ops->rtp(l->peer, data, size, out->segment ? out->segment : size);
}

void rtc_line_connect(struct rtc_line *l, struct rtc_peer *p, const struct rtc_line_ops *ops)
{
    static struct rtc_endpoint endpoint;

    endpoint.base.socket = udp_hand_socket();
    *l = (struct rtc_line){ p, ops };
    p->ice.n = 1;
    p->ice.at = 0;
    p->ice.chosen = p->ice.sure = true;
    p->ice.paths[0].path.link = &endpoint;
    udp_hand_path(&p->ice.paths[0].path.path, l, on_sent);
}
