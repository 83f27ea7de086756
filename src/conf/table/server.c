/* SPDX-License-Identifier: MIT */
/* server.c - directives of the HTTP servers and of stream_caster. */
#include "conf/table.h"

#define YEARS 1e9

/* The two https blocks differ in the default port. */
#define HTTPS_ROWS(port, shown, note) { \
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_tls, enabled), "off", CONF_HANDLER, \
      .help = "Serves HTTPS in addition to HTTP." }, \
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_tls, listen), (port), CONF_HANDLER, \
      CONF_PROXY, .sample = (shown), .def_note = (note), .help = "TCP endpoints for HTTPS." }, \
    CONF_TLS_ROWS, \
    { "ssl_session_tickets", CONF_KIND_OFF, CONF_AT(conf_tls, session_tickets), "off", \
      CONF_HANDLER, \
      .help = "Session tickets, which save part of the handshake for returning clients. With " \
              "TLS 1.2, they end forward secrecy for the lifetime of the process." }, \
    CONF_TLS_CERTIFICATES, \
}

static const struct conf_row api_https[] =
    HTTPS_ROWS(NULL, "1990", "1990, or that of http_server when both share a port");
static const struct conf_row server_https[] = HTTPS_ROWS("8088", NULL, NULL);
static const struct conf_block api_https_block =
    CONF_BLOCK_OF(conf_tls, api_https, "HTTP API over TLS.");
static const struct conf_block server_https_block =
    CONF_BLOCK_OF(conf_tls, server_https, "HTTP server over TLS.");

static const struct conf_row raw_api[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_raw_api, enabled), "off", CONF_NEVER,
      .help = "Allows the rpc endpoint." },
    { "allow_reload", CONF_KIND_OFF, CONF_AT(conf_raw_api, allow_reload), "off", CONF_NEVER,
      .help = "Allows rpc=reload." },
    { "allow_query", CONF_KIND_OBSOLETE, .flags = CONF_QUIET, .help = "Always off." },
    { "allow_update", CONF_KIND_OBSOLETE, .flags = CONF_QUIET, .help = "Always off." },
};
static const struct conf_block raw_api_block =
    CONF_BLOCK_OF(conf_raw_api, raw_api, "Commands of the API.");

/* In the order of enum conf_auth_type. */
static const char *const auth_words[] = { "basic", "bearer", NULL };

static const struct conf_row auth[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_auth, enabled), "off", CONF_NEVER,
      .help = "Requires a login for /api/ and /metrics." },
    { "type", CONF_KIND_ENUM, CONF_AT(conf_auth, type), "basic", CONF_NEVER, .words = auth_words,
      .help = "basic: username and password; bearer: token in Authorization: Bearer." },
    { "username", CONF_KIND_STRING, CONF_AT(conf_auth, username), NULL, CONF_NEVER,
      .sample = "admin", .help = "User name of type basic." },
    { "password", CONF_KIND_STRING, CONF_AT(conf_auth, password), NULL, CONF_NEVER, CONF_SECRET,
      .sample = "admin", .help = "Password of type basic." },
    { "token", CONF_KIND_STRING, CONF_AT(conf_auth, token), NULL, CONF_NEVER, CONF_SECRET,
      .sample = "srs-api-token", .help = "Token of type bearer." },
    { "rtc_bearer_enabled", CONF_KIND_OFF, CONF_AT(conf_auth, rtc_bearer), "off", CONF_NEVER,
      .help = "Requires the token of type bearer below /rtc/ (WHIP, WHEP) too." },
    { "attempts", CONF_KIND_INT, CONF_AT(conf_auth, attempts), "10", CONF_AT_ONCE, .max = 1e6,
      .help = "Wrong passwords of an address before it is locked. 0: never." },
    { "lock", CONF_KIND_SECONDS, CONF_AT(conf_auth, lock), "60", CONF_AT_ONCE, .min = 1,
      .max = YEARS,
      .help = "Seconds that an address stays locked, and that a wrong password counts." },
    { "delay", CONF_KIND_MSEC, CONF_AT(conf_auth, delay), "500", CONF_AT_ONCE, .max = 60000,
      .help = "Milliseconds before the response to a wrong password. Other clients do not wait." },
};
static const struct conf_block auth_block =
    CONF_BLOCK_OF(conf_auth, auth, "Login for the API and metrics.");

/* In the order of enum conf_public. */
static const char *const public_words[] = { "off", "read", NULL };

static const struct conf_row http_api[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_http_api, enabled), "off", CONF_HANDLER,
      .help = "Serves the HTTP API." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_http_api, listen), "1985", CONF_HANDLER, CONF_PROXY,
      .help = "TCP endpoints. May be the same as those of http_server; then both share the port." },
    { "crossdomain", CONF_KIND_ON, CONF_AT(conf_http_api, crossdomain), "on", CONF_NEVER,
      .help = "Allows pages of any origin to use the API (CORS)." },
    { "private_network", CONF_KIND_OFF, CONF_AT(conf_http_api, private_network), "off",
      CONF_AT_ONCE,
      .help = "Allows pages from the internet to use the API of a server in a private network." },
    { "open", CONF_KIND_OFF, CONF_AT(conf_http_api, open), "off", CONF_AT_ONCE,
      .help = "Lets every client disconnect clients and reload without a password. off: only "
              "this machine. Only for closed networks." },
    { "public", CONF_KIND_ENUM, CONF_AT(conf_http_api, public), "off", CONF_AT_ONCE,
      .words = public_words,
      .help = "Access of public addresses to the API and metrics if auth is off. off: only the "
              "version and WebRTC; read: everything that can be read." },
    { "raw_api", CONF_KIND_BLOCK, CONF_AT(conf_http_api, raw_api), .block = &raw_api_block },
    { "auth", CONF_KIND_BLOCK, CONF_AT(conf_http_api, auth), .block = &auth_block },
    { "https", CONF_KIND_BLOCK, CONF_AT(conf_http_api, https), .block = &api_https_block },
};

static const struct conf_row http_server[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_http_server, enabled), "off", CONF_HANDLER,
      .help = "Serves files and streams over HTTP." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_http_server, listen), "8080", CONF_HANDLER,
      CONF_PROXY,
      .help = "TCP endpoints for HTTP." },
    { "dir", CONF_KIND_STRING, CONF_AT(conf_http_server, dir), "./objs/nginx/html", CONF_NEVER,
      .help = "Folder of the files. Symbolic links out of it are not followed." },
    { "crossdomain", CONF_KIND_ON, CONF_AT(conf_http_server, crossdomain), "on", CONF_NEVER,
      .help = "Allows pages of any origin to play (CORS)." },
    { "private_network", CONF_KIND_OFF, CONF_AT(conf_http_server, private_network), "off",
      CONF_AT_ONCE,
      .help = "Allows pages from the internet to play from a server in a private network." },
    { "https", CONF_KIND_BLOCK, CONF_AT(conf_http_server, https), .block = &server_https_block },
};

static const struct conf_row sip[] = {
    { "enabled", CONF_KIND_ON, CONF_AT(conf_sip, enabled), "on", CONF_NEVER,
      .help = "Acts as a SIP server for devices." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_sip, listen), "5060", CONF_NEVER,
      .help = "Endpoints of the SIP server." },
    { "timeout", CONF_KIND_SECONDS, CONF_AT(conf_sip, timeout), "60", CONF_NEVER, .max = YEARS,
      .help = "Ends a session after this many seconds of silence." },
    { "reinvite", CONF_KIND_SECONDS, CONF_AT(conf_sip, reinvite), "5", CONF_NEVER, .max = YEARS,
      .help = "Seconds until a device is invited again." },
    { "candidate", CONF_KIND_STRING, CONF_AT(conf_sip, candidate), "*", CONF_NEVER,
      .help = "Address at which devices reach the server." },
    { "serial", CONF_KIND_OBSOLETE, .help = "From older servers." },
    { "realm", CONF_KIND_OBSOLETE, .help = "From older servers." },
    { "ack_timeout", CONF_KIND_OBSOLETE, .help = "From older servers." },
    { "keepalive_timeout", CONF_KIND_OBSOLETE, .help = "From older servers." },
    { "invite_port_fixed", CONF_KIND_OBSOLETE, .help = "From older servers." },
    { "query_catalog_interval", CONF_KIND_OBSOLETE, .help = "From older servers." },
    { "auto_play", CONF_KIND_OBSOLETE, .help = "From older servers." },
};
static const struct conf_block sip_block = CONF_BLOCK_OF(conf_sip, sip, "SIP server for gb28181.");

static const struct conf_row stream_caster[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_stream_caster, enabled), "off", CONF_NEVER,
      .help = "Accepts streams of another protocol." },
    { "caster", CONF_KIND_STRING, CONF_AT(conf_stream_caster, caster), NULL, CONF_NEVER,
      .sample = "mpegts_over_udp", .help = "The protocol: mpegts_over_udp, flv or gb28181." },
    { "output", CONF_KIND_STRING, CONF_AT(conf_stream_caster, output), NULL, CONF_NEVER,
      .sample = "rtmp://127.0.0.1/live/livestream",
      .help = "RTMP address of the resulting stream." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_stream_caster, listen), NULL, CONF_NEVER,
      .sample = "8935", .help = "Endpoint: UDP for mpegts_over_udp, otherwise TCP." },
    { "media_connect_timeout", CONF_KIND_SECONDS,
      CONF_AT(conf_stream_caster, media_connect_timeout), "10", CONF_NEVER, .max = YEARS,
      .help = "Seconds for the media connection of a gb28181 session." },
    { "sip", CONF_KIND_BLOCK, CONF_AT(conf_stream_caster, sip), .block = &sip_block },
    { "tcp_enable", CONF_KIND_OBSOLETE, .help = "From older servers." },
    { "rtp_port_min", CONF_KIND_OBSOLETE, .help = "From older servers." },
    { "rtp_port_max", CONF_KIND_OBSOLETE, .help = "From older servers." },
    { "wait_keyframe", CONF_KIND_OBSOLETE, .help = "From older servers." },
    { "rtp_idle_timeout", CONF_KIND_OBSOLETE, .help = "From older servers." },
    { "audio_enable", CONF_KIND_OBSOLETE, .help = "From older servers." },
    { "auto_create_channel", CONF_KIND_OBSOLETE, .help = "From older servers." },
};

const struct conf_block conf_table_http_api =
    CONF_BLOCK_OF(conf_http_api, http_api, "HTTP API.");
const struct conf_block conf_table_http_server =
    CONF_BLOCK_OF(conf_http_server, http_server, "HTTP server for files and streams.");
const struct conf_block conf_table_stream_caster =
    CONF_BLOCK_OF(conf_stream_caster, stream_caster, "Streams received over other protocols.");
