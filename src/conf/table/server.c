/* SPDX-License-Identifier: MIT */
/* server.c - directives of the HTTP servers and of stream_caster. */
#include "conf/table.h"

#define YEARS 1e9

/* The two https blocks differ in the default port. */
#define HTTPS_ROWS(port, shown, note) { \
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_tls, enabled), "off", CONF_HANDLER, \
      .help = "Serve HTTPS, too." }, \
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_tls, listen), (port), CONF_HANDLER, \
      CONF_PROXY, .sample = (shown), .def_note = (note), .help = "Its endpoints." }, \
    CONF_TLS_ROWS, \
    { "ssl_session_tickets", CONF_KIND_OFF, CONF_AT(conf_tls, session_tickets), "off", \
      CONF_HANDLER, .help = "Let clients that come again shake hands for less; in TLS 1.2 " \
      "that is no forward secrecy while the server runs." }, \
    CONF_TLS_CERTIFICATES, \
}

static const struct conf_row api_https[] =
    HTTPS_ROWS(NULL, "1990", "1990, or that of http_server when both share a port");
static const struct conf_row server_https[] = HTTPS_ROWS("8088", NULL, NULL);
static const struct conf_block api_https_block = CONF_BLOCK_OF(conf_tls, api_https, "HTTPS.");
static const struct conf_block server_https_block =
    CONF_BLOCK_OF(conf_tls, server_https, "HTTPS.");

static const struct conf_row raw_api[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_raw_api, enabled), "off", CONF_NEVER,
      .help = "Allow the rpc endpoint." },
    { "allow_reload", CONF_KIND_OFF, CONF_AT(conf_raw_api, allow_reload), "off", CONF_NEVER,
      .help = "Allow rpc=reload." },
    { "allow_query", CONF_KIND_RELIC, .flags = CONF_QUIET, .help = "Always off." },
    { "allow_update", CONF_KIND_RELIC, .flags = CONF_QUIET, .help = "Always off." },
};
static const struct conf_block raw_api_block =
    CONF_BLOCK_OF(conf_raw_api, raw_api, "Commands over the API.");

/* In the order of enum conf_auth_type. */
static const char *const auth_words[] = { "basic", "bearer", NULL };

static const struct conf_row auth[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_auth, enabled), "off", CONF_NEVER,
      .help = "Ask who it is below /api/ and for /metrics." },
    { "type", CONF_KIND_ENUM, CONF_AT(conf_auth, type), "basic", CONF_NEVER, .words = auth_words,
      .help = "basic: by username and password; bearer: by token, in Authorization: Bearer." },
    { "username", CONF_KIND_STRING, CONF_AT(conf_auth, username), NULL, CONF_NEVER,
      .sample = "admin", .help = "The name." },
    { "password", CONF_KIND_STRING, CONF_AT(conf_auth, password), NULL, CONF_NEVER, CONF_SECRET,
      .sample = "admin", .help = "The password." },
    { "token", CONF_KIND_STRING, CONF_AT(conf_auth, token), NULL, CONF_NEVER, CONF_SECRET,
      .sample = "srs-api-token", .help = "The token of type bearer." },
    { "rtc_bearer_enabled", CONF_KIND_OFF, CONF_AT(conf_auth, rtc_bearer), "off", CONF_NEVER,
      .help = "Ask for the token of type bearer below /rtc/ (WHIP, WHEP), too." },
    { "attempts", CONF_KIND_INT, CONF_AT(conf_auth, attempts), "10", CONF_AT_ONCE, .max = 1e6,
      .help = "Wrong passwords of an address before it is locked; 0: it never is." },
    { "lock", CONF_KIND_SECONDS, CONF_AT(conf_auth, lock), "60", CONF_AT_ONCE, .min = 1,
      .max = YEARS, .help = "Seconds that it is locked, and that a wrong one counts." },
    { "delay", CONF_KIND_MSEC, CONF_AT(conf_auth, delay), "500", CONF_AT_ONCE, .max = 60000,
      .help = "Milliseconds that the answer to a wrong one takes; nobody else waits." },
};
static const struct conf_block auth_block =
    CONF_BLOCK_OF(conf_auth, auth, "Who may use the API.");

/* In the order of enum conf_public. */
static const char *const public_words[] = { "off", "read", NULL };

static const struct conf_row http_api[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_http_api, enabled), "off", CONF_HANDLER,
      .help = "Serve the HTTP API." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_http_api, listen), "1985", CONF_HANDLER, CONF_PROXY,
      .help = "Its endpoints; the same as of http_server is one port for both." },
    { "crossdomain", CONF_KIND_ON, CONF_AT(conf_http_api, crossdomain), "on", CONF_NEVER,
      .help = "Answer to pages of any origin (CORS)." },
    { "private_network", CONF_KIND_OFF, CONF_AT(conf_http_api, private_network), "off",
      CONF_AT_ONCE, .help = "Let pages of the internet ask it in a private network." },
    { "open", CONF_KIND_OFF, CONF_AT(conf_http_api, open), "off", CONF_AT_ONCE,
      .help = "Let everybody who reaches it kick and reload without a password, not only this "
              "machine." },
    { "public", CONF_KIND_ENUM, CONF_AT(conf_http_api, public), "off", CONF_AT_ONCE,
      .words = public_words,
      .help = "What public addresses get of the API and of metrics where auth is off. off: the "
              "version and WebRTC alone; read: all that others may read." },
    { "raw_api", CONF_KIND_BLOCK, CONF_AT(conf_http_api, raw_api), .block = &raw_api_block },
    { "auth", CONF_KIND_BLOCK, CONF_AT(conf_http_api, auth), .block = &auth_block },
    { "https", CONF_KIND_BLOCK, CONF_AT(conf_http_api, https), .block = &api_https_block },
};

static const struct conf_row http_server[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_http_server, enabled), "off", CONF_HANDLER,
      .help = "Serve files and streams over HTTP." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_http_server, listen), "8080", CONF_HANDLER,
      CONF_PROXY,
      .help = "Its endpoints." },
    { "dir", CONF_KIND_STRING, CONF_AT(conf_http_server, dir), "./objs/nginx/html", CONF_NEVER,
      .help = "The folder of the files. Links in it that lead out of it are not followed." },
    { "crossdomain", CONF_KIND_ON, CONF_AT(conf_http_server, crossdomain), "on", CONF_NEVER,
      .help = "Answer to pages of any origin (CORS)." },
    { "private_network", CONF_KIND_OFF, CONF_AT(conf_http_server, private_network), "off",
      CONF_AT_ONCE, .help = "Let pages of the internet play from it in a private network." },
    { "https", CONF_KIND_BLOCK, CONF_AT(conf_http_server, https), .block = &server_https_block },
};

static const struct conf_row sip[] = {
    { "enabled", CONF_KIND_ON, CONF_AT(conf_sip, enabled), "on", CONF_NEVER,
      .help = "Be a SIP server for the devices." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_sip, listen), "5060", CONF_NEVER,
      .help = "Its endpoints." },
    { "timeout", CONF_KIND_SECONDS, CONF_AT(conf_sip, timeout), "60", CONF_NEVER, .max = YEARS,
      .help = "Seconds of silence that end a session." },
    { "reinvite", CONF_KIND_SECONDS, CONF_AT(conf_sip, reinvite), "5", CONF_NEVER, .max = YEARS,
      .help = "Seconds before a device is invited again." },
    { "candidate", CONF_KIND_STRING, CONF_AT(conf_sip, candidate), "*", CONF_NEVER,
      .help = "The address that devices reach us at." },
    { "serial", CONF_KIND_RELIC, .help = "Of older servers." },
    { "realm", CONF_KIND_RELIC, .help = "Of older servers." },
    { "ack_timeout", CONF_KIND_RELIC, .help = "Of older servers." },
    { "keepalive_timeout", CONF_KIND_RELIC, .help = "Of older servers." },
    { "invite_port_fixed", CONF_KIND_RELIC, .help = "Of older servers." },
    { "query_catalog_interval", CONF_KIND_RELIC, .help = "Of older servers." },
    { "auto_play", CONF_KIND_RELIC, .help = "Of older servers." },
};
static const struct conf_block sip_block = CONF_BLOCK_OF(conf_sip, sip, "SIP, for gb28181.");

static const struct conf_row stream_caster[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_stream_caster, enabled), "off", CONF_NEVER,
      .help = "Take streams of another protocol." },
    { "caster", CONF_KIND_STRING, CONF_AT(conf_stream_caster, caster), NULL, CONF_NEVER,
      .sample = "mpegts_over_udp", .help = "Which: mpegts_over_udp, flv or gb28181." },
    { "output", CONF_KIND_STRING, CONF_AT(conf_stream_caster, output), NULL, CONF_NEVER,
      .sample = "rtmp://127.0.0.1/live/livestream", .help = "The RTMP url they become." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_stream_caster, listen), NULL, CONF_NEVER,
      .sample = "8935", .help = "The endpoint: UDP for mpegts_over_udp, else TCP." },
    { "media_connect_timeout", CONF_KIND_SECONDS,
      CONF_AT(conf_stream_caster, media_connect_timeout), "10", CONF_NEVER, .max = YEARS,
      .help = "Seconds for the media of a session of gb28181 to connect, before it ends." },
    { "sip", CONF_KIND_BLOCK, CONF_AT(conf_stream_caster, sip), .block = &sip_block },
    { "tcp_enable", CONF_KIND_RELIC, .help = "Of older servers." },
    { "rtp_port_min", CONF_KIND_RELIC, .help = "Of older servers." },
    { "rtp_port_max", CONF_KIND_RELIC, .help = "Of older servers." },
    { "wait_keyframe", CONF_KIND_RELIC, .help = "Of older servers." },
    { "rtp_idle_timeout", CONF_KIND_RELIC, .help = "Of older servers." },
    { "audio_enable", CONF_KIND_RELIC, .help = "Of older servers." },
    { "auto_create_channel", CONF_KIND_RELIC, .help = "Of older servers." },
};

const struct conf_block conf_table_http_api =
    CONF_BLOCK_OF(conf_http_api, http_api, "The HTTP API.");
const struct conf_block conf_table_http_server =
    CONF_BLOCK_OF(conf_http_server, http_server, "Files and streams over HTTP.");
const struct conf_block conf_table_stream_caster =
    CONF_BLOCK_OF(conf_stream_caster, stream_caster, "Streams that come by other protocols.");
