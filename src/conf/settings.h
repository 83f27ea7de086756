/* SPDX-License-Identifier: MIT */
/* settings.h - the configuration as plain typed values.
 *
 * A struct is one block of the file. A field is one directive, named as in the file without the
 * prefix of the block. All values are effective: they include environment, defaults and inheritance
 * from outer blocks. Everything is immutable and owned by its struct conf: hold a reference
 * (conf_ref) while you use pointers into it.
 *
 * Times are in microseconds (int64_t, as co_usec). Strings are never NULL; "" means "not set".
 */
#ifndef CONF_SETTINGS_H
#define CONF_SETTINGS_H

#include "conf/protocols.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONF_AUTO ((int64_t)-1) /* the word `auto` instead of a number: mw_latency, workers */
#define CONF_OUTER ((int64_t)-2) /* not set, for directives that accept `auto` */

struct conf_list {
    const char *const *v;
    size_t n;
};

/* One endpoint of a listen, destination or origin: "1935", "1.2.3.4:1935", "[::1]:1935". */
enum conf_scheme { CONF_RTMP, CONF_RTSP, CONF_SRT };

struct conf_endpoint {
    const char *text; /* as in the file */
    const char *host; /* without brackets; "": all addresses */
    int port;
    enum conf_scheme scheme; /* destination: protocol */
    bool tls;         /* destination with rtmps:// or rtsps:// */
    const char *url;  /* destination with a path: the whole URL; otherwise NULL */
    bool proxied;     /* listen followed by proxy_protocol */
};

struct conf_endpoints {
    const struct conf_endpoint *v;
    size_t n;
};

/* Action of a client, for security and refer rules. */
enum conf_action { CONF_PUBLISH, CONF_PLAY };

/* `allow publish 10.0.0.0/8;` Addresses are 16 bytes, IPv4 mapped as ::ffff:a.b.c.d. */
struct conf_rule {
    enum conf_action action;
    uint8_t addr[16];
    int bits; /* prefix length; 0: `all` */
    const char *text; /* "publish 10.0.0.0/8" */
};

struct conf_rules {
    const struct conf_rule *v;
    size_t n;
};

/* `trusted_proxies 10.0.0.0/8 ::1;` Addresses as in struct conf_rule. */
struct conf_network {
    uint8_t addr[16];
    int bits;
    const char *text;
};

struct conf_networks {
    const struct conf_network *v;
    size_t n;
};

/* Blocks with free names (`vparams { profile baseline; }`), in file order. */
struct conf_pair {
    const char *name, *value;
};

struct conf_pairs {
    const struct conf_pair *v;
    size_t n;
};

/* ------------------------------------------------------------------ the process */

enum conf_log_tank { CONF_TANK_FILE, CONF_TANK_CONSOLE };

/* Levels of both scales. The old one (srs_log_level) has info below trace; the new one
 * (srs_log_level_v2) names the first three trace, debug, info. */
enum conf_log_level {
    CONF_LOG_VERBOSE, /* old verbose, new trace */
    CONF_LOG_DETAIL,  /* old info, new debug */
    CONF_LOG_USUAL,   /* old trace, new info: the default */
    CONF_LOG_WARN,
    CONF_LOG_ERROR,
};

struct conf_rtmp {
    struct conf_endpoints listen;
    int chunk_size;       /* bytes, 128..65536; announced to clients and used for sending */
    int64_t send_timeout; /* a peer that receives no byte for this time is closed */
};

/* Certificate for clients that request this host name (SNI). */
struct conf_certificate {
    const char *name; /* "a.b" or "*.b" */
    const char *key, *cert;
};

struct conf_certificates {
    const struct conf_certificate *v;
    size_t n;
};

/* TLS endpoints and settings of rtmps, https and rtsps. */
struct conf_tls {
    bool enabled;
    struct conf_endpoints listen;
    const char *key, *cert; /* PEM files for clients that match no `certificate` */
    struct conf_certificates certificate;
    struct conf_list protocols; /* TLSv1.2, TLSv1.3 */
    const char *ciphers;        /* for TLS 1.2 */
    bool session_tickets;       /* only in https */
    bool own_records;           /* TLS 1.3 records are processed by the server, not by OpenSSL */
};

/* Limits per client, per address and in all. */
struct conf_limits {
    int64_t handshake_timeout; /* from accept to the end of the handshake */
    int64_t idle_timeout;      /* until it publishes or plays, and again after each of them */
    int per_address;           /* CONF_UNSET: see conf_per_address() */
    int connects_per_second;   /* per address; 0: no limit */
    bool limit_private;        /* limits per address include private addresses and loopback */
    int wrong_secrets;         /* wrong passwords, passphrases, keys per address; 0: no limit */
    int64_t wrong_lock;        /* how long the address is then refused */
    int64_t max_message_size;  /* bytes of an RTMP message */
    int64_t max_metadata_size; /* bytes of a data message */
    int64_t max_command_size;  /* bytes of a message that is neither media nor data */
    int64_t max_partial_size;   /* bytes of unfinished messages of a publisher */
    int64_t max_partial_others; /* bytes of unfinished messages of another connection */
    int64_t max_partial_total;  /* bytes of all, beyond 64 KB each; 0: a part of `memory` */
    int64_t message_timeout;    /* from the first to the last byte of a message */
    int64_t memory;             /* bytes of media of all streams; 0: computed from the machine */
    int max_chunk_streams;     /* chunk streams per connection */
    int64_t max_stream_size;   /* bytes of media of one live stream */
    int64_t http_max_line;     /* bytes of the target of an HTTP request */
    int64_t http_max_head;     /* bytes of request line and header fields */
    int http_max_fields;
    int64_t http_max_body;     /* bytes of the body */
    int64_t http_body_timeout; /* from the end of the header to the end of the body */
    int hooks_queue;           /* callbacks in the queue of a backend */
    int config_changes;        /* burst per publisher; 0: no limit */
    int hooks_asks, hooks_asks_ip; /* concurrent, that clients wait for: all, per address */
    int hls_sessions;          /* all streams */
    int hls_address_sessions;  /* per address; 0: no limit */
    int api_reserve;           /* connections beyond max_connections, for the API only */
    int64_t disk_free;         /* bytes that recordings and segments leave free; 0: none */
    int log_lines, log_untrusted; /* per second: per connection, all untrusted; 0: no limit */
    int log_address; /* per second, all clients of an address */
};

enum conf_auth_type { CONF_AUTH_BASIC, CONF_AUTH_BEARER };

enum conf_heartbeat_auth_type { CONF_HEARTBEAT_BEARER };

struct conf_heartbeat_auth {
    bool enabled;
    enum conf_heartbeat_auth_type type;
    const char *token;
};

struct conf_heartbeat {
    bool enabled;
    int64_t interval;
    const char *url, *device_id;
    bool summaries, ports;
    struct conf_heartbeat_auth auth;
};

struct conf_stats {
    bool enabled;
    int network; /* index of the interface whose address is the server's */
    struct conf_list disk;
};

struct conf_exporter {
    bool enabled;
    struct conf_endpoints listen;
    const char *label, *tag;
    int streams; /* maximum streams with their own metrics */
};

struct conf_circuit_breaker {
    bool enabled;
    int high_threshold, high_pulse; /* percent of a core; seconds */
    int critical_threshold, critical_pulse;
    int dying_threshold, dying_pulse;
};

struct conf_raw_api {
    bool enabled, allow_reload, allow_query, allow_update;
};

struct conf_auth {
    bool enabled;
    enum conf_auth_type type;
    const char *username, *password; /* for CONF_AUTH_BASIC */
    const char *token;               /* for CONF_AUTH_BEARER */
    bool rtc_bearer;                 /* token also required below /rtc/ */
    int attempts;        /* wrong passwords of an address before it is locked; 0: never */
    int64_t lock, delay; /* duration of a lock; delay of the response to a wrong password */
};

/* Returns true if the token is required below /rtc/. */
static inline bool conf_auth_of_rtc(const struct conf_auth *a)
{
    return a->enabled && a->type == CONF_AUTH_BEARER && a->rtc_bearer;
}

enum conf_public { CONF_PUBLIC_OFF, CONF_PUBLIC_READ };

struct conf_http_api {
    bool enabled;
    struct conf_endpoints listen;
    bool crossdomain, private_network, open;
    enum conf_public public; /* access of public addresses without a password */
    struct conf_raw_api raw_api;
    struct conf_auth auth;
    struct conf_tls https;
};

struct conf_http_server {
    bool enabled;
    struct conf_endpoints listen;
    const char *dir;
    bool crossdomain, private_network;
    struct conf_tls https;
};

/* Same order as the words of default_mode. */
enum conf_srt_mode { CONF_SRT_REQUEST, CONF_SRT_PUBLISH };

struct conf_srt_server {
    bool enabled;
    struct conf_endpoints listen;
    int64_t maxbw;               /* bytes per second; -1: 1 Gbit/s; 0: by the rate of the stream */
    int mss, payloadsize;        /* effective: at most 1500; n * 188, at most mss - 44 */
    int64_t connect_timeout, peer_idle_timeout;
    int64_t recvlatency, peerlatency; /* effective; the next line: as in the file */
    int64_t latency_set, recvlatency_set, peerlatency_set;
    bool tsbpdmode, tlpktdrop;
    int sendbuf, recvbuf;
    const char *passphrase;      /* "": none */
    int pbkeylen;
    const char *default_app, *default_streamid;
    enum conf_srt_mode default_mode;
    bool sei_filter, relay, gso;
    int64_t merge;
    int max_connections;
    int max_ip;     /* CONF_UNSET: see conf_protocol_per_address(); 0: no limit */
    int handshakes; /* 0: no limit */
};

enum conf_rtmfp_policy { CONF_RTMFP_OFF, CONF_RTMFP_OFFER, CONF_RTMFP_REQUIRE };
enum conf_redirect_by { CONF_REDIRECT_ALL, CONF_REDIRECT_APP };
enum conf_redirect_peers { CONF_REDIRECT_NO_PEERS, CONF_REDIRECT_PEERS, CONF_REDIRECT_PEERS_ONLY };

struct conf_rtmfp_server {
    bool enabled;
    struct conf_endpoints listen;
    enum conf_rtmfp_policy hmac, sequence;
    struct conf_list groups;         /* Diffie-Hellman groups: "2", "5", "14" */
    int threads;
    int64_t ping, timeout, keepalive, keepalive_peer;
    bool introduce, groups_enabled;
    struct conf_endpoints redirect;  /* n 0: none */
    enum conf_redirect_by redirect_by;
    enum conf_redirect_peers redirect_peers;
    int max_sessions;
    int max_sessions_ip; /* CONF_UNSET: see conf_protocol_per_address(); 0: no limit */
    int max_startup_ip;  /* 0: no limit */
};

struct conf_rtc_tcp {
    bool enabled;
    struct conf_endpoints listen;
};

struct conf_black_hole {
    bool enabled;
    const char *addr;
};

enum conf_rtc_protocol { CONF_RTC_UDP, CONF_RTC_TCP, CONF_RTC_ALL };
enum conf_ip_family { CONF_IPV4, CONF_IPV6, CONF_IP_ALL };

struct conf_rtc_server {
    bool enabled;
    struct conf_endpoints listen;
    struct conf_rtc_tcp tcp;
    enum conf_rtc_protocol protocol;
    struct conf_list candidate; /* with $VAR replaced; "*": all addresses of the machine */
    bool use_auto_detect_network_ip;
    enum conf_ip_family ip_family;
    bool api_as_candidates, resolve_api_domain, keep_api_domain;
    bool ecdsa, encrypt;
    int reuseport;
    bool merge_nalus, udp_gso;
    struct conf_black_hole black_hole;
};

/* Choice of channel numbers over TCP. */
enum conf_rtsp_channels {
    CONF_RTSP_CHANNELS_SERVER, /* by the server: all players share the same bytes */
    CONF_RTSP_CHANNELS_CLIENT, /* by the client */
};

struct conf_rtsp_multicast {
    bool enabled;
    struct conf_networks range; /* one network of IPv4 groups, validated on load */
    int port;                   /* even, for RTP; RTCP uses the next */
    int ttl;
};

struct conf_rtsp_server {
    bool enabled;
    struct conf_endpoints listen;
    bool tcp, udp;   /* transports that SETUP accepts */
    int udp_port;    /* even, for RTP; RTCP uses the next */
    bool udp_gso;
    int mtu;         /* maximum bytes of a payload */
    enum conf_rtsp_channels channels;
    int64_t session_timeout; /* for UDP players, as announced to them */
    int64_t publish_timeout; /* for silent publishers */
    int64_t send_timeout;    /* a peer that receives no byte for this time is closed */
    int64_t describe_wait;   /* for a stream that does not exist yet; 0: no wait */
    bool tunnel;
    struct conf_tls https; /* RTSP over TLS */
    struct conf_rtsp_multicast multicast;
    struct conf_list transports; /* as in the file */
};

struct conf_sip {
    bool enabled;
    struct conf_endpoints listen;
    int64_t timeout, reinvite;
    const char *candidate;
};

struct conf_stream_caster {
    const char *name; /* "": stream_caster blocks have no name */
    bool enabled;
    const char *caster, *output;
    struct conf_endpoints listen;
    int64_t media_connect_timeout; /* for gb28181 */
    struct conf_sip sip;
};

struct conf_stream_casters {
    const struct conf_stream_caster *v;
    size_t n;
};

/* ------------------------------------------------------------------ a vhost */

enum conf_jitter { CONF_JITTER_FULL, CONF_JITTER_ZERO, CONF_JITTER_OFF };

struct conf_play {
    bool gop_cache;
    int gop_cache_max_frames; /* a longer GOP is not kept; 0: no limit */
    int64_t queue_length;
    enum conf_jitter time_jitter; /* "off" if atc is on */
    bool atc, mix_correct, atc_auto;
    int64_t mw_latency; /* CONF_AUTO: follows the load */
    int mw_msgs;
    int64_t send_min_interval; /* 0: no pause */
    bool reduce_sequence_header;
};

/* Handling of a second publisher of a stream. */
enum conf_takeover {
    CONF_TAKEOVER_OFF,   /* reject the new one */
    CONF_TAKEOVER_STALE, /* replace the old one if it is silent or has the same credentials */
    CONF_TAKEOVER_ON,    /* replace the old one */
};

struct conf_publish {
    bool mr;
    int64_t mr_latency;
    int64_t firstpkt_timeout, normal_timeout;
    bool parse_sps;
    int64_t kickoff_for_idle; /* 0: publishers without players stay */
    enum conf_takeover takeover;
    int64_t takeover_silence; /* time after which it is silent, for `stale` */
    int64_t takeover_silence_near; /* the same if both have one address */
};

enum conf_cluster_mode { CONF_CLUSTER_LOCAL, CONF_CLUSTER_REMOTE };
enum conf_cluster_protocol { CONF_CLUSTER_RTMP, CONF_CLUSTER_FLV, CONF_CLUSTER_FLVS };

struct conf_cluster {
    enum conf_cluster_mode mode;
    struct conf_endpoints origin;
    bool token_traverse;
    const char *vhost;
    bool debug_srs_upnode;
    enum conf_cluster_protocol protocol;
    bool follow_client, origin_cluster;
    struct conf_list coworkers;
};

struct conf_forward {
    bool enabled;
    /* Default ports: 1935, rtmps:// 443, rtsp:// 554, rtsps:// 322. */
    struct conf_endpoints destination;
    const char *backend;
    bool tls_verify;    /* verify certificates of rtmps:// destinations */
    const char *tls_ca; /* PEM file of trusted authorities; "": those of the system */
};

struct conf_refer {
    bool enabled;
    struct conf_list all, publish, play; /* host suffixes */
};

/* In kbit/s; 0: no limit. */
struct conf_bandwidth {
    int publish_kbps, play_kbps; /* per connection */
    int in_kbps, out_kbps;       /* per vhost: later clients are rejected */
};

/* Lines of words, for example each `key` of security: an app/stream and its key. */
struct conf_commands {
    const struct conf_list *v;
    size_t n;
};

enum conf_at_expiry { CONF_EXPIRY_KEEP, CONF_EXPIRY_END };

struct conf_security_token {
    bool publish, play;      /* a token is required */
    enum conf_at_expiry at_expiry; /* action for connected clients */
    struct conf_list secret, jwt_secret; /* all of them are valid */
    const char *jwks;        /* file of public keys */
    const char *issuer, *audience; /* required in tokens; "": any */
    struct conf_rules except; /* addresses that need no token */
};

struct conf_security {
    bool enabled;
    struct conf_rules allow, deny;
    struct conf_security_token token;
    struct conf_commands key; /* validated on load */
};

struct conf_http_static {
    bool enabled;
    const char *mount, *dir;
};

struct conf_http_remux {
    bool enabled;
    const char *mount;
    int64_t fast_cache;
    bool drop_if_not_match, has_audio, has_video, guess_has_av;
    bool fmp4; /* a .flv mount also serves .mp4 */
};

struct conf_http_hooks {
    bool enabled;
    struct conf_list on_connect, on_close, on_publish, on_unpublish, on_play, on_stop;
    struct conf_list on_dvr, on_hls, on_hls_notify;
    int64_t timeout;    /* for one response */
    int retries;        /* for callbacks that only inform */
    const char *secret; /* signs callbacks; "": unsigned */
    bool tls_verify;    /* verify certificates of https:// backends */
    const char *tls_ca; /* PEM file of trusted authorities; "": those of the system */
};

struct conf_exec {
    bool enabled;
    struct conf_commands publish; /* each line: the program and its arguments */
};

struct conf_dash {
    bool enabled;
    int64_t fragment, update_period, timeshift;
    const char *path, *mpd_file;
    int window_size;
    bool cleanup;
    int64_t dispose;
    bool ctx, ts_ctx;
    int64_t quota; /* bytes below path; 0: no limit */
};

enum conf_hls_on_error { CONF_HLS_IGNORE, CONF_HLS_DISCONNECT, CONF_HLS_CONTINUE };

struct conf_hls {
    bool enabled;
    int64_t fragment;
    double td_ratio, aof_ratio;
    int64_t window;
    enum conf_hls_on_error on_error;
    const char *path, *m3u8_file, *ts_file, *entry_prefix;
    bool cleanup;
    int64_t dispose;
    bool wait_keyframe, ts_floor;
    int nb_notify;
    bool ctx, ts_ctx;
    bool keys;
    int fragments_per_key;
    const char *key_file, *key_file_path, *key_url;
    bool dts_directly, use_fmp4;
    const char *fmp4_file, *init_file;
    bool recover, master_m3u8_path_relative;
    bool ll;
    int64_t part;
    int64_t quota; /* bytes below path; 0: no limit */
};

struct conf_hds {
    bool enabled;
    int64_t fragment, window;
    const char *path;
};

enum conf_dvr_plan { CONF_DVR_SESSION, CONF_DVR_SEGMENT };

struct conf_dvr {
    bool enabled;
    struct conf_list apply; /* "all", or app/stream names */
    enum conf_dvr_plan plan;
    const char *path;
    int64_t duration;
    bool wait_keyframe;
    enum conf_jitter time_jitter;
    int64_t quota; /* bytes below path; 0: no limit */
};

/* FFmpeg settings for an output of a transcode or an ingest. */
struct conf_engine {
    const char *name;
    bool enabled;
    struct conf_pairs perfile;
    const char *iformat, *oformat;
    struct conf_pairs vfilter;
    const char *vcodec, *acodec;
    int vbitrate;
    double vfps;
    int vwidth, vheight, vthreads;
    const char *vprofile, *vpreset;
    struct conf_pairs vparams;
    int abitrate, asample_rate, achannels;
    struct conf_pairs aparams;
    const char *output;
};

struct conf_engines {
    const struct conf_engine *v;
    size_t n;
};

struct conf_transcode {
    const char *name; /* "", "app" or "app/stream" */
    bool enabled;
    const char *ffmpeg;
    struct conf_engines engine;
};

struct conf_transcodes {
    const struct conf_transcode *v;
    size_t n;
};

enum conf_ingest_type { CONF_INGEST_FILE, CONF_INGEST_STREAM };

struct conf_ingest_input {
    enum conf_ingest_type type;
    const char *url;
};

struct conf_ingest {
    const char *name; /* unique in the vhost */
    bool enabled;
    struct conf_ingest_input input;
    const char *ffmpeg;
    struct conf_engines engine;
};

struct conf_ingests {
    const struct conf_ingest *v;
    size_t n;
};

struct conf_vhost_srt {
    bool enabled, srt_to_rtmp;
    const char *passphrase;      /* "": that of the server */
    int pbkeylen;
};

struct conf_vhost_rtmfp {
    bool enabled;
};

struct conf_vhost_rtc {
    bool enabled;
    bool nack, nack_no_copy, twcc;
    int64_t stun_timeout;
    bool stun_strict_check;
    const char *dtls_role, *dtls_version;
    int drop_for_pt;
    bool rtmp_to_rtc, keep_bframe, keep_avc_nalu_sei;
    int opus_bitrate, aac_bitrate;
    bool rtc_to_rtmp;
    int64_t pli_for_rtmp;
    bool init_rate_from_sdp, keep_original_ssrc;
    /* Not directives of this block: min_latency and mw_msgs of the vhost for WebRTC. */
    bool min_latency;
    int mw_msgs;
};

struct conf_rtsp_auth {
    bool enabled;
    const char *realm;          /* without quotes and backslashes */
    bool basic, md5, sha256;    /* parsed from methods */
    /* Lines: name, password, and "play", "publish" or both (default). Validated on load. */
    struct conf_commands user;
    struct conf_list methods;   /* as in the file */
};

/* A stream pulled from another server or a camera. */
struct conf_rtsp_pull {
    const char *name; /* "": the name is optional */
    bool enabled;
    const char *stream, *url;
    struct conf_list transport; /* "tcp", "udp", in order of preference */
    bool on_demand;             /* only while the stream has players */
    int64_t linger;             /* on_demand: time after the last player */
    int64_t timeout;            /* reconnect after this time without a packet */
    bool tls_verify;            /* verify certificates of rtsps:// sources */
    const char *tls_ca;         /* PEM file of trusted authorities; "": those of the system */
};

struct conf_rtsp_pulls {
    const struct conf_rtsp_pull *v;
    size_t n;
};

struct conf_vhost_rtsp {
    bool enabled, rtmp_to_rtsp;
    int64_t mw_latency; /* as in struct conf_play */
    int64_t jitter;     /* how long UDP packets wait for missing ones */
    bool keep_broken;   /* keep frames with a lost packet */
    struct conf_rtsp_auth auth;
    struct conf_rtsp_pulls pull;
    int64_t mw_latency_set; /* as in the file; readers use mw_latency */
};

/* Files on demand. `cache`, `index_max` and `readers` apply to the process: the largest value of
 * all vhosts with vod counts. */
struct conf_vod {
    bool enabled;
    const char *app;   /* one path level of plain characters, validated on load */
    const char *dir;
    bool loop;
    int64_t cache;     /* bytes of cached and rendered data */
    int64_t index_max; /* bytes of the indexes of open files */
    int readers;       /* helper threads */
};

enum conf_tri { CONF_UNSET = -1, CONF_OFF, CONF_ON };

struct conf_vhost {
    const char *name;
    bool enabled;
    int chunk_size;
    bool min_latency; /* for RTMP and FLV; WebRTC uses rtc.min_latency */
    bool tcp_nodelay;
    int in_ack_size;  /* 0: as requested by the peer */
    int out_ack_size;
    struct conf_play play;
    struct conf_publish publish;
    struct conf_cluster cluster;
    struct conf_forward forward;
    struct conf_refer refer;
    struct conf_security security;
    struct conf_bandwidth bandwidth;
    struct conf_http_static http_static;
    struct conf_http_remux http_remux;
    struct conf_http_hooks http_hooks;
    struct conf_exec exec;
    struct conf_dash dash;
    struct conf_hls hls;
    struct conf_hds hds;
    struct conf_dvr dvr;
    struct conf_ingests ingest;
    struct conf_transcodes transcode;
#define XX(ID, id) struct conf_vhost_##id id;
    PROTOCOL_SERVER_LIST(XX)
#undef XX
    struct conf_vod vod;
    enum conf_tri min_latency_set; /* as in the file; readers use min_latency */
};

struct conf_vhosts {
    const struct conf_vhost *v;
    size_t n;
};

/* ------------------------------------------------------------------ the whole */

struct conf_arena;

enum { CONF_WORKERS_MAX = 64 };

struct conf {
    atomic_uint refs; /* atomic because all workers share one snapshot */
    struct conf_arena *arena; /* owns everything that the pointers below refer to */

    const char *server_id; /* "": generate one and store it next to the pid file */
    const char *pid;
    const char *ff_log_dir, *ff_log_level;
    bool log_secrets; /* show parameters of addresses in the log and the API */
    bool core_dump;
    struct conf_list ff_env; /* environment variables that programs inherit */
    enum conf_log_tank srs_log_tank;
    const char *srs_log_file;
    enum conf_log_level log_level; /* from srs_log_level_v2 if set, otherwise srs_log_level */
    int max_connections;
    int workers;           /* CONF_AUTO: one per available core (app/os/cores.h) */
    int workers_spread;    /* players of a stream above which new ones do not move */
    struct conf_list worker_cpu_affinity; /* nginx syntax, validated on load */
    bool daemon, utc_time;
    int64_t sampled_print; /* interval of statistics lines */
    const char *work_dir;
    bool asprocess, empty_ip_ok, in_docker;
    int64_t grace_start_wait, grace_final_wait;
    bool force_grace_quit, disable_daemon_for_docker;
    bool inotify_auto_reload, auto_reload_for_docker;
    double tcmalloc_release_rate;
    bool query_latest_version;
    int64_t first_wait_for_qlv;
    bool is_full;
    struct conf_networks trusted_proxies; /* proxies that may state the client's address */
    int64_t watchdog; /* coroutines that hold the thread longer are logged; 0: off */

    struct conf_rtmp rtmp;
    struct conf_tls rtmps;
    struct conf_limits limits;
    struct conf_circuit_breaker circuit_breaker;
    struct conf_heartbeat heartbeat;
    struct conf_stats stats;
    struct conf_exporter exporter;
    struct conf_http_api http_api;
    struct conf_http_server http_server;
#define XX(ID, id) struct conf_##id##_server id##_server;
    PROTOCOL_SERVER_LIST(XX)
#undef XX
    struct conf_stream_casters stream_caster;
    struct conf_vhosts vhost;

    int srs_log_level, srs_log_level_v2; /* as in the file; readers use log_level */
};

#endif
