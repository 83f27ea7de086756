/* SPDX-License-Identifier: MIT */
/* accept.c - TCP connections to a WebRTC port, which may also be an HTTP port: the first byte
 * selects the protocol. A frame begins with its length, at most 1,500 (RFC 4571), a request with a
 * letter. */
#include "base/log.h"
#include "base/must.h"
#include "serve/http/http.h"
#include "serve/protocol.h"
#include "serve/rtc/impl.h"
#include "session/address_slot.h"
#include "serve/tcp/conn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* WebRTC clients send at once; a silent connection may be one that a browser opened in advance. */
#define LOOK_FIRST CO_MS(1)
#define LOOK_LAST CO_MS(300)

enum { FRAME_END = 6 }; /* limit of the first byte: 1,500 is 5 * 256 and some */

struct tcp_client {
    struct session_env *env;
    struct protocol_accepted accepted;
    struct address_slot place;
};

enum speaks { SPEAKS_NOTHING, SPEAKS_RTC, SPEAKS_HTTP };

static enum speaks language(const struct protocol_accepted *accepted)
{
    uint8_t first;
    ssize_t n;

    if (!accepted->served[PROTOCOL_HTTP])
        return SPEAKS_RTC;
    if (accepted->proxied) /* its first bytes came from the proxy */
        return SPEAKS_HTTP;
    n = recv(accepted->fd, &first, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0)
        return SPEAKS_NOTHING;
    return n == 1 && first < FRAME_END ? SPEAKS_RTC : SPEAKS_HTTP;
}

static err_t serve(struct tcp_client *g, struct session_env *env)
{
    char ip[IO_ADDR_SIZE];
    struct io *io;
    int port;
    err_t err = tcp_open(&io, g->accepted.fd);

    if (err) {
        (void)close(g->accepted.fd);
        return err;
    }
    err = tcp_remote(env, io, g->accepted.proxied, &g->place, ip, &port);
    if (!err && !rtc_service_of(env))
        err = err_new(ERR_RTC_DISABLED, "rtc_server is off");
    if (err) {
        io_close(io);
        return err;
    }
    log_debug("WebRTC client over TCP ip=%s:%d", ip, port);
    rtc_service_tcp(rtc_service_of(env), io, NULL, 0);
    return NULL;
}

static void to_http(struct tcp_client *g)
{
    err_t err = http_accept(g->env, &g->accepted, &g->place);

    if (err)
        log_end("accept", &err);
}

/* A stop while the client is silent ends the connection. */
static enum speaks listen_to(const struct tcp_client *g)
{
    enum speaks speaks = language(&g->accepted);
    err_t err = NULL;

    for (co_usec wait = LOOK_FIRST; speaks == SPEAKS_NOTHING && !err; wait *= 2) {
        if (wait > LOOK_LAST)
            break;
        err = co_sleep(wait);
        speaks = language(&g->accepted);
    }
    err_free(&err);
    return speaks;
}

static err_t connection_main(void *tcp_client)
{
    struct tcp_client *g = tcp_client;
    err_t err = NULL;

    co_new_cid();
    co_log_as(LOG_UNTRUSTED);
    if (listen_to(g) == SPEAKS_RTC)
        err = serve(g, g->env);
    else
        to_http(g);
    if (err)
        log_end("WebRTC over TCP", &err);
    address_slot_leave(&g->place);
    free(g);
    return NULL;
}

err_t rtc_accept(struct session_env *env, const struct protocol_accepted *tcp_client,
                 struct address_slot *place)
{
    struct tcp_client *g;
    err_t err;

    if (language(tcp_client) == SPEAKS_HTTP)
        return http_accept(env, tcp_client, place);
    g = must(calloc(1, sizeof(*g)));
    *g = (struct tcp_client){ .env = env, .accepted = *tcp_client, .place = *place };
    *place = (struct address_slot){ 0 };
    err = co_go(env->connections, "rtc-tcp", connection_main, g);
    if (!err)
        return NULL;
    (void)close(tcp_client->fd);
    address_slot_leave(&g->place);
    free(g);
    return err;
}
