/* SPDX-License-Identifier: MIT */
/* process.c - directives of rtmp, rtmps, limits, heartbeat, stats, exporter and circuit_breaker. */
#include "conf/table.h"

#define YEARS 1e9 /* seconds or milliseconds: no practical limit */

static const struct conf_row rtmp[] = {
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_rtmp, listen), NULL, CONF_HANDLER,
      CONF_PROXY, .env = "SRS_LISTEN SRS_RTMP_LISTEN", .sample = "1935",
      .help = "Endpoints for RTMP: [ip:]port, several separated by spaces. Required. For every "
              "listen: a port alone, or [::]:port, serves IPv4 and IPv6; 1935 [::]:1935 opens "
              "one socket for each. For every TCP listen: after an endpoint, proxy_protocol "
              "means that each connection begins with a PROXY protocol header, from "
              "trusted_proxies only." },
    { "chunk_size", CONF_KIND_INT, CONF_AT(conf_rtmp, chunk_size), "60000", CONF_HANDLER,
      .min = 128, .max = 65536, .env = "SRS_VHOST_CHUNK_SIZE SRS_RTMP_CHUNK_SIZE SRS_CHUNK_SIZE",
      .help = "Size in bytes of RTMP chunks that the server sends. chunk_size of a vhost "
              "overrides it." },
    { "send_timeout", CONF_KIND_SECONDS, CONF_AT(conf_rtmp, send_timeout), "30", CONF_AT_ONCE,
      .min = 0.1, .max = YEARS,
      .help = "Closes a connection after this many seconds in which the peer received no byte." },
};

static const struct conf_row certificate[] = {
    { "key", CONF_KIND_STRING, CONF_AT(conf_certificate, key), NULL, CONF_HANDLER,
      .sample = "./conf/example.key", .help = "PEM file of the private key." },
    { "cert", CONF_KIND_STRING, CONF_AT(conf_certificate, cert), NULL, CONF_HANDLER,
      .sample = "./conf/example.crt",
      .help = "PEM file of the certificate with its intermediates." },
};

static const struct conf_row rtmps[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_tls, enabled), "off", CONF_HANDLER,
      .help = "Serves RTMP over TLS." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_tls, listen), NULL, CONF_HANDLER, CONF_PROXY,
      .sample = "1443", .help = "TCP endpoints for RTMPS." },
    CONF_TLS_ROWS,
    CONF_TLS_CERTIFICATES,
};

static const struct conf_row limits[] = {
    { "handshake_timeout", CONF_KIND_SECONDS, CONF_AT(conf_limits, handshake_timeout), "10",
      CONF_AT_ONCE, .min = 0.1, .max = YEARS,
      .help = "Seconds from connecting to the end of the handshake." },
    { "idle_timeout", CONF_KIND_SECONDS, CONF_AT(conf_limits, idle_timeout), "30",
      CONF_AT_ONCE, .min = 0.1, .max = YEARS,
      .help = "Closes a connection that neither publishes nor plays for this many seconds." },
    { "per_address", CONF_KIND_INT, CONF_AT(conf_limits, per_address), NULL, CONF_AT_ONCE,
      .max = 10e6, .sample = "2000", .def_note = "2000, or half of max_connections if that is less",
      .help = "Maximum number of connections of one IPv4 address or one IPv6 /64. Further ones "
              "are closed at once. 0: no limit. Raise it if many clients share one address." },
    { "connects_per_second", CONF_KIND_INT, CONF_AT(conf_limits, connects_per_second), "200",
      CONF_AT_ONCE, .max = 10e6,
      .help = "New connections of one address per second, on average; those of 10 s may come at "
              "once. 0: no limit." },
    { "limit_private", CONF_KIND_OFF, CONF_AT(conf_limits, limit_private), "off", CONF_AT_ONCE,
      .help = "Applies limits per address to loopback and private networks too. Turn it on if "
              "no proxy or load balancer with many clients has such an address." },
    { "wrong_secrets", CONF_KIND_INT, CONF_AT(conf_limits, wrong_secrets), "10", CONF_AT_ONCE,
      .max = 1e6,
      .help = "Wrong RTSP passwords of an address before its RTSP logins are refused for "
              "wrong_lock. The same for SRT passphrases, and for stream keys (security { key "
              "}), where repeating a wrong one counts once. 0: no limit." },
    { "wrong_lock", CONF_KIND_SECONDS, CONF_AT(conf_limits, wrong_lock), "60", CONF_AT_ONCE,
      .min = 1, .max = YEARS,
      .help = "Seconds that an address is refused after wrong_secrets, and that a wrong one is "
              "remembered." },
    { "max_message_size", CONF_KIND_SIZE, CONF_AT(conf_limits, max_message_size), "16m",
      CONF_AT_ONCE, .min = 4096, .max = 16 << 20,
      .help = "Maximum bytes of an RTMP message. The protocol allows 16m." },
    { "max_metadata_size", CONF_KIND_SIZE, CONF_AT(conf_limits, max_metadata_size), "1m",
      CONF_AT_ONCE, .min = 4096, .max = 16 << 20,
      .help = "Maximum bytes of an RTMP data message, such as onMetaData." },
    { "max_command_size", CONF_KIND_SIZE, CONF_AT(conf_limits, max_command_size), "64k",
      CONF_AT_ONCE, .min = 4096, .max = 16 << 20,
      .help = "Maximum bytes of an RTMP command, or any other message that is neither media nor "
              "data." },
    { "max_partial_size", CONF_KIND_SIZE, CONF_AT(conf_limits, max_partial_size), "24m",
      CONF_AT_ONCE, .min = 4096, .max = 1 << 30,
      .help = "Maximum bytes of unfinished RTMP messages of one publisher." },
    { "max_partial_others", CONF_KIND_SIZE, CONF_AT(conf_limits, max_partial_others), "64k",
      CONF_AT_ONCE, .min = 4096, .max = 1 << 30,
      .help = "Maximum bytes of unfinished RTMP messages of a player, or of a connection that "
              "does not publish yet." },
    { "max_partial_total", CONF_KIND_SIZE, CONF_AT(conf_limits, max_partial_total), "0",
      CONF_AT_ONCE, .max = 1e15, .def_note = "a quarter of memory, at most 512m",
      .help = "Maximum bytes of unfinished RTMP messages of all connections, beyond 64k for "
              "each. Over it, the connection that held the most for the longest time is closed." },
    { "message_timeout", CONF_KIND_SECONDS, CONF_AT(conf_limits, message_timeout), "30",
      CONF_AT_ONCE, .min = 0.1, .max = YEARS,
      .help = "Seconds from the first to the last byte of an RTMP message." },
    { "max_chunk_streams", CONF_KIND_INT, CONF_AT(conf_limits, max_chunk_streams), "128",
      CONF_AT_ONCE, .min = 8, .max = 65600,
      .help = "Maximum number of RTMP chunk streams of one connection." },
    { "log_lines", CONF_KIND_INT, CONF_AT(conf_limits, log_lines), "2", CONF_HANDLER, .max = 1e6,
      .help = "Log lines per second of one connection, with 30 at once. A line over 200 bytes "
              "counts as several. The log counts lines that it leaves out. 0: no limit." },
    { "log_strangers", CONF_KIND_INT, CONF_AT(conf_limits, log_untrusted), "50", CONF_HANDLER,
      .max = 1e6,
      .help = "Log lines per second of all connections together that neither publish nor play, "
              "with 200 at once. These lines are cut at 1 KB, unless srs_log_level is below "
              "trace. 0: no limit." },
    { "log_address", CONF_KIND_INT, CONF_AT(conf_limits, log_address), "20", CONF_HANDLER,
      .max = 1e6,
      .help = "Log lines per second of all publishers and players of one address, with 1000 at "
              "once. A private address has ten times as much (see limit_private), all clients "
              "together fifty times as much. 0: no limit." },
    { "http_max_line", CONF_KIND_SIZE, CONF_AT(conf_limits, http_max_line), "8k", CONF_AT_ONCE,
      .min = 64, .max = 1 << 20, .help = "Maximum bytes of path and query of an HTTP request." },
    { "http_max_head", CONF_KIND_SIZE, CONF_AT(conf_limits, http_max_head), "32k", CONF_AT_ONCE,
      .min = 1024, .max = 64 << 10,
      .help = "Maximum bytes of the request line and header fields of an HTTP request." },
    { "http_max_fields", CONF_KIND_INT, CONF_AT(conf_limits, http_max_fields), "100",
      CONF_AT_ONCE, .min = 1, .max = 10000,
      .help = "Maximum number of header fields of an HTTP request." },
    { "http_max_body", CONF_KIND_SIZE, CONF_AT(conf_limits, http_max_body), "10m", CONF_AT_ONCE,
      .max = 1e12, .help = "Maximum bytes of the body of an HTTP request." },
    { "http_body_timeout", CONF_KIND_SECONDS, CONF_AT(conf_limits, http_body_timeout), "60",
      CONF_AT_ONCE, .min = 0.1, .max = YEARS,
      .help = "Seconds for the body of an HTTP request to arrive." },
    { "hooks_queue", CONF_KIND_INT, CONF_AT(conf_limits, hooks_queue), "4096", CONF_AT_ONCE,
      .min = 1, .max = 1e6,
      .help = "Maximum number of callbacks in the queue of a backend. Further ones are dropped, "
              "and the log counts them." },
    { "hooks_asks", CONF_KIND_INT, CONF_AT(conf_limits, hooks_asks), "256", CONF_AT_ONCE,
      .min = 1, .max = 1e6,
      .help = "Maximum number of callbacks at one time for which a client waits (on_connect, "
              "on_publish, on_play). Further clients wait their turn, at most for the timeout "
              "of http_hooks." },
    { "hooks_asks_ip", CONF_KIND_INT, CONF_AT(conf_limits, hooks_asks_ip), "32", CONF_AT_ONCE,
      .min = 1, .max = 1e6,
      .help = "Maximum of hooks_asks for the clients of one address. For private addresses see "
              "limit_private." },
    { "hls_sessions", CONF_KIND_INT, CONF_AT(conf_limits, hls_sessions), "100000", CONF_AT_ONCE,
      .min = 1, .max = 1e8,
      .help = "Maximum number of HLS and DASH sessions (hls_ctx, dash_ctx). Over it, the oldest "
              "session that has not fetched a segment ends." },
    { "hls_address_sessions", CONF_KIND_INT, CONF_AT(conf_limits, hls_address_sessions), "5000",
      CONF_AT_ONCE, .max = 1e8,
      .help = "Maximum number of HLS and DASH sessions of one IPv4 address or one IPv6 /64. 0: "
              "no limit." },
    { "config_changes", CONF_KIND_INT, CONF_AT(conf_limits, config_changes), "10", CONF_HANDLER,
      .max = 1e6,
      .help = "How often a publisher may change its codec configuration (codec, resolution, "
              "...): this many times at once, then once a second. More ends the publisher. 0: "
              "no limit." },
    { "api_reserve", CONF_KIND_INT, CONF_AT(conf_limits, api_reserve), "16", CONF_AT_ONCE,
      .max = 10000,
      .help = "Connections beyond max_connections that are reserved for the API and /metrics, a "
              "quarter of them for this machine." },
    { "memory", CONF_KIND_SIZE, CONF_AT(conf_limits, memory), "0", CONF_AT_ONCE, .max = 1e15,
      .def_note = "half of the memory of the machine, the container, or ulimit -v",
      .help = "Maximum bytes of media of all live streams, including segments and recordings "
              "that wait for the disk. Over it, the largest streams lose their oldest packets." },
    { "disk_free", CONF_KIND_SIZE, CONF_AT(conf_limits, disk_free), "100m", CONF_AT_ONCE,
      .max = 1e15,
      .help = "Bytes that recordings and segments leave free, on disks of at least 20 times "
              "this size. 0: none." },
    { "max_stream_size", CONF_KIND_SIZE, CONF_AT(conf_limits, max_stream_size), "256m",
      CONF_HANDLER, .min = 1 << 20, .max = 1e12,
      .help = "Maximum bytes of media of one live stream. It applies in addition to "
              "queue_length." },
};

static const char *const heartbeat_auth_words[] = { "bearer", NULL };

static const struct conf_row heartbeat_auth[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_heartbeat_auth, enabled), "off", CONF_AT_ONCE,
      .help = "Sends the token to the url." },
    { "type", CONF_KIND_ENUM, CONF_AT(conf_heartbeat_auth, type), "bearer", CONF_AT_ONCE,
      .words = heartbeat_auth_words, .help = "Only bearer: Authorization: Bearer TOKEN." },
    { "token", CONF_KIND_STRING, CONF_AT(conf_heartbeat_auth, token), NULL, CONF_AT_ONCE,
      CONF_SECRET, .sample = "proxy-token", .help = "Token that the url requires." },
};
static const struct conf_block heartbeat_auth_block =
    CONF_BLOCK_OF(conf_heartbeat_auth, heartbeat_auth, "Token sent to the url.");

static const struct conf_row heartbeat[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_heartbeat, enabled), "off", CONF_AT_ONCE,
      .help = "Posts the name and state of this server to a url regularly." },
    { "interval", CONF_KIND_SECONDS, CONF_AT(conf_heartbeat, interval), "10", CONF_AT_ONCE,
      .min = 0.001, .max = YEARS, .help = "Seconds between two posts." },
    { "url", CONF_KIND_STRING, CONF_AT(conf_heartbeat, url), "http://127.0.0.1:8085/api/v1/servers",
      CONF_AT_ONCE, .help = "Address of the backend." },
    { "device_id", CONF_KIND_STRING, CONF_AT(conf_heartbeat, device_id), NULL, CONF_AT_ONCE,
      .sample = "my-device", .help = "Free text that identifies this server." },
    { "summaries", CONF_KIND_OFF, CONF_AT(conf_heartbeat, summaries), "off", CONF_AT_ONCE,
      .help = "Adds the summaries of the API." },
    { "ports", CONF_KIND_OFF, CONF_AT(conf_heartbeat, ports), "off", CONF_AT_ONCE,
      .help = "Adds the endpoints of this server." },
    { "auth", CONF_KIND_BLOCK, CONF_AT(conf_heartbeat, auth), .block = &heartbeat_auth_block },
};

static const struct conf_row stats[] = {
    { "enabled", CONF_KIND_ON, CONF_AT(conf_stats, enabled), "on", CONF_NEVER,
      .help = "Measures CPU, memory, network and disks for the API." },
    { "network", CONF_KIND_INT, CONF_AT(conf_stats, network), "0", CONF_NEVER, .max = 1000,
      .help = "Index of the network interface whose address the API shows as the server's." },
    { "disk", CONF_KIND_LIST, CONF_AT(conf_stats, disk), NULL, CONF_NEVER, .sample = "sda sdb",
      .help = "Disks to measure. Not set: none." },
};

static const struct conf_row exporter[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_exporter, enabled), "off", CONF_HANDLER,
      .help = "Serves /metrics for Prometheus." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_exporter, listen), "9972", CONF_HANDLER,
      CONF_PROXY,
      .help = "TCP endpoints for /metrics." },
    { "label", CONF_KIND_STRING, CONF_AT(conf_exporter, label), NULL, CONF_NEVER,
      .sample = "cn-beijing", .help = "Label of the build info metric." },
    { "tag", CONF_KIND_STRING, CONF_AT(conf_exporter, tag), NULL, CONF_NEVER,
      .sample = "cn-edge", .help = "Second label of the build info metric." },
    { "streams", CONF_KIND_INT, CONF_AT(conf_exporter, streams), "1000", CONF_AT_ONCE, .max = 1e6,
      .help = "Maximum number of streams with metrics of their own, 14 time series each. Totals "
              "always include all streams." },
};

static const struct conf_row circuit_breaker[] = {
    { "enabled", CONF_KIND_ON, CONF_AT(conf_circuit_breaker, enabled), "on", CONF_NEVER,
      .help = "Reduces the work for WebRTC when the CPU is full." },
    { "high_threshold", CONF_KIND_INT, CONF_AT(conf_circuit_breaker, high_threshold), "90",
      CONF_NEVER, .max = 100,
      .help = "CPU load, in percent of a core, above which the server stops NACK." },
    { "high_pulse", CONF_KIND_INT, CONF_AT(conf_circuit_breaker, high_pulse), "2", CONF_NEVER,
      .max = YEARS,
      .help = "Seconds below high_threshold until NACK starts again. 0: NACK never stops." },
    { "critical_threshold", CONF_KIND_INT, CONF_AT(conf_circuit_breaker, critical_threshold), "95",
      CONF_NEVER, .max = 100,
      .help = "CPU load in percent above which the server stops TWCC too." },
    { "critical_pulse", CONF_KIND_INT, CONF_AT(conf_circuit_breaker, critical_pulse), "1",
      CONF_NEVER, .max = YEARS,
      .help = "Seconds below critical_threshold until TWCC starts again. 0: TWCC never stops." },
    { "dying_threshold", CONF_KIND_INT, CONF_AT(conf_circuit_breaker, dying_threshold), "99",
      CONF_NEVER, .max = 100,
      .help = "CPU load in percent above which the server drops packets to players too." },
    { "dying_pulse", CONF_KIND_INT, CONF_AT(conf_circuit_breaker, dying_pulse), "5", CONF_NEVER,
      .max = YEARS, .help = "Seconds above dying_threshold before packets are dropped. 0: never." },
};

const struct conf_block conf_table_rtmp = CONF_BLOCK_OF(conf_rtmp, rtmp, "RTMP server.");
const struct conf_block conf_table_rtmps = CONF_BLOCK_OF(conf_tls, rtmps, "RTMP server over TLS.");
const struct conf_block conf_table_certificate = CONF_BLOCK_OF(conf_certificate, certificate,
    "Certificate for clients that request this host name (SNI): a.b, or *.b for all names one "
    "level below b.");
const struct conf_block conf_table_limits = CONF_BLOCK_OF(conf_limits, limits,
    "Limits on what one client, one address and all clients together may use: "
    "doc/security-limits.md.");
const struct conf_block conf_table_heartbeat = CONF_BLOCK_OF(conf_heartbeat, heartbeat,
    "Regular report of this server to a url.");
const struct conf_block conf_table_stats = CONF_BLOCK_OF(conf_stats, stats,
    "Measurements of the machine for the API.");
const struct conf_block conf_table_exporter = CONF_BLOCK_OF(conf_exporter, exporter,
    "Metrics for Prometheus.");
const struct conf_block conf_table_circuit_breaker = CONF_BLOCK_OF(conf_circuit_breaker,
    circuit_breaker, "Load shedding for WebRTC when the CPU is full.");
