/* SPDX-License-Identifier: MIT */
/* udp_ends.c - two ends that communicate over UDP. */
#include "udp_ends.h"

const struct udp_opts udp_usual = { 0 };

struct udp_path udp_path_to(const char *ip, int port)
{
    struct udp_path path = { 0 };

    assert_ok(udp_addr_parse(&path.peer, ip, port));
    return path;
}

size_t udp_send_bytes(struct udp *u, const struct udp_path *path, const void *data, size_t size,
                         size_t segment)
{
    struct iovec iov = { (void *)(uintptr_t)data, size };
    struct udp_out out = { &iov, 1, segment, path, UDP_NOT_ECT };

    return udp_send(u, &out, 1);
}
