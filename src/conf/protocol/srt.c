/* SPDX-License-Identifier: MIT */
/* srt.c - directives, endpoint and checks of SRT. */
#include "conf/protocol.h"
#include "conf/table.h"

#include <limits.h>
#include <string.h>

#define YEARS 1e9

/* In the order of enum conf_srt_mode. */
static const char *const mode_words[] = { "request", "publish", NULL };

static const struct conf_row server[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_srt_server, enabled), "off", CONF_HANDLER,
      .help = "Serves SRT, in each vhost whose srt is on." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_srt_server, listen), "10080", CONF_HANDLER,
      .help = "UDP endpoints." },
    { "maxbw", CONF_KIND_SIZE, CONF_AT(conf_srt_server, maxbw), "-1", CONF_AT_ONCE,
      .min = -1, .max = 1e10,
      .help = "Maximum bytes per second sent to one player, including retransmissions. -1: "
              "125000000 (1 Gbit/s); 0: 1.25 times the rate of its stream." },
    { "mss", CONF_KIND_INT, CONF_AT(conf_srt_server, mss), "1500", CONF_AT_ONCE, .min = 232,
      .max = 65536,
      .help = "Maximum packet size in bytes, with the headers of IP and UDP. Values above 1500 "
              "count as 1500." },
    { "connect_timeout", CONF_KIND_MSEC, CONF_AT(conf_srt_server, connect_timeout), "3000",
      CONF_AT_ONCE, .min = 100, .max = 60000,
      .help = "Milliseconds for a handshake, including key derivation and callbacks." },
    { "peer_idle_timeout", CONF_KIND_MSEC, CONF_AT(conf_srt_server, peer_idle_timeout), "10000",
      CONF_AT_ONCE, .min = 500, .max = YEARS,
      .help = "Closes a connection after this many milliseconds of silence." },
    { "latency", CONF_KIND_MSEC_AUTO, CONF_AT(conf_srt_server, latency_set), NULL, CONF_AT_ONCE,
      .max = 60000, .sample = "120", .def_note = "none: recvlatency and peerlatency apply",
      .help = "Sets recvlatency and peerlatency together, in milliseconds." },
    { "recvlatency", CONF_KIND_MSEC_AUTO, CONF_AT(conf_srt_server, recvlatency_set), NULL,
      CONF_AT_ONCE, .max = 60000, .sample = "120", .def_note = "120",
      .help = "Minimum milliseconds that packets of a publisher wait for retransmission of lost "
              "ones. The publisher may request more. Raise it to three or four times the round "
              "trip time." },
    { "peerlatency", CONF_KIND_MSEC_AUTO, CONF_AT(conf_srt_server, peerlatency_set), NULL,
      CONF_AT_ONCE, .max = 60000, .sample = "0", .def_note = "0",
      .help = "Minimum latency in milliseconds towards players. A player may request more." },
    { "tsbpdmode", CONF_KIND_ON, CONF_AT(conf_srt_server, tsbpdmode), "on", CONF_AT_ONCE,
      .help = "Delivers packets of a publisher at the pace of their timestamps. off: as soon as "
              "they are in order." },
    { "tlpktdrop", CONF_KIND_ON, CONF_AT(conf_srt_server, tlpktdrop), "on", CONF_AT_ONCE,
      .help = "Skips packets that arrive too late. off: waits for them until recvbuf is full, "
              "then closes the publisher." },
    { "sendbuf", CONF_KIND_INT, CONF_AT(conf_srt_server, sendbuf), "12058624", CONF_AT_ONCE,
      .min = 16384, .max = 2e9,
      .help = "Maximum unacknowledged bytes sent to a player." },
    { "recvbuf", CONF_KIND_INT, CONF_AT(conf_srt_server, recvbuf), "12058624", CONF_AT_ONCE,
      .min = 16384, .max = 2e9,
      .help = "Maximum bytes of a publisher in the receive buffer. The server counts packets, "
              "at most 8192." },
    { "payloadsize", CONF_KIND_INT, CONF_AT(conf_srt_server, payloadsize), "1316", CONF_AT_ONCE,
      .min = 188, .max = 1456,
      .help = "Media bytes in a packet that the server makes, rounded down to a multiple of 188." },
    { "passphrase", CONF_KIND_STRING, CONF_AT(conf_srt_server, passphrase), NULL, CONF_AT_ONCE,
      CONF_SECRET, .sample = "xxxxxxxxxxxx",
      .help = "Turns encryption on: 10 to 79 characters. Clients without it are rejected." },
    { "pbkeylen", CONF_KIND_INT, CONF_AT(conf_srt_server, pbkeylen), "0", CONF_AT_ONCE, .max = 32,
      .help = "Bytes of the AES key that the server announces to clients: 16, 24, 32, or 0 to "
              "let them choose." },
    { "default_app", CONF_KIND_STRING, CONF_AT(conf_srt_server, default_app), "live",
      CONF_AT_ONCE, .help = "Application of stream ids that do not name one." },
    { "default_streamid", CONF_KIND_STRING, CONF_AT(conf_srt_server, default_streamid),
      "#!::r=live/livestream,m=request", CONF_AT_ONCE,
      .help = "Stream id of clients that send none, such as VLC." },
    { "default_mode", CONF_KIND_ENUM, CONF_AT(conf_srt_server, default_mode), "request",
      CONF_AT_ONCE, .words = mode_words,
      .help = "Meaning of a stream id that is only app/stream: request (play) or publish." },
    { "sei_filter", CONF_KIND_ON, CONF_AT(conf_srt_server, sei_filter), "on", CONF_AT_ONCE,
      .help = "Removes SEI messages from video published over SRT, except captions." },
    { "merge", CONF_KIND_MSEC, CONF_AT(conf_srt_server, merge), "20", CONF_AT_ONCE, .max = 1000,
      .help = "Milliseconds of media sent to players at once, at most a fifth of their latency. "
              "Raise it for less CPU." },
    { "relay", CONF_KIND_ON, CONF_AT(conf_srt_server, relay), "on", CONF_AT_ONCE,
      .help = "Sends the packets of an SRT publisher to SRT players unchanged, with all tracks "
              "and private data. off: the server remultiplexes the stream." },
    { "gso", CONF_KIND_ON, CONF_AT(conf_srt_server, gso), "on", CONF_NEVER,
      .help = "Lets the kernel split large UDP writes into datagrams (GSO) if it can, which "
              "saves CPU. off: for comparison." },
    { "max_connections", CONF_KIND_INT, CONF_AT(conf_srt_server, max_connections), "10000",
      CONF_AT_ONCE, .min = 1, .max = 1e6, .help = "Maximum number of SRT connections." },
    { "max_ip", CONF_KIND_INT, CONF_AT(conf_srt_server, max_ip), NULL, CONF_AT_ONCE, .max = 1e6,
      .sample = "5000", .def_note = "half of max_connections",
      .help = "Maximum number of SRT connections of one IPv4 address or one IPv6 /64. 0: no "
              "limit. If it is not set, private networks have no limit, see limits { "
              "limit_private }." },
    { "handshakes", CONF_KIND_INT, CONF_AT(conf_srt_server, handshakes), "200", CONF_AT_ONCE,
      .max = 1e6,
      .help = "Maximum handshakes per second of one address; those of 10 s may come at once. 0: "
              "no limit." },
    { "mix_correct", CONF_KIND_OBSOLETE, .flags = CONF_QUIET, .help = "Never had an effect." },
};

static const struct conf_row vhost[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_vhost_srt, enabled), "off", CONF_AT_ONCE,
      .help = "Serves SRT in this vhost." },
    { "srt_to_rtmp", CONF_KIND_OFF, CONF_AT(conf_vhost_srt, srt_to_rtmp), "on", CONF_AT_ONCE,
      .env = "SRS_VHOST_SRT_SRT_TO_RTMP SRS_VHOST_SRT_TO_RTMP",
      .help = "Makes streams published over SRT available to all other protocols. off: to SRT "
              "players only, which costs less CPU." },
    { "passphrase", CONF_KIND_STRING, CONF_AT(conf_vhost_srt, passphrase), NULL, CONF_AT_ONCE,
      CONF_SECRET, .sample = "xxxxxxxxxxxx", .def_note = "that of srt_server",
      .help = "Passphrase for the streams of this vhost: 10 to 79 characters." },
    { "pbkeylen", CONF_KIND_INT, CONF_AT(conf_vhost_srt, pbkeylen), "0", CONF_AT_ONCE, .max = 32,
      .help = "Bytes of the AES key for that passphrase: 16, 24, 32, or 0 to let clients choose." },
};

const struct conf_block conf_table_srt_server = CONF_BLOCK_OF(conf_srt_server, server,
    "SRT server: publish and play, over UDP.");
const struct conf_block conf_table_vhost_srt = CONF_BLOCK_OF(conf_vhost_srt, vhost,
    "SRT in a vhost.");

/* ---- checks */

/* Limits of client libraries. With other values no client could connect. */
static err_t check_secret(const char *passphrase, int key_size)
{
    enum { LEAST = 10, MOST = 79 };
    size_t size = passphrase ? strlen(passphrase) : 0;

    if (size > 0 && (size < LEAST || size > MOST))
        return err_new(ERR_CONF, "a passphrase must have %d to %d characters, not %zu", LEAST,
                       MOST, size);
    if (key_size != 0 && key_size != 16 && key_size != 24 && key_size != 32)
        return err_new(ERR_CONF, "pbkeylen must be 0, 16, 24 or 32, not %d", key_size);
    return NULL;
}

static err_t check(const struct conf *c)
{
    err_t err = check_secret(c->srt_server.passphrase, c->srt_server.pbkeylen);

    return err ? err_wrap(err, "srt_server") : NULL;
}

static err_t check_vhost(const struct conf_vhost *v)
{
    err_t err = check_secret(v->srt.passphrase, v->srt.pbkeylen);

    return err ? err_wrap(err, "srt") : NULL;
}

/* `latency` sets both; a value for one of them overrides it. */
static int64_t srt_latency(int64_t own, int64_t both, int64_t usual)
{
    return own >= 0 ? own : both >= 0 ? both : usual;
}

static void resolve(struct conf *c)
{
    struct conf_srt_server *s = &c->srt_server;
    enum { USUAL_MS = 120, MSS = 1500, HEADERS = 44, TS_PACKET = 188 };
    int most;

    s->recvlatency = srt_latency(s->recvlatency_set, s->latency_set, USUAL_MS * 1000);
    s->peerlatency = srt_latency(s->peerlatency_set, s->latency_set, 0);
    s->mss = s->mss < MSS ? s->mss : MSS;
    most = s->mss - HEADERS;
    s->payloadsize = s->payloadsize < most ? s->payloadsize : most;
    s->payloadsize -= s->payloadsize % TS_PACKET;
}

static const struct conf_served served[] = {
    { "srt", "SRT", "srt_server.listen", "srt", "srt", PROTOCOL_SRT, CONF_SERVED_UDP,
      CONF_OF(srt_server.enabled), CONF_NOWHERE, CONF_OF(srt_server.listen), CONF_NOWHERE,
      { { "publish", "srt://[host]?streamid=#!::[h]r=live/livestream,m=publish" },
        { "play", "srt://[host]?streamid=#!::[h]r=live/livestream,m=request" } }, 0 },
};

const struct conf_protocol conf_protocol_srt = {
    .name = "srt", .served = served, .n_served = 1,
    .vhost = offsetof(struct conf_vhost, srt.enabled),
    .max = CONF_OF(srt_server.max_connections), .max_ip = CONF_OF(srt_server.max_ip),
    .ip_most = INT_MAX, .check = check, .check_vhost = check_vhost, .resolve = resolve,
};
