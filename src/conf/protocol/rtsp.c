/* SPDX-License-Identifier: MIT */
/* rtsp.c - directives, endpoints and checks of RTSP. */
#include "conf/protocol.h"
#include "conf/table.h"
#include "conf/value.h"

#include <string.h>

#define YEARS 1e9

/* In the order of enum conf_rtsp_channels. */
static const char *const channel_words[] = { "server", "client", NULL };

static const struct conf_row https[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_tls, enabled), "off", CONF_HANDLER,
      .help = "Serves RTSP over TLS (rtsps://)." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_tls, listen), "322", CONF_HANDLER, CONF_PROXY,
      .sample = "8322", .help = "TCP endpoints for rtsps://." },
    CONF_TLS_ROWS,
    CONF_TLS_CERTIFICATES,
};
static const struct conf_block https_block =
    CONF_BLOCK_OF(conf_tls, https, "RTSP server over TLS.");

static const struct conf_row multicast[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_rtsp_multicast, enabled), "off", CONF_NEVER,
      .help = "Accepts players that request multicast. The server then sends each stream once, "
              "to a multicast group." },
    { "range", CONF_KIND_NETWORKS, CONF_AT(conf_rtsp_multicast, range), "239.0.0.0/8", CONF_NEVER,
      .help = "IPv4 network from which the server takes group addresses." },
    { "port", CONF_KIND_INT, CONF_AT(conf_rtsp_multicast, port), "8570", CONF_NEVER, .min = 2,
      .max = 65532,
      .help = "UDP port for RTP of video, an even number. RTCP uses the next port, audio the "
              "two after it." },
    { "ttl", CONF_KIND_INT, CONF_AT(conf_rtsp_multicast, ttl), "16", CONF_NEVER, .min = 1,
      .max = 255, .help = "Time to live of the packets, which limits how many routers they pass." },
};
static const struct conf_block multicast_block =
    CONF_BLOCK_OF(conf_rtsp_multicast, multicast, "Multicast to players.");

static const struct conf_row server[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_rtsp_server, enabled), "off", CONF_HANDLER,
      .help = "Serves RTSP, in each vhost whose rtsp is on." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_rtsp_server, listen), "554", CONF_HANDLER,
      CONF_PROXY, .sample = "8554",
      .help = "TCP endpoints. Ports below 1024, such as 554, need root or CAP_NET_BIND_SERVICE." },
    { "transports", CONF_KIND_LIST, CONF_AT(conf_rtsp_server, transports), "tcp udp",
      CONF_AT_ONCE,
      .help = "Transports for media: tcp, udp. A client that requests another one gets error "
              "461 and tries its next." },
    { "udp_port", CONF_KIND_INT, CONF_AT(conf_rtsp_server, udp_port), "8560", CONF_NEVER,
      .min = 2, .max = 65534,
      .help = "First UDP port, an even number for RTP. RTCP uses the next port. Each worker "
              "uses two ports of its own, from here on." },
    { "udp_gso", CONF_KIND_ON, CONF_AT(conf_rtsp_server, udp_gso), "on", CONF_AT_ONCE,
      .help = "Lets the kernel split large UDP writes into datagrams (GSO) if it can, which "
              "saves CPU. off: for comparison." },
    { "session_timeout", CONF_KIND_SECONDS, CONF_AT(conf_rtsp_server, session_timeout), "60",
      CONF_AT_ONCE, .min = 10, .max = 86400,
      .help = "Announces this timeout in seconds to UDP players, which then send keepalives. "
              "The server ends a session 15 s after it." },
    { "publish_timeout", CONF_KIND_SECONDS, CONF_AT(conf_rtsp_server, publish_timeout), "15",
      CONF_AT_ONCE, .min = 1, .max = YEARS,
      .help = "Ends a publisher after this many seconds without a packet or request." },
    { "send_timeout", CONF_KIND_SECONDS, CONF_AT(conf_rtsp_server, send_timeout), "30",
      CONF_AT_ONCE, .min = 0.1, .max = YEARS,
      .help = "Closes a connection after this many seconds in which the peer received no byte." },
    { "describe_wait", CONF_KIND_SECONDS, CONF_AT(conf_rtsp_server, describe_wait), "5",
      CONF_AT_ONCE, .max = 300,
      .help = "Seconds that a player waits for a stream that is not published yet. 0: it gets "
              "an error at once." },
    { "mtu", CONF_KIND_INT, CONF_AT(conf_rtsp_server, mtu), "1400", CONF_AT_ONCE, .min = 200,
      .max = 9000, .help = "Maximum payload of an RTP packet in bytes, also over TCP." },
    { "channels", CONF_KIND_ENUM, CONF_AT(conf_rtsp_server, channels), "server", CONF_AT_ONCE,
      .words = channel_words,
      .help = "Channel numbers over TCP. server: the server chooses, and all players share the "
              "same bytes. client: the client chooses, which costs more CPU; for clients that "
              "insist on their numbers." },
    { "tunnel", CONF_KIND_ON, CONF_AT(conf_rtsp_server, tunnel), "on", CONF_AT_ONCE,
      .help = "Accepts RTSP tunneled in HTTP or WebSocket, on these ports and those of "
              "http_server." },
    { "https", CONF_KIND_BLOCK, CONF_AT(conf_rtsp_server, https), .block = &https_block },
    { "multicast", CONF_KIND_BLOCK, CONF_AT(conf_rtsp_server, multicast),
      .block = &multicast_block },
};

static const struct conf_row auth[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_rtsp_auth, enabled), "off", CONF_AT_ONCE,
      .help = "Requires a name and a password to play and publish over RTSP." },
    { "realm", CONF_KIND_STRING, CONF_AT(conf_rtsp_auth, realm), "SRS", CONF_AT_ONCE,
      .help = "Text that players show when they request the password." },
    { "methods", CONF_KIND_LIST, CONF_AT(conf_rtsp_auth, methods), "digest-md5 basic",
      CONF_AT_ONCE,
      .help = "Accepted methods: digest-md5, digest-sha256, basic. FFmpeg cannot log in if "
              "digest-sha256 is offered. basic sends the password in clear text." },
    { "user", CONF_KIND_COMMANDS, CONF_AT(conf_rtsp_auth, user), NULL, CONF_AT_ONCE,
      CONF_SECRET | CONF_NO_ENV, .sample = "viewer change-me play",
      .help = "Name, password, and the permissions play, publish or both (default: both). "
              "Repeatable." },
};
static const struct conf_block auth_block = CONF_BLOCK_OF(conf_rtsp_auth, auth,
    "RTSP login, as in rtsp://NAME:PASSWORD@HOST/APP/STREAM.");

static const struct conf_row pull[] = {
    { "enabled", CONF_KIND_ON, CONF_AT(conf_rtsp_pull, enabled), "on", CONF_HANDLER,
      .help = "Runs this pull." },
    { "stream", CONF_KIND_STRING, CONF_AT(conf_rtsp_pull, stream), NULL, CONF_HANDLER,
      .sample = "live/camera",
      .help = "Name of the stream on this server: app/stream; one word is a stream in app live. "
              "With [param], as in cams/[param], it is a pattern: when a player requests a name "
              "that matches, the server pulls the url with this text for [param]. The text may "
              "contain letters, digits, and - _ . between them." },
    { "url", CONF_KIND_STRING, CONF_AT(conf_rtsp_pull, url), NULL, CONF_HANDLER, CONF_SECRET,
      .sample = "rtsp://admin:change-me@192.168.1.64:554/stream1",
      .help = "Address of the source, with name and password if it needs a login." },
    { "transport", CONF_KIND_LIST, CONF_AT(conf_rtsp_pull, transport), "tcp udp", CONF_HANDLER,
      .help = "Transports in order of preference: tcp, udp. The first one that the source "
              "supports is used." },
    { "on_demand", CONF_KIND_OFF, CONF_AT(conf_rtsp_pull, on_demand), "off", CONF_HANDLER,
      .help = "Pulls only while the stream has players." },
    { "linger", CONF_KIND_SECONDS, CONF_AT(conf_rtsp_pull, linger), "10", CONF_HANDLER,
      .max = YEARS,
      .help = "Seconds that an on-demand pull continues after its last player has left." },
    { "timeout", CONF_KIND_SECONDS, CONF_AT(conf_rtsp_pull, timeout), "10", CONF_HANDLER,
      .min = 1, .max = YEARS,
      .help = "Reconnects after this many seconds without a packet." },
    { "tls_verify", CONF_KIND_OFF, CONF_AT(conf_rtsp_pull, tls_verify), "off", CONF_HANDLER,
      .help = "Verifies the certificate of an rtsps:// source before the server sends the "
              "password." },
    { "tls_ca", CONF_KIND_STRING, CONF_AT(conf_rtsp_pull, tls_ca), NULL, CONF_HANDLER,
      .sample = "./conf/ca.crt",
      .help = "PEM file of trusted certificate authorities for tls_verify. Not set: those of "
              "the system." },
};
static const struct conf_block pull_block = CONF_BLOCK_OF(conf_rtsp_pull, pull,
    "Pulls a stream over RTSP from a camera or another server. Access rules (security, refer, "
    "tokens) do not apply; on_publish and on_unpublish only inform.");

static const struct conf_row vhost_rtsp[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_vhost_rtsp, enabled), "off", CONF_AT_ONCE,
      .help = "Serves RTSP in this vhost." },
    { "rtmp_to_rtsp", CONF_KIND_ON, CONF_AT(conf_vhost_rtsp, rtmp_to_rtsp), "on", CONF_AT_ONCE,
      .help = "Makes streams published over other protocols available to RTSP players." },
    { "mw_latency", CONF_KIND_MSEC_AUTO, CONF_AT(conf_vhost_rtsp, mw_latency_set), NULL,
      CONF_HANDLER, .max = 60000, .sample = "350", .def_note = "that of play",
      .help = "Milliseconds of media sent to RTSP players at once. Raise it for less CPU, lower "
              "it for less latency. auto: follows the load." },
    { "jitter", CONF_KIND_MSEC, CONF_AT(conf_vhost_rtsp, jitter), "200", CONF_AT_ONCE,
      .max = 10000,
      .help = "Size of the jitter buffer in milliseconds: how long packets received over UDP "
              "wait for missing ones." },
    { "keep_broken", CONF_KIND_OFF, CONF_AT(conf_vhost_rtsp, keep_broken), "off", CONF_AT_ONCE,
      .help = "Keeps frames with a lost packet, and frames that depend on them. off: players "
              "show the last good frame until the next key frame." },
    { "auth", CONF_KIND_BLOCK, CONF_AT(conf_vhost_rtsp, auth), .block = &auth_block },
    { "pull", CONF_KIND_BLOCKS, CONF_AT(conf_vhost_rtsp, pull), NULL, CONF_HANDLER, CONF_NO_ENV,
      .block = &pull_block },
};

const struct conf_block conf_table_rtsp_server = CONF_BLOCK_OF(conf_rtsp_server, server,
    "RTSP server: publish and play, over TCP, UDP, TLS and HTTP.");
const struct conf_block conf_table_vhost_rtsp =
    CONF_BLOCK_OF(conf_vhost_rtsp, vhost_rtsp, "RTSP in a vhost.");

/* ---- checks */

static err_t check_words(const struct conf_list *list, const char *const *known, const char *name)
{
    if (list->n == 0)
        return err_new(ERR_CONF, "%s is empty", name);
    for (size_t i = 0; i < list->n; i++) {
        const char *const *k = known;

        while (*k && strcmp(*k, list->v[i]) != 0)
            k++;
        if (!*k)
            return err_new(ERR_CONF, "%s: \"%.30s\" is not known: %s, %s%s%s", name, list->v[i],
                           known[0], known[1], known[2] ? ", " : "", known[2] ? known[2] : "");
    }
    return NULL;
}

static const char *const lower[] = { "tcp", "udp", NULL };
static const char *const methods[] = { "digest-md5", "digest-sha256", "basic", NULL };

/* RFC 3550 11: RTP uses an even port, RTCP the next one. */
static err_t check_port(int port, const char *name)
{
    return port % 2 ? err_new(ERR_CONF, "%s %d is odd: RTP has an even port, RTCP the next", name,
                              port)
                    : NULL;
}

static err_t check_multicast(const struct conf_rtsp_multicast *m)
{
    static const uint8_t mapped[12] = { [10] = 0xff, 0xff };
    const struct conf_network *n = m->range.v;

    if (m->range.n != 1 || n->bits < 96 + 4 || memcmp(n->addr, mapped, sizeof(mapped)) != 0 ||
        n->addr[12] >> 4 != 0xe)
        return err_new(ERR_CONF, "range must be one network of IPv4 groups, such as 239.0.0.0/8");
    return check_port(m->port, "port");
}

static err_t check(const struct conf *c)
{
    const struct conf_rtsp_server *r = &c->rtsp_server;
    err_t err = check_multicast(&r->multicast);

    if (err)
        return err_wrap(err, "rtsp_server.multicast");
    err = check_words(&r->transports, lower, "transports");
    if (!err)
        err = check_port(r->udp_port, "udp_port");
    return err ? err_wrap(err, "rtsp_server") : NULL;
}

/* Checks the permissions of a user, which follow name and password. */
static err_t check_roles(const struct conf_list *line)
{
    for (size_t i = 2; i < line->n; i++) {
        if (strcmp(line->v[i], "play") != 0 && strcmp(line->v[i], "publish") != 0)
            return err_new(ERR_CONF, "user %.60s: \"%.30s\" is not known: play, publish",
                           line->v[0], line->v[i]);
        if (i > 2 && strcmp(line->v[i], line->v[2]) == 0)
            return err_new(ERR_CONF, "user %.60s: %s is repeated", line->v[0], line->v[i]);
    }
    return NULL;
}

/* RFC 7617 2: a colon ends the name. Digest quotes the name. */
static err_t check_user(const struct conf_list *line)
{
    if (line->n < 2 || line->n > 4 || !*line->v[0] || !*line->v[1])
        return err_new(ERR_CONF, "user takes a name, a password, and optionally play, publish or "
                       "both");
    if (strpbrk(line->v[0], ":\"\\"))
        return err_new(ERR_CONF, "user %.60s: a name must not contain : \" or \\", line->v[0]);
    return check_roles(line);
}

static err_t check_auth(const struct conf_rtsp_auth *a)
{
    err_t err = check_words(&a->methods, methods, "methods");

    if (!err && strpbrk(a->realm, "\"\\\r\n"))
        err = err_new(ERR_CONF, "realm must not contain \" or \\");
    if (!err && a->enabled && a->user.n == 0)
        err = err_new(ERR_CONF, "it is on but has no user");
    for (size_t i = 0; i < a->user.n && !err; i++)
        err = check_user(&a->user.v[i]);
    return err ? err_wrap(err, "rtsp.auth") : NULL;
}

static err_t check_pull(const struct conf_rtsp_pulls *all, size_t at)
{
    const struct conf_rtsp_pull *p = &all->v[at];

    if (!p->enabled)
        return NULL;
    if (!*p->stream || !*p->url)
        return err_new(ERR_CONF, "it needs both stream and url");
    if (strncmp(p->url, "rtsp://", 7) != 0 && strncmp(p->url, "rtsps://", 8) != 0)
        return err_new(ERR_CONF, "the url of %.60s must begin with rtsp:// or rtsps://", p->stream);
    for (size_t i = 0; i < at; i++) {
        if (all->v[i].enabled && strcmp(all->v[i].stream, p->stream) == 0)
            return err_new(ERR_CONF, "duplicate pull of %.60s", p->stream);
    }
    return check_words(&p->transport, lower, "transport");
}

static err_t check_vhost(const struct conf_vhost *v)
{
    err_t err = check_auth(&v->rtsp.auth);

    for (size_t i = 0; i < v->rtsp.pull.n && !err; i++) {
        err = check_pull(&v->rtsp.pull, i);
        if (err)
            err = err_wrap(err, "rtsp.pull");
    }
    return err;
}

static bool pulls(const struct conf_vhost *v)
{
    const struct conf_vhost_rtsp *r = &v->rtsp;

    for (size_t i = 0; i < r->pull.n; i++) {
        if (r->pull.v[i].enabled)
            return true;
    }
    return false;
}

static void warn(const struct conf *c, const struct conf_ctx *ctx)
{
    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_vhost *v = &c->vhost.v[i];

        if (!v->rtsp.enabled && pulls(v))
            conf_warn(ctx, "vhost %.60s: pull has no effect: rtsp is off", v->name);
    }
    if (c->rtsp_server.https.enabled && !c->rtsp_server.enabled)
        conf_warn(ctx, "rtsp_server.https is on and has no effect: rtsp_server is off");
}

/* ---- computed values */

static bool has_word(const struct conf_list *words, const char *word)
{
    for (size_t i = 0; i < words->n; i++) {
        if (strcmp(words->v[i], word) == 0)
            return true;
    }
    return false;
}

static void resolve_vhost(const struct conf_play *play, struct conf_vhost_rtsp *r)
{
    r->mw_latency = r->mw_latency_set != CONF_OUTER ? r->mw_latency_set : play->mw_latency;
    r->auth.basic = has_word(&r->auth.methods, "basic");
    r->auth.md5 = has_word(&r->auth.methods, "digest-md5");
    r->auth.sha256 = has_word(&r->auth.methods, "digest-sha256");
}

static void resolve(struct conf *c)
{
    c->rtsp_server.tcp = has_word(&c->rtsp_server.transports, "tcp");
    c->rtsp_server.udp = has_word(&c->rtsp_server.transports, "udp");
    for (size_t i = 0; i < c->vhost.n; i++) {
        struct conf_vhost *v = (struct conf_vhost *)(uintptr_t)&c->vhost.v[i];

        resolve_vhost(&v->play, &v->rtsp);
    }
}

/* Each worker uses two ports. */
static unsigned ports(const struct conf *c, unsigned workers, int *first, const char **remedy)
{
    *first = c->rtsp_server.udp_port;
    *remedy = "set another udp_port, or transports tcp";
    return c->rtsp_server.enabled && c->rtsp_server.udp ? 2 * workers : 0;
}

static const struct conf_served served[] = {
    { "rtsp", "RTSP", "rtsp_server.listen", "rtsp", "rtsp", PROTOCOL_RTSP, 0,
      CONF_OF(rtsp_server.enabled), CONF_NOWHERE, CONF_OF(rtsp_server.listen), CONF_NOWHERE,
      { { "publish, play", "rtsp://[host]/live/livestream[query]" } }, 554 },
    { "rtsps", "RTSPS", "rtsp_server.https.listen", NULL, "rtsps", PROTOCOL_RTSP, 0,
      CONF_OF(rtsp_server.https.enabled), CONF_OF(rtsp_server.enabled),
      CONF_OF(rtsp_server.https.listen), .tls = CONF_OF(rtsp_server.https) },
};

const struct conf_protocol conf_protocol_rtsp = {
    .name = "rtsp", .served = served, .n_served = 2,
    .vhost = offsetof(struct conf_vhost, rtsp.enabled),
    .max = CONF_NOWHERE, .check = check, .check_vhost = check_vhost, .resolve = resolve,
    .warn = warn, .vhost_alone = pulls, .ports = ports,
};
