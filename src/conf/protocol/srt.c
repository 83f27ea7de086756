/* SPDX-License-Identifier: MIT */
/* srt.c - SRT: its directives, its endpoint, and what of them must be well-formed. */
#include "conf/protocol.h"
#include "conf/table.h"

#include <limits.h>
#include <string.h>

#define YEARS 1e9

/* In the order of enum conf_srt_mode. */
static const char *const mode_words[] = { "request", "publish", NULL };

static const struct conf_row server[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_srt_server, enabled), "off", CONF_HANDLER,
      .help = "Serve SRT, in each vhost whose srt is on." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_srt_server, listen), "10080", CONF_HANDLER,
      .help = "Its endpoints, of UDP." },
    { "maxbw", CONF_KIND_SIZE, CONF_AT(conf_srt_server, maxbw), "-1", CONF_AT_ONCE,
      .min = -1, .max = 1e10,
      .help = "Bytes a second that a player is sent at most, repeats included; -1: 125000000; 0: a "
              "quarter more than its stream has." },
    { "mss", CONF_KIND_INT, CONF_AT(conf_srt_server, mss), "1500", CONF_AT_ONCE, .min = 232,
      .max = 65536, .help = "Bytes of a packet with the headers of IP and UDP; above 1500 counts "
                            "as that." },
    { "connect_timeout", CONF_KIND_MSEC, CONF_AT(conf_srt_server, connect_timeout), "3000",
      CONF_AT_ONCE, .min = 100, .max = 60000,
      .help = "Milliseconds for a handshake, with what keys and backends take of it." },
    { "peer_idle_timeout", CONF_KIND_MSEC, CONF_AT(conf_srt_server, peer_idle_timeout), "10000",
      CONF_AT_ONCE, .min = 500, .max = YEARS,
      .help = "Milliseconds of silence that end a connection." },
    { "latency", CONF_KIND_MSEC_AUTO, CONF_AT(conf_srt_server, latency_set), NULL, CONF_AT_ONCE,
      .max = 60000, .sample = "120", .def_note = "none: the next two count",
      .help = "Milliseconds for both of the following." },
    { "recvlatency", CONF_KIND_MSEC_AUTO, CONF_AT(conf_srt_server, recvlatency_set), NULL,
      CONF_AT_ONCE, .max = 60000, .sample = "120", .def_note = "120",
      .help = "Milliseconds that packets of a publisher wait for those that were lost, at least: "
              "it may ask for more." },
    { "peerlatency", CONF_KIND_MSEC_AUTO, CONF_AT(conf_srt_server, peerlatency_set), NULL,
      CONF_AT_ONCE, .max = 60000, .sample = "0", .def_note = "0",
      .help = "The same of what we send, for a player that asks for less." },
    { "tsbpdmode", CONF_KIND_ON, CONF_AT(conf_srt_server, tsbpdmode), "on", CONF_AT_ONCE,
      .help = "Take packets of a publisher at the pace of their timestamps; off: as soon as they "
              "are in order." },
    { "tlpktdrop", CONF_KIND_ON, CONF_AT(conf_srt_server, tlpktdrop), "on", CONF_AT_ONCE,
      .help = "Go on without packets that come too late; off: wait for them until recvbuf is full, "
              "and then close the publisher." },
    { "sendbuf", CONF_KIND_INT, CONF_AT(conf_srt_server, sendbuf), "12058624", CONF_AT_ONCE,
      .min = 16384, .max = 2e9,
      .help = "Bytes that may be under way to a player, not acknowledged." },
    { "recvbuf", CONF_KIND_INT, CONF_AT(conf_srt_server, recvbuf), "12058624", CONF_AT_ONCE,
      .min = 16384, .max = 2e9,
      .help = "Bytes of a publisher that may wait; by packets, and 8192 of them at most." },
    { "payloadsize", CONF_KIND_INT, CONF_AT(conf_srt_server, payloadsize), "1316", CONF_AT_ONCE,
      .min = 188, .max = 1456,
      .help = "Bytes of media in a packet that we make, as many of 188 as fit in." },
    { "passphrase", CONF_KIND_STRING, CONF_AT(conf_srt_server, passphrase), NULL, CONF_AT_ONCE,
      CONF_SECRET, .sample = "xxxxxxxxxxxx",
      .help = "10 to 79 letters turn encryption on: clients without it are refused." },
    { "pbkeylen", CONF_KIND_INT, CONF_AT(conf_srt_server, pbkeylen), "0", CONF_AT_ONCE, .max = 32,
      .help = "Bytes of the AES key that clients are told to use: 0 (what they like), 16, 24, "
              "32." },
    { "default_app", CONF_KIND_STRING, CONF_AT(conf_srt_server, default_app), "live",
      CONF_AT_ONCE, .help = "The app of stream ids that name none." },
    { "default_streamid", CONF_KIND_STRING, CONF_AT(conf_srt_server, default_streamid),
      "#!::r=live/livestream,m=request", CONF_AT_ONCE,
      .help = "The stream id of a caller that sends none, as VLC." },
    { "default_mode", CONF_KIND_ENUM, CONF_AT(conf_srt_server, default_mode), "request",
      CONF_AT_ONCE, .words = mode_words,
      .help = "What a stream id wants that is no more than app/stream: request (to play) or "
              "publish." },
    { "sei_filter", CONF_KIND_ON, CONF_AT(conf_srt_server, sei_filter), "on", CONF_AT_ONCE,
      .help = "Leave out the SEI of video that comes by SRT; captions stay." },
    { "merge", CONF_KIND_MSEC, CONF_AT(conf_srt_server, merge), "20", CONF_AT_ONCE, .max = 1000,
      .help = "Milliseconds of media that are sent to players at once, a fifth of their latency at "
              "most: more is less work." },
    { "relay", CONF_KIND_ON, CONF_AT(conf_srt_server, relay), "on", CONF_AT_ONCE,
      .help = "Send what an SRT publisher sends to SRT players as it came, with all its tracks and "
              "private data; off: what we make of it." },
    { "gso", CONF_KIND_ON, CONF_AT(conf_srt_server, gso), "on", CONF_NEVER,
      .help = "Let the kernel cut what goes out into datagrams, where it can; off to compare." },
    { "max_connections", CONF_KIND_INT, CONF_AT(conf_srt_server, max_connections), "10000",
      CONF_AT_ONCE, .min = 1, .max = 1e6, .help = "Connections of SRT at one time." },
    { "max_ip", CONF_KIND_INT, CONF_AT(conf_srt_server, max_ip), NULL, CONF_AT_ONCE, .max = 1e6,
      .sample = "5000", .def_note = "half of max_connections",
      .help = "The same of one address, of IPv6 of one /64; 0: no limit. If it is not set, private "
              "networks have no limit, see limits { limit_private }." },
    { "handshakes", CONF_KIND_INT, CONF_AT(conf_srt_server, handshakes), "200", CONF_AT_ONCE,
      .max = 1e6,
      .help = "Handshakes a second of one address, ten seconds of them at once; 0: no limit." },
    { "mix_correct", CONF_KIND_RELIC, .flags = CONF_QUIET, .help = "Never had an effect." },
};

static const struct conf_row vhost[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_vhost_srt, enabled), "off", CONF_AT_ONCE,
      .help = "SRT for this vhost." },
    { "srt_to_rtmp", CONF_KIND_OFF, CONF_AT(conf_vhost_srt, srt_to_rtmp), "on", CONF_AT_ONCE,
      .env = "SRS_VHOST_SRT_SRT_TO_RTMP SRS_VHOST_SRT_TO_RTMP",
      .help = "Streams that come by SRT are there for RTMP and all others, too; off: for SRT "
              "alone." },
    { "passphrase", CONF_KIND_STRING, CONF_AT(conf_vhost_srt, passphrase), NULL, CONF_AT_ONCE,
      CONF_SECRET, .sample = "xxxxxxxxxxxx", .def_note = "that of srt_server",
      .help = "10 to 79 letters: that of its streams." },
    { "pbkeylen", CONF_KIND_INT, CONF_AT(conf_vhost_srt, pbkeylen), "0", CONF_AT_ONCE, .max = 32,
      .help = "Bytes of the AES key with that passphrase: 0 (what clients like), 16, 24, 32." },
};

const struct conf_block conf_table_srt_server = CONF_BLOCK_OF(conf_srt_server, server,
    "SRT: to publish and to play, over UDP.");
const struct conf_block conf_table_vhost_srt = CONF_BLOCK_OF(conf_vhost_srt, vhost, "SRT.");

/* ---- checks */

/* As libraries of clients have it: others could never connect. */
static err_t check_secret(const char *passphrase, int key_size)
{
    enum { LEAST = 10, MOST = 79 };
    size_t size = passphrase ? strlen(passphrase) : 0;

    if (size > 0 && (size < LEAST || size > MOST))
        return err_new(ERR_CONF, "a passphrase has %d to %d letters, not %zu", LEAST, MOST, size);
    if (key_size != 0 && key_size != 16 && key_size != 24 && key_size != 32)
        return err_new(ERR_CONF, "pbkeylen is 0, 16, 24 or 32, not %d", key_size);
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

/* `latency` stands for both; what is written for one of them wins over it. */
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
