/* SPDX-License-Identifier: MIT */
/* endpoint.c - the sockets of a worker and their log lines. */
#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "serve/rtc/impl.h"

#include <stdlib.h>
#include <sys/socket.h>

enum { RCVBUF = 16 << 20, SNDBUF = 8 << 20, RCVBUF_WARN = 4 << 20 };

struct datagram_endpoint *rtc_endpoint_new(struct datagram_service *service)
{
    struct rtc_endpoint *e = must(calloc(1, sizeof(*e)));

    e->service = container_of(service, struct rtc_service, base);
    return &e->base;
}

struct udp_opts rtc_endpoint_opts(const struct conf *conf)
{
    return (struct udp_opts){ .rcvbuf = RCVBUF, .sndbuf = SNDBUF,
                              .plain = !conf->rtc_server.udp_gso };
}

/* Linux returns twice the requested size. */
static int buffer_of(int fd)
{
    int size = 0;
    socklen_t n = sizeof(size);

    return getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &n) == 0 ? size / 2 : 0;
}

void rtc_endpoint_opened(struct datagram_endpoint *e, int fd)
{
    const char *text = e->text;
    int kb = buffer_of(fd) / 1024;

    if (e->service->env->worker > 0)
        return;
    if (kb * 1024 < RCVBUF_WARN)
        log_warn("WebRTC: UDP %s has a receive buffer of %d KB, packets may be lost in bursts: "
                 "sysctl -w net.core.rmem_max=%d", text, kb, RCVBUF);
    else
        log_trace("WebRTC: UDP %s has a receive buffer of %d KB", text, kb);
}

/* A client that got this address may still connect, and connected ones may have any path through
 * it. */
bool rtc_endpoint_in_use(const struct datagram_endpoint *base)
{
    const struct rtc_endpoint *e = container_of(base, const struct rtc_endpoint, base);
    const struct rtc_service *s = e->service;

    for (const struct datagram_client *c = s->base.clients; c; c = c->next) {
        const struct rtc_peer *p = container_of(c, const struct rtc_peer, base);
        const struct ice_path *way = ice_path(&p->ice);

        if (p->base.state < DATAGRAM_ACTIVE || (way && way->link == e))
            return true;
    }
    return rtc_table_passes(&s->table, e, co_clock());
}

void rtc_endpoint_closing(struct datagram_endpoint *base)
{
    struct rtc_endpoint *e = container_of(base, struct rtc_endpoint, base);
    struct rtc_service *s = e->service;

    rtc_table_forget_endpoint(&s->table, e);
    for (struct datagram_client *c = s->base.clients; c; c = c->next)
        ice_forget(&container_of(c, struct rtc_peer, base)->ice, e);
}
