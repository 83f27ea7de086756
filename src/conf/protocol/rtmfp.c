/* SPDX-License-Identifier: MIT */
/* rtmfp.c - directives, endpoint and checks of RTMFP. */
#include "conf/endpoint.h"
#include "conf/protocol.h"
#include "conf/table.h"
#include "conf/value.h"

#include <string.h>

enum { REDIRECTS_MAX = 24 }; /* addresses in one response */

/* Same order as their enums. */
static const char *const policy_words[] = { "off", "offer", "require", NULL };
static const char *const redirect_words[] = { "all", "app", NULL };
static const char *const address_limits_words[] = { "off", "on", "only", NULL };

static const struct conf_row server[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_rtmfp_server, enabled), "off", CONF_HANDLER,
      .help = "Serves RTMFP, in each vhost whose rtmfp is on." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_rtmfp_server, listen), "1935", CONF_HANDLER,
      .help = "UDP endpoints. The port may be that of RTMP." },
    { "hmac", CONF_KIND_ENUM, CONF_AT(conf_rtmfp_server, hmac), "offer", CONF_AT_ONCE,
      .words = policy_words,
      .help = "HMAC in packets, which prevents forged packets: off; offer, if the client "
              "supports it; require, which rejects older clients." },
    { "sequence", CONF_KIND_ENUM, CONF_AT(conf_rtmfp_server, sequence), "offer", CONF_AT_ONCE,
      .words = policy_words,
      .help = "Sequence numbers in packets, which prevent replays: off; offer, if the client "
              "supports it; require, which rejects older clients." },
    { "groups", CONF_KIND_LIST, CONF_AT(conf_rtmfp_server, groups), "2 5 14", CONF_NEVER,
      .help = "Diffie-Hellman groups for key exchange: 2 (1024 bits, supported by all clients), "
              "5 (1536 bits), 14 (2048 bits)." },
    { "threads", CONF_KIND_INT, CONF_AT(conf_rtmfp_server, threads), "2", CONF_NEVER, .min = 1,
      .max = 32, .help = "Number of helper threads that compute keys." },
    { "ping", CONF_KIND_SECONDS, CONF_AT(conf_rtmfp_server, ping), "20", CONF_AT_ONCE, .min = 1,
      .max = 3600,
      .help = "Sends a keepalive to a client after this many seconds of silence." },
    { "timeout", CONF_KIND_SECONDS, CONF_AT(conf_rtmfp_server, timeout), "60", CONF_AT_ONCE,
      .min = 5, .max = 86400, .help = "Ends a session after this many seconds of silence." },
    { "keepalive", CONF_KIND_SECONDS, CONF_AT(conf_rtmfp_server, keepalive), "20", CONF_AT_ONCE,
      .min = 5, .max = 3600,
      .help = "Seconds between keepalives that clients send to the server. The server announces "
              "it to them." },
    { "keepalive_peer", CONF_KIND_SECONDS, CONF_AT(conf_rtmfp_server, keepalive_peer), "20",
      CONF_AT_ONCE, .min = 5, .max = 3600,
      .help = "Seconds between keepalives that clients send to each other." },
    { "introduce", CONF_KIND_ON, CONF_AT(conf_rtmfp_server, introduce), "on", CONF_AT_ONCE,
      .help = "Gives clients the address of another client whose peer id they know. off: "
              "clients cannot connect to each other." },
    { "groups_enabled", CONF_KIND_ON, CONF_AT(conf_rtmfp_server, groups_enabled), "on",
      CONF_AT_ONCE,
      .help = "Lets clients join NetGroups, and gives them addresses of other members." },
    { "redirect", CONF_KIND_HOSTS, CONF_AT(conf_rtmfp_server, redirect), NULL, CONF_AT_ONCE,
      .port = 1935, .sample = "192.0.2.1:1935 192.0.2.2:1935", .def_note = "none: clients stay",
      .help = "Servers to which clients are redirected: IP addresses with an optional port, at "
              "most 24." },
    { "redirect_by", CONF_KIND_ENUM, CONF_AT(conf_rtmfp_server, redirect_by), "all", CONF_AT_ONCE,
      .words = redirect_words,
      .help = "all: a client gets all these servers and uses the first that answers. app: a "
              "client gets one of them, the same for all clients of an app." },
    { "redirect_peers", CONF_KIND_ENUM, CONF_AT(conf_rtmfp_server, redirect_peers), "off",
      CONF_AT_ONCE, .words = address_limits_words,
      .help = "Redirects requests for a peer that is not connected here. on: in addition to the "
              "redirection of clients; only: clients themselves are not redirected; off: not." },
    { "max_sessions", CONF_KIND_INT, CONF_AT(conf_rtmfp_server, max_sessions), "50000",
      CONF_AT_ONCE, .min = 1, .max = 1e6, .help = "Maximum number of sessions." },
    { "max_sessions_ip", CONF_KIND_INT, CONF_AT(conf_rtmfp_server, max_sessions_ip), NULL,
      CONF_AT_ONCE, .max = 1e6, .sample = "1000",
      .def_note = "1000, or half of max_sessions if that is less",
      .help = "Maximum number of sessions of one IPv4 address or one IPv6 /64. 0: no limit. If "
              "it is not set, private networks have no limit, see limits { limit_private }." },
    { "max_startup_ip", CONF_KIND_INT, CONF_AT(conf_rtmfp_server, max_startup_ip), "200",
      CONF_AT_ONCE, .max = 1e6,
      .help = "Maximum handshake packets per second of one address, with twice as many at once. "
              "0: no limit." },
};

static const struct conf_row vhost[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_vhost_rtmfp, enabled), "off", CONF_AT_ONCE,
      .help = "Serves RTMFP in this vhost." },
};

const struct conf_block conf_table_rtmfp_server = CONF_BLOCK_OF(conf_rtmfp_server, server,
    "RTMFP server: publish, play, and connect clients to each other, over UDP.");
const struct conf_block conf_table_vhost_rtmfp = CONF_BLOCK_OF(conf_vhost_rtmfp, vhost,
    "RTMFP in a vhost.");

/* ---- checks */

static err_t check_groups(const struct conf_list *groups)
{
    static const char *const known[] = { "2", "5", "14" };

    if (groups->n == 0)
        return err_new(ERR_CONF, "groups needs at least one of 2, 5, 14");
    for (size_t i = 0; i < groups->n; i++) {
        size_t k = 0;

        while (k < sizeof(known) / sizeof(known[0]) && strcmp(groups->v[i], known[k]) != 0)
            k++;
        if (k == sizeof(known) / sizeof(known[0]))
            return err_new(ERR_CONF, "groups must be 2, 5 or 14, not \"%.20s\"", groups->v[i]);
    }
    return NULL;
}

/* Clients get these addresses in binary form, so names are not possible. */
static err_t check_redirect(const struct conf_endpoints *redirect)
{
    uint8_t addr[16];
    bool is_v4;

    if (redirect->n > REDIRECTS_MAX)
        return err_new(ERR_CONF, "redirect allows %d servers, not %zu", REDIRECTS_MAX,
                       redirect->n);
    for (size_t i = 0; i < redirect->n; i++) {
        const char *host = redirect->v[i].host;

        if (!conf_address_parse(host, strlen(host), addr, &is_v4))
            return err_new(ERR_CONF, "redirect takes addresses, not names: \"%.60s\"", host);
    }
    return NULL;
}

static err_t check(const struct conf *c)
{
    err_t err = check_groups(&c->rtmfp_server.groups);

    if (!err)
        err = check_redirect(&c->rtmfp_server.redirect);
    return err ? err_wrap(err, "rtmfp_server") : NULL;
}

/* Returns true if every client is redirected, so that no vhost is necessary. */
static bool redirects_all(const struct conf *c)
{
    const struct conf_rtmfp_server *r = &c->rtmfp_server;

    return r->redirect.n > 0 && r->redirect_peers != CONF_REDIRECT_PEERS_ONLY;
}

static void warn(const struct conf *c, const struct conf_ctx *ctx)
{
    const struct conf_rtmfp_server *r = &c->rtmfp_server;

    if (!r->enabled)
        return;
    if (r->timeout <= r->ping)
        conf_warn(ctx, "rtmfp_server: timeout is not longer than ping: sessions end before the "
                  "first ping is sent");
    if (r->redirect.n == 0 && r->redirect_by != CONF_REDIRECT_ALL)
        conf_warn(ctx, "rtmfp_server: redirect_by has no effect without redirect");
    if (r->redirect.n == 0 && r->redirect_peers != CONF_REDIRECT_NO_PEERS)
        conf_warn(ctx, "rtmfp_server: redirect_peers has no effect without redirect");
}

static const struct conf_served served[] = {
    { "rtmfp", "RTMFP", "rtmfp_server.listen", "rtmfp", "rtmfp", PROTOCOL_RTMFP, CONF_SERVED_UDP,
      CONF_OF(rtmfp_server.enabled), CONF_NOWHERE, CONF_OF(rtmfp_server.listen), CONF_NOWHERE,
      { { "publish, play", "rtmfp://[host]/live/livestream[query]" } }, 1935 },
};

const struct conf_protocol conf_protocol_rtmfp = {
    .name = "rtmfp", .served = served, .n_served = 1,
    .vhost = offsetof(struct conf_vhost, rtmfp.enabled),
    .max = CONF_OF(rtmfp_server.max_sessions), .max_ip = CONF_OF(rtmfp_server.max_sessions_ip),
    .ip_most = 1000, /* enough for a school behind one address */
    .check = check, .warn = warn, .server_alone = redirects_all,
};
