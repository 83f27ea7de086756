/* SPDX-License-Identifier: MIT */
/* rtmfp.c - directives of RTMFP: of its server, and in a vhost. */
#include "conf/table.h"

/* In the order of their enums. */
static const char *const policy_words[] = { "off", "offer", "require", NULL };
static const char *const redirect_words[] = { "all", "app", NULL };
static const char *const peers_words[] = { "off", "on", "only", NULL };

static const struct conf_row server[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_rtmfp_server, enabled), "off", CONF_HANDLER,
      .help = "Serve RTMFP, in each vhost whose rtmfp is on." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_rtmfp_server, listen), "1935", CONF_HANDLER,
      .help = "Its endpoints, of UDP: the port may be the one that RTMP has." },
    { "hmac", CONF_KIND_ENUM, CONF_AT(conf_rtmfp_server, hmac), "offer", CONF_AT_ONCE,
      .words = policy_words,
      .help = "Packets with an HMAC, which nobody can forge: off, offer (to a client that asks), "
              "require." },
    { "sequence", CONF_KIND_ENUM, CONF_AT(conf_rtmfp_server, sequence), "offer", CONF_AT_ONCE,
      .words = policy_words,
      .help = "Packets with numbers, so that none counts twice: off, offer, require." },
    { "groups", CONF_KIND_LIST, CONF_AT(conf_rtmfp_server, groups), "2 5 14", CONF_NEVER,
      .help = "Groups of Diffie-Hellman that clients may choose of: 2 (1024 bits, the one that all "
              "have), 5 (1536), 14 (2048)." },
    { "threads", CONF_KIND_INT, CONF_AT(conf_rtmfp_server, threads), "2", CONF_NEVER, .min = 1,
      .max = 32, .help = "Helper threads that make keys." },
    { "ping", CONF_KIND_SECONDS, CONF_AT(conf_rtmfp_server, ping), "20", CONF_AT_ONCE, .min = 1,
      .max = 3600,
      .help = "Seconds of silence after which a session is asked whether it is there." },
    { "timeout", CONF_KIND_SECONDS, CONF_AT(conf_rtmfp_server, timeout), "60", CONF_AT_ONCE,
      .min = 5, .max = 86400, .help = "Seconds of silence that end a session." },
    { "keepalive", CONF_KIND_SECONDS, CONF_AT(conf_rtmfp_server, keepalive), "20", CONF_AT_ONCE,
      .min = 5, .max = 3600, .help = "Seconds between the keepalives that clients are told to send "
                                     "to us." },
    { "keepalive_peer", CONF_KIND_SECONDS, CONF_AT(conf_rtmfp_server, keepalive_peer), "20",
      CONF_AT_ONCE, .min = 5, .max = 3600, .help = "The same to each other." },
    { "introduce", CONF_KIND_ON, CONF_AT(conf_rtmfp_server, introduce), "on", CONF_AT_ONCE,
      .help = "Tell clients that ask for a peer by its id where it is." },
    { "groups_enabled", CONF_KIND_ON, CONF_AT(conf_rtmfp_server, groups_enabled), "on",
      CONF_AT_ONCE, .help = "Let clients join groups, and tell them of other members." },
    { "redirect", CONF_KIND_HOSTS, CONF_AT(conf_rtmfp_server, redirect), NULL, CONF_AT_ONCE,
      .port = 1935, .sample = "192.0.2.1:1935 192.0.2.2:1935", .def_note = "none: clients stay",
      .help = "Servers that clients are sent to instead of this one, at most 24: addresses, no "
              "names." },
    { "redirect_by", CONF_KIND_ENUM, CONF_AT(conf_rtmfp_server, redirect_by), "all", CONF_AT_ONCE,
      .words = redirect_words,
      .help = "all: clients are told all of them and take who answers first; app: one of them, the "
              "same for all clients of an app." },
    { "redirect_peers", CONF_KIND_ENUM, CONF_AT(conf_rtmfp_server, redirect_peers), "off",
      CONF_AT_ONCE, .words = peers_words,
      .help = "on: who asks for a peer that is not here is sent to those servers, too; only: "
              "nobody else is." },
    { "max_sessions", CONF_KIND_INT, CONF_AT(conf_rtmfp_server, max_sessions), "50000",
      CONF_AT_ONCE, .min = 1, .max = 1e6, .help = "Sessions at one time." },
    { "max_sessions_ip", CONF_KIND_INT, CONF_AT(conf_rtmfp_server, max_sessions_ip), NULL,
      CONF_AT_ONCE, .max = 1e6, .sample = "1000",
      .def_note = "1000, or half of max_sessions if that is less",
      .help = "The same of one address, of IPv6 of one /64; 0: no limit. If it is not set, private "
              "networks have no limit, see limits { limit_private }." },
    { "max_startup_ip", CONF_KIND_INT, CONF_AT(conf_rtmfp_server, max_startup_ip), "200",
      CONF_AT_ONCE, .max = 1e6, .help = "Packets of handshakes a second of one address, and twice "
                                        "as many at once; 0: no limit." },
};

static const struct conf_row vhost[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_vhost_rtmfp, enabled), "off", CONF_AT_ONCE,
      .help = "RTMFP for this vhost." },
};

const struct conf_block conf_table_rtmfp_server = CONF_BLOCK_OF(conf_rtmfp_server, server,
    "RTMFP: to publish, to play and to find peers, over UDP.");
const struct conf_block conf_table_vhost_rtmfp = CONF_BLOCK_OF(conf_vhost_rtmfp, vhost, "RTMFP.");
