/* SPDX-License-Identifier: MIT */
/* endpoint.c - a socket of a worker, and its reader. */
#include "base/log.h"
#include "serve/rtc/impl.h"

#include <sys/socket.h>

enum { RCVBUF = 16 << 20, SNDBUF = 8 << 20, RCVBUF_WARN = 4 << 20 };

static err_t read_some(struct rtc_endpoint *e)
{
    const struct udp_in *v = NULL;
    size_t n = 0;
    err_t err = udp_recv_now(e->socket, &v, &n);

    for (size_t i = 0; !err && i < n; i++)
        rtc_input(e, &v[i], e->service->env->worker, v[i].at);
    if (!err && n == 0)
        (void)udp_wait(e->socket, CO_FOREVER); /* why it ended is asked below */
    co_yield_if_due();
    return err ? err : co_check();
}

err_t rtc_endpoint_main(void *endpoint)
{
    struct rtc_endpoint *e = endpoint;
    err_t err = NULL;

    co_log_as(LOG_STRANGERS);
    while (!err)
        err = read_some(e);
    if (err_class(err) == ERR_CLASS_STOP)
        err_free(&err);
    else
        log_end("no more datagrams of WebRTC", &err);
    return NULL;
}

/* Linux tells twice what was asked for. */
static int buffer_of(int fd)
{
    int size = 0;
    socklen_t n = sizeof(size);

    return getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &n) == 0 ? size / 2 : 0;
}

static void tell_buffer(const struct rtc_endpoint *e, int fd)
{
    const char *text = e->service->env->conf->rtc_server.listen.v[e->number].text;
    int kb = buffer_of(fd) / 1024;

    if (e->service->env->worker > 0)
        return;
    if (kb * 1024 < RCVBUF_WARN)
        log_warn("WebRTC: UDP %s has a receive buffer of %d KB, packets may be lost in bursts: "
                 "sysctl -w net.core.rmem_max=%d", text, kb, RCVBUF);
    else
        log_trace("WebRTC: UDP %s has a receive buffer of %d KB", text, kb);
}

err_t rtc_endpoint_open(struct rtc_endpoint *e, int fd)
{
    const struct udp_opts opts = { .rcvbuf = RCVBUF, .sndbuf = SNDBUF };
    err_t err = udp_adopt(&e->socket, fd, &opts);

    if (!err)
        tell_buffer(e, fd);
    return err;
}
