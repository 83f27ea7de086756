/* SPDX-License-Identifier: MIT */
/* process.c - directives of the blocks about the process and its peers. */
#include "conf/table.h"

#define YEARS 1e9 /* seconds or milliseconds: as good as for ever */

static const struct conf_row rtmp[] = {
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_rtmp, listen), NULL, CONF_HANDLER,
      CONF_PROXY, .env = "SRS_LISTEN SRS_RTMP_LISTEN", .sample = "1935",
      .help = "Endpoints for RTMP: [ip:]port, several with spaces between. Required. A port, or "
              "[::]:port, alone serves IPv4 and IPv6; listen 1935 [::]:1935 opens a socket for "
              "each, as in any other listen. With "
              "proxy_protocol behind one of them, as in any other listen of TCP, each connection "
              "there begins with a header of the PROXY protocol, and only trusted_proxies may." },
    { "chunk_size", CONF_KIND_INT, CONF_AT(conf_rtmp, chunk_size), "60000", CONF_HANDLER,
      .min = 128, .max = 65536, .env = "SRS_VHOST_CHUNK_SIZE SRS_RTMP_CHUNK_SIZE SRS_CHUNK_SIZE",
      .help = "Bytes of one RTMP chunk that we send; the chunk_size of a vhost wins." },
    { "send_timeout", CONF_KIND_SECONDS, CONF_AT(conf_rtmp, send_timeout), "30", CONF_AT_ONCE,
      .min = 0.1, .max = YEARS,
      .help = "A peer that takes not one byte for so many seconds is dropped." },
};

static const struct conf_row certificate[] = {
    { "key", CONF_KIND_STRING, CONF_AT(conf_certificate, key), NULL, CONF_HANDLER,
      .sample = "./conf/example.key", .help = "PEM file of its private key." },
    { "cert", CONF_KIND_STRING, CONF_AT(conf_certificate, cert), NULL, CONF_HANDLER,
      .sample = "./conf/example.crt", .help = "PEM file of it and of its chain." },
};

static const struct conf_row rtmps[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_tls, enabled), "off", CONF_HANDLER,
      .help = "Serve RTMP over TLS." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_tls, listen), NULL, CONF_HANDLER, CONF_PROXY,
      .sample = "1443", .help = "Its endpoints." },
    CONF_TLS_ROWS,
    CONF_TLS_CERTIFICATES,
};

static const struct conf_row limits[] = {
    { "handshake_timeout", CONF_KIND_SECONDS, CONF_AT(conf_limits, handshake_timeout), "10",
      CONF_AT_ONCE, .min = 0.1, .max = YEARS,
      .help = "Seconds from the connect to the end of the handshake." },
    { "idle_timeout", CONF_KIND_SECONDS, CONF_AT(conf_limits, idle_timeout), "30",
      CONF_AT_ONCE, .min = 0.1, .max = YEARS,
      .help = "Seconds that a connection may neither publish nor play." },
    { "per_address", CONF_KIND_INT, CONF_AT(conf_limits, per_address), NULL, CONF_AT_ONCE,
      .max = 10e6, .sample = "2000", .def_note = "2000, or half of max_connections if that is less",
      .help = "Connections of one address at one time, of IPv6 those of one /64; more are closed "
              "at once. 0: as many as there may be." },
    { "connects_per_second", CONF_KIND_INT, CONF_AT(conf_limits, connects_per_second), "200",
      CONF_AT_ONCE, .max = 10e6,
      .help = "Connections that one address may make in a second, on average; it may make those of "
              "10 s at once. 0: any number." },
    { "limit_private", CONF_KIND_OFF, CONF_AT(conf_limits, limit_private), "off", CONF_AT_ONCE,
      .help = "Count these two for loopback and private networks, too. Off, as one of those may be "
              "a proxy with all clients behind it." },
    { "wrong_secrets", CONF_KIND_INT, CONF_AT(conf_limits, wrong_secrets), "10", CONF_AT_ONCE,
      .max = 1e6,
      .help = "Wrong RTSP passwords that an address may show, then its RTSP logins are refused for "
              "wrong_lock; the same for SRT passphrases and for stream keys (security { key }), "
              "where one that is repeated counts once. 0: any number." },
    { "wrong_lock", CONF_KIND_SECONDS, CONF_AT(conf_limits, wrong_lock), "60", CONF_AT_ONCE,
      .min = 1, .max = YEARS,
      .help = "Seconds that they are refused, and that a wrong one is remembered." },
    { "max_message_size", CONF_KIND_SIZE, CONF_AT(conf_limits, max_message_size), "16m",
      CONF_AT_ONCE, .min = 4096, .max = 16 << 20,
      .help = "Bytes of one RTMP message; the protocol allows 16m." },
    { "max_metadata_size", CONF_KIND_SIZE, CONF_AT(conf_limits, max_metadata_size), "1m",
      CONF_AT_ONCE, .min = 4096, .max = 16 << 20,
      .help = "Bytes of an RTMP message of data, such as onMetaData." },
    { "max_command_size", CONF_KIND_SIZE, CONF_AT(conf_limits, max_command_size), "64k",
      CONF_AT_ONCE, .min = 4096, .max = 16 << 20,
      .help = "Bytes of an RTMP command, and of any message that is neither media nor data." },
    { "max_partial_size", CONF_KIND_SIZE, CONF_AT(conf_limits, max_partial_size), "24m",
      CONF_AT_ONCE, .min = 4096, .max = 1 << 30,
      .help = "Bytes of all messages that one publisher has begun and not ended." },
    { "max_partial_others", CONF_KIND_SIZE, CONF_AT(conf_limits, max_partial_others), "64k",
      CONF_AT_ONCE, .min = 4096, .max = 1 << 30,
      .help = "The same of one connection that plays, or does not publish yet." },
    { "max_partial_total", CONF_KIND_SIZE, CONF_AT(conf_limits, max_partial_total), "0",
      CONF_AT_ONCE, .max = 1e15, .def_note = "a quarter of memory, at most 512m",
      .help = "The same of all connections, beyond 64k that each may have; who has the most for "
              "the longest is dropped." },
    { "message_timeout", CONF_KIND_SECONDS, CONF_AT(conf_limits, message_timeout), "30",
      CONF_AT_ONCE, .min = 0.1, .max = YEARS,
      .help = "Seconds from the begin of an RTMP message to its end." },
    { "max_chunk_streams", CONF_KIND_INT, CONF_AT(conf_limits, max_chunk_streams), "128",
      CONF_AT_ONCE, .min = 8, .max = 65600,
      .help = "RTMP chunk streams of one connection." },
    { "log_lines", CONF_KIND_INT, CONF_AT(conf_limits, log_lines), "2", CONF_HANDLER, .max = 1e6,
      .help = "Log lines a second of one connection, beyond 30 at once. A line of more than 200 "
              "bytes counts as several. What exceeds the limit is counted, and the log reports how "
              "many lines were left out. 0: no limit." },
    { "log_strangers", CONF_KIND_INT, CONF_AT(conf_limits, log_untrusted), "50", CONF_HANDLER,
      .max = 1e6,
      .help = "The same of all connections together that neither publish nor play, beyond 200 at "
              "once. Their lines are cut at 1 KB, unless srs_log_level asks for more." },
    { "log_address", CONF_KIND_INT, CONF_AT(conf_limits, log_address), "20", CONF_HANDLER,
      .max = 1e6,
      .help = "The same of all publishers and players of one address, beyond 1000 at once. A "
              "private address has ten times as much (see limit_private), all clients together "
              "fifty times as much." },
    { "http_max_line", CONF_KIND_SIZE, CONF_AT(conf_limits, http_max_line), "8k", CONF_AT_ONCE,
      .min = 64, .max = 1 << 20, .help = "Bytes of the path and query of an HTTP request." },
    { "http_max_head", CONF_KIND_SIZE, CONF_AT(conf_limits, http_max_head), "32k", CONF_AT_ONCE,
      .min = 1024, .max = 64 << 10,
      .help = "Bytes of the request line and all fields of an HTTP request." },
    { "http_max_fields", CONF_KIND_INT, CONF_AT(conf_limits, http_max_fields), "100",
      CONF_AT_ONCE, .min = 1, .max = 10000, .help = "Fields of an HTTP request." },
    { "http_max_body", CONF_KIND_SIZE, CONF_AT(conf_limits, http_max_body), "10m", CONF_AT_ONCE,
      .max = 1e12, .help = "Bytes of the body of an HTTP request." },
    { "http_body_timeout", CONF_KIND_SECONDS, CONF_AT(conf_limits, http_body_timeout), "60",
      CONF_AT_ONCE, .min = 0.1, .max = YEARS,
      .help = "Seconds for the body of an HTTP request to come." },
    { "hooks_queue", CONF_KIND_INT, CONF_AT(conf_limits, hooks_queue), "4096", CONF_AT_ONCE,
      .min = 1, .max = 1e6,
      .help = "Callbacks that wait for a backend to take them; more are dropped, counted in the "
              "log." },
    { "hooks_asks", CONF_KIND_INT, CONF_AT(conf_limits, hooks_asks), "256", CONF_AT_ONCE,
      .min = 1, .max = 1e6,
      .help = "Callbacks under way at one time that a client waits for (on_connect, on_publish, "
              "on_play). Further clients wait for their turn, for the timeout of http_hooks at "
              "most." },
    { "hooks_asks_ip", CONF_KIND_INT, CONF_AT(conf_limits, hooks_asks_ip), "32", CONF_AT_ONCE,
      .min = 1, .max = 1e6,
      .help = "The same for the clients of one address. Private addresses: see limit_private." },
    { "hls_sessions", CONF_KIND_INT, CONF_AT(conf_limits, hls_sessions), "100000", CONF_AT_ONCE,
      .min = 1, .max = 1e8,
      .help = "Players of HLS and DASH that are sessions (hls_ctx, dash_ctx). When all are taken, "
              "the oldest session that fetched no segment makes room." },
    { "hls_address_sessions", CONF_KIND_INT, CONF_AT(conf_limits, hls_address_sessions), "5000",
      CONF_AT_ONCE, .max = 1e8,
      .help = "The same from one address: of IPv6 its /64. 0: no limit." },
    { "config_changes", CONF_KIND_INT, CONF_AT(conf_limits, config_changes), "10", CONF_HANDLER,
      .max = 1e6,
      .help = "Times at once that a publisher may change its decoder configuration (codec, picture "
              "size, ...), and once a second from then on; one more ends it. 0: no limit." },
    { "api_reserve", CONF_KIND_INT, CONF_AT(conf_limits, api_reserve), "16", CONF_AT_ONCE,
      .max = 10000, .help = "Connections beyond max_connections that are kept for the API and "
                            "/metrics; a quarter of them for this machine." },
    { "memory", CONF_KIND_SIZE, CONF_AT(conf_limits, memory), "0", CONF_AT_ONCE, .max = 1e15,
      .def_note = "half of what the machine, the container, or ulimit -v has",
      .help = "Bytes of media that all live streams remember together, with segments and "
              "recordings on their way to the disk; over it the largest lose what is oldest." },
    { "disk_free", CONF_KIND_SIZE, CONF_AT(conf_limits, disk_free), "100m", CONF_AT_ONCE,
      .max = 1e15,
      .help = "Bytes that recordings and segments leave free of a disk that has 20 times as many. "
              "0: none." },
    { "max_stream_size", CONF_KIND_SIZE, CONF_AT(conf_limits, max_stream_size), "256m",
      CONF_HANDLER, .min = 1 << 20, .max = 1e12,
      .help = "Bytes of media that one live stream remembers, whatever queue_length says." },
};

static const char *const heartbeat_auth_words[] = { "bearer", NULL };

static const struct conf_row heartbeat_auth[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_heartbeat_auth, enabled), "off", CONF_AT_ONCE,
      .help = "Say who we are to the url." },
    { "type", CONF_KIND_ENUM, CONF_AT(conf_heartbeat_auth, type), "bearer", CONF_AT_ONCE,
      .words = heartbeat_auth_words, .help = "How: bearer alone, Authorization: Bearer." },
    { "token", CONF_KIND_STRING, CONF_AT(conf_heartbeat_auth, token), NULL, CONF_AT_ONCE,
      CONF_SECRET, .sample = "proxy-token", .help = "The token that the url asks for." },
};
static const struct conf_block heartbeat_auth_block =
    CONF_BLOCK_OF(conf_heartbeat_auth, heartbeat_auth, "A token for the url.");

static const struct conf_row heartbeat[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_heartbeat, enabled), "off", CONF_AT_ONCE,
      .help = "Send who we are to a url, again and again." },
    { "interval", CONF_KIND_SECONDS, CONF_AT(conf_heartbeat, interval), "10", CONF_AT_ONCE,
      .min = 0.001, .max = YEARS, .help = "Seconds between two of them." },
    { "url", CONF_KIND_STRING, CONF_AT(conf_heartbeat, url), "http://127.0.0.1:8085/api/v1/servers",
      CONF_AT_ONCE, .help = "Where they are posted to." },
    { "device_id", CONF_KIND_STRING, CONF_AT(conf_heartbeat, device_id), NULL, CONF_AT_ONCE,
      .sample = "my-device", .help = "Any text that tells this device." },
    { "summaries", CONF_KIND_OFF, CONF_AT(conf_heartbeat, summaries), "off", CONF_AT_ONCE,
      .help = "Add the summaries of the API." },
    { "ports", CONF_KIND_OFF, CONF_AT(conf_heartbeat, ports), "off", CONF_AT_ONCE,
      .help = "Add the endpoints that we listen on." },
    { "auth", CONF_KIND_BLOCK, CONF_AT(conf_heartbeat, auth), .block = &heartbeat_auth_block },
};

static const struct conf_row stats[] = {
    { "enabled", CONF_KIND_ON, CONF_AT(conf_stats, enabled), "on", CONF_NEVER,
      .help = "Sample processor, memory, network and disk for the API." },
    { "network", CONF_KIND_INT, CONF_AT(conf_stats, network), "0", CONF_NEVER, .max = 1000,
      .help = "Index of the interface whose address is the address of the server." },
    { "disk", CONF_KIND_LIST, CONF_AT(conf_stats, disk), NULL, CONF_NEVER, .sample = "sda sdb",
      .help = "Devices to sample; none is no disk statistics." },
};

static const struct conf_row exporter[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_exporter, enabled), "off", CONF_HANDLER,
      .help = "Serve /metrics for Prometheus." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_exporter, listen), "9972", CONF_HANDLER,
      CONF_PROXY,
      .help = "Its endpoints." },
    { "label", CONF_KIND_STRING, CONF_AT(conf_exporter, label), NULL, CONF_NEVER,
      .sample = "cn-beijing", .help = "A label of the build info." },
    { "tag", CONF_KIND_STRING, CONF_AT(conf_exporter, tag), NULL, CONF_NEVER,
      .sample = "cn-edge", .help = "Another." },
    { "streams", CONF_KIND_INT, CONF_AT(conf_exporter, streams), "1000", CONF_AT_ONCE, .max = 1e6,
      .help = "Streams with figures of their own, at most: each is 14 series. Sums are of all." },
};

static const struct conf_row circuit_breaker[] = {
    { "enabled", CONF_KIND_ON, CONF_AT(conf_circuit_breaker, enabled), "on", CONF_NEVER,
      .help = "Shed WebRTC work when the processor is full." },
    { "high_threshold", CONF_KIND_INT, CONF_AT(conf_circuit_breaker, high_threshold), "90",
      CONF_NEVER, .max = 100, .help = "Percent of a core above which NACK stops." },
    { "high_pulse", CONF_KIND_INT, CONF_AT(conf_circuit_breaker, high_pulse), "2", CONF_NEVER,
      .max = YEARS, .help = "Seconds below it before that ends; 0 turns it off." },
    { "critical_threshold", CONF_KIND_INT, CONF_AT(conf_circuit_breaker, critical_threshold), "95",
      CONF_NEVER, .max = 100, .help = "Percent above which TWCC stops, too." },
    { "critical_pulse", CONF_KIND_INT, CONF_AT(conf_circuit_breaker, critical_pulse), "1",
      CONF_NEVER, .max = YEARS, .help = "Seconds below it before that ends; 0 turns it off." },
    { "dying_threshold", CONF_KIND_INT, CONF_AT(conf_circuit_breaker, dying_threshold), "99",
      CONF_NEVER, .max = 100, .help = "Percent above which packets to players are dropped, too." },
    { "dying_pulse", CONF_KIND_INT, CONF_AT(conf_circuit_breaker, dying_pulse), "5", CONF_NEVER,
      .max = YEARS, .help = "Seconds above it before that begins; 0 turns it off." },
};

const struct conf_block conf_table_rtmp = CONF_BLOCK_OF(conf_rtmp, rtmp, "RTMP.");
const struct conf_block conf_table_rtmps = CONF_BLOCK_OF(conf_tls, rtmps, "RTMP over TLS.");
const struct conf_block conf_table_certificate = CONF_BLOCK_OF(conf_certificate, certificate,
    "One for clients that ask for this host by name (SNI): a.b, or *.b for all one level below b.");
const struct conf_block conf_table_limits = CONF_BLOCK_OF(conf_limits, limits,
    "What one peer may take of us, whatever it sends.");
const struct conf_block conf_table_heartbeat = CONF_BLOCK_OF(conf_heartbeat, heartbeat,
    "A sign of life, posted to a url.");
const struct conf_block conf_table_stats = CONF_BLOCK_OF(conf_stats, stats,
    "What the API says of the machine.");
const struct conf_block conf_table_exporter = CONF_BLOCK_OF(conf_exporter, exporter,
    "Figures for Prometheus.");
const struct conf_block conf_table_circuit_breaker = CONF_BLOCK_OF(conf_circuit_breaker,
    circuit_breaker, "What is left out when the processor is full.");
