/* SPDX-License-Identifier: MIT */
/* udp_hand.c - a UDP socket that hands sent datagrams to the test at once. */
#include "udp_hand.h"

#include "unit.h"

#include <string.h>

struct address {
    void *arg;
    void (*sent)(void *arg, const struct udp_out *out);
};

static size_t send_all(struct udp *u, const struct udp_out *v, size_t n)
{
    (void)u;
    for (size_t i = 0; i < n; i++) {
        struct address to;

        memcpy(&to, v[i].path->peer.ip, sizeof(to));
        assert_non_null(to.sent);
        to.sent(to.arg, &v[i]);
    }
    return n;
}

struct udp *udp_hand_socket(void)
{
    static const struct udp_ops ops = { .name = "hand", .send = send_all };
    static struct udp socket = { .ops = &ops };

    return &socket;
}

void udp_hand_path(struct udp_path *path, void *arg, void (*sent)(void *arg, const struct udp_out *out))
{
    const struct address to = { arg, sent };

    _Static_assert(sizeof(to) <= sizeof(path->peer.ip), "it fits into an address");
    *path = (struct udp_path){ 0 };
    memcpy(path->peer.ip, &to, sizeof(to));
}
