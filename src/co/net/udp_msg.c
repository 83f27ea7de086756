/* SPDX-License-Identifier: MIT */
/* udp_msg.c - what goes with a datagram as control messages. */
#include "co/net/udp_msg.h"

#include <netinet/udp.h>
#include <string.h>

enum { ECN_BITS = 3 };

static void mapped(uint8_t ip[16], const struct in_addr *v4)
{
    memset(ip, 0, 10);
    ip[10] = ip[11] = 0xff;
    memcpy(ip + 12, v4, 4);
}

static void read_v4(const struct cmsghdr *c, struct udp_told *out)
{
    struct in_pktinfo info;
    uint8_t tos;

    if (c->cmsg_type == IP_TOS) { /* a byte, unlike that of IPv6 */
        memcpy(&tos, CMSG_DATA(c), sizeof(tos));
        out->ecn = tos & ECN_BITS;
    } else if (c->cmsg_type == IP_PKTINFO) {
        memcpy(&info, CMSG_DATA(c), sizeof(info));
        mapped(out->local.ip, &info.ipi_spec_dst); /* of us, also when all were asked */
    }
}

/* Addresses of many are nobody's to answer from. */
static bool is_of_many(const struct in6_addr *ip)
{
    if (IN6_IS_ADDR_V4MAPPED(ip))
        return ip->s6_addr[12] >= 224;
    return IN6_IS_ADDR_MULTICAST(ip);
}

static void read_v6(const struct cmsghdr *c, struct udp_told *out)
{
    struct in6_pktinfo info;
    int class;

    if (c->cmsg_type == IPV6_TCLASS) {
        memcpy(&class, CMSG_DATA(c), sizeof(class));
        out->ecn = class & ECN_BITS;
    } else if (c->cmsg_type == IPV6_PKTINFO) {
        memcpy(&info, CMSG_DATA(c), sizeof(info));
        if (is_of_many(&info.ipi6_addr))
            return;
        memcpy(out->local.ip, &info.ipi6_addr, sizeof(out->local.ip));
        if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
            out->local.zone = info.ipi6_ifindex;
    }
}

static void read_one(const struct cmsghdr *c, struct udp_told *out)
{
    int segment;

    if (c->cmsg_level == IPPROTO_IP) {
        read_v4(c, out);
    } else if (c->cmsg_level == IPPROTO_IPV6) {
        read_v6(c, out);
    } else if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
        memcpy(&segment, CMSG_DATA(c), sizeof(segment));
        out->segment = segment > 0 ? (size_t)segment : 0;
    } else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
        memcpy(&out->at, CMSG_DATA(c), sizeof(out->at));
    } else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
        memcpy(&out->overflow, CMSG_DATA(c), sizeof(out->overflow));
    }
}

void udp_msg_read(const struct msghdr *msg, struct udp_told *out)
{
    struct msghdr *m = (struct msghdr *)(uintptr_t)msg;

    *out = (struct udp_told){ 0 };
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
        read_one(c, out);
}

static void put(struct msghdr *msg, int level, int type, const void *data, size_t size)
{
    struct cmsghdr *c =
        (struct cmsghdr *)(void *)((uint8_t *)msg->msg_control + msg->msg_controllen);

    *c = (struct cmsghdr){ .cmsg_level = level, .cmsg_type = type, .cmsg_len = CMSG_LEN(size) };
    memcpy(CMSG_DATA(c), data, size);
    msg->msg_controllen += CMSG_SPACE(size);
}

static void put_local(struct msghdr *msg, const struct udp_addr *local, bool v4)
{
    struct in_pktinfo four = { 0 };
    struct in6_pktinfo six = { .ipi6_ifindex = local->zone };

    if (v4) {
        memcpy(&four.ipi_spec_dst, local->ip + 12, sizeof(four.ipi_spec_dst));
        put(msg, IPPROTO_IP, IP_PKTINFO, &four, sizeof(four));
    } else {
        memcpy(&six.ipi6_addr, local->ip, sizeof(local->ip));
        put(msg, IPPROTO_IPV6, IPV6_PKTINFO, &six, sizeof(six));
    }
}

void udp_msg_write(struct msghdr *msg, const struct udp_out *v, size_t segment)
{
    bool v4 = udp_addr_is_v4(&v->path->peer);
    uint16_t each = (uint16_t)segment;
    int class = (int)v->ecn;

    msg->msg_controllen = 0;
    if (!udp_addr_is_any(&v->path->local) && udp_addr_is_v4(&v->path->local) == v4)
        put_local(msg, &v->path->local, v4);
    if (class)
        put(msg, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_TOS : IPV6_TCLASS, &class, sizeof(class));
    if (segment)
        put(msg, SOL_UDP, UDP_SEGMENT, &each, sizeof(each));
    if (msg->msg_controllen == 0)
        msg->msg_control = NULL;
}
