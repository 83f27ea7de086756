/* SPDX-License-Identifier: MIT */
/* vhost.c - directives of a vhost, and of play, publish, forward, refer, security, bandwidth. */
#include "conf/table.h"

#define YEARS 1e9

const char *const conf_words_jitter[] = { "full", "zero", "off", NULL };
static const char *const takeover_words[] = { "off", "stale", "on", NULL };
static const char *const at_expiry_words[] = { "keep", "end", NULL };
static const char *const mode_words[] = { "local", "remote", NULL };
static const char *const protocol_words[] = { "rtmp", "flv", "flvs", NULL };

static const struct conf_row play[] = {
    { "gop_cache", CONF_KIND_ON, CONF_AT(conf_play, gop_cache), "on", CONF_HANDLER,
      .help = "Starts players at the last key frame, so they show video at once. off: at the "
              "next key frame, for less latency." },
    { "gop_cache_max_frames", CONF_KIND_INT, CONF_AT(conf_play, gop_cache_max_frames), "2500",
      CONF_HANDLER, .max = YEARS,
      .help = "Maximum frames in a GOP; a longer one is not kept for new players. 0: no limit." },
    { "queue_length", CONF_KIND_SECONDS, CONF_AT(conf_play, queue_length), "30", CONF_HANDLER,
      .min = 0.1, .max = YEARS,
      .help = "Maximum seconds that a player may lag behind. Then it jumps to the newest key "
              "frame." },
    { "time_jitter", CONF_KIND_ENUM, CONF_AT(conf_play, time_jitter), "full", CONF_HANDLER,
      .words = conf_words_jitter,
      .help = "Corrects timestamps. full: steady and from zero; zero: from zero; off: unchanged." },
    { "atc", CONF_KIND_OFF, CONF_AT(conf_play, atc), "off", CONF_HANDLER,
      .help = "Sends the publisher's absolute timestamps. time_jitter is then off." },
    { "atc_auto", CONF_KIND_OFF, CONF_AT(conf_play, atc_auto), "off", CONF_HANDLER,
      .help = "Turns atc on if the publisher's metadata contain bravo_atc." },
    { "mix_correct", CONF_KIND_OFF, CONF_AT(conf_play, mix_correct), "off", CONF_HANDLER,
      .help = "Sorts audio and video by timestamp. Turn it on for encoders that send them out "
              "of order." },
    { "mw_latency", CONF_KIND_MSEC_AUTO, CONF_AT(conf_play, mw_latency), "350", CONF_HANDLER,
      .max = 60000,
      .help = "Milliseconds of media sent to a player at once (merged write). Raise it for less "
              "CPU, lower it for less latency. auto: follows the load." },
    { "mw_msgs", CONF_KIND_INT, CONF_AT(conf_play, mw_msgs), NULL, CONF_HANDLER, CONF_CLAMP,
      .max = 128, .sample = "8", .def_note = "8; 0 with min_latency; 1 for WebRTC",
      .help = "Minimum number of messages to collect before sending, after mw_latency. The "
              "server waits for them at most 350 ms." },
    { "send_min_interval", CONF_KIND_MSEC, CONF_AT(conf_play, send_min_interval), "0",
      CONF_HANDLER, .max = 60000,
      .help = "Minimum milliseconds between two messages to a player, sent one at a time. 0: no "
              "pause." },
    { "reduce_sequence_header", CONF_KIND_OFF, CONF_AT(conf_play, reduce_sequence_header), "off",
      CONF_HANDLER, .help = "Does not repeat a sequence header that has not changed." },
};

static const struct conf_row publish[] = {
    { "mr", CONF_KIND_OFF, CONF_AT(conf_publish, mr), "off", CONF_HANDLER,
      .help = "Merged read: waits for input to accumulate before reading it. Saves CPU, adds "
              "latency." },
    { "mr_latency", CONF_KIND_MSEC, CONF_AT(conf_publish, mr_latency), "350", CONF_HANDLER,
      .max = 60000, .help = "Milliseconds of input to accumulate, for mr." },
    { "firstpkt_timeout", CONF_KIND_MSEC, CONF_AT(conf_publish, firstpkt_timeout), "20000",
      CONF_HANDLER, .min = 100, .max = YEARS,
      .help = "Milliseconds until the first packet of a publisher." },
    { "normal_timeout", CONF_KIND_MSEC, CONF_AT(conf_publish, normal_timeout), "5000", CONF_HANDLER,
      .min = 100, .max = YEARS, .help = "Milliseconds between two later packets." },
    { "takeover", CONF_KIND_ENUM, CONF_AT(conf_publish, takeover), "stale", CONF_HANDLER,
      .words = takeover_words,
      .help = "Second publisher of a stream. off: it is rejected. stale: it replaces the first "
              "one if that is silent, or if both sent the same parameters and these were "
              "checked (token, key, on_publish). on: it always replaces the first one." },
    { "takeover_silence", CONF_KIND_MSEC, CONF_AT(conf_publish, takeover_silence), "2000",
      CONF_HANDLER, .max = YEARS,
      .help = "Milliseconds without data after which a publisher counts as silent." },
    { "takeover_silence_near", CONF_KIND_MSEC, CONF_AT(conf_publish, takeover_silence_near), "500",
      CONF_HANDLER, .max = YEARS,
      .help = "The same if both publishers have the same address. The second one waits up to "
              "takeover_silence for it. It lets an encoder return before the server notices "
              "that its old connection is dead." },
    { "kickoff_for_idle", CONF_KIND_SECONDS, CONF_AT(conf_publish, kickoff_for_idle), "0",
      CONF_HANDLER, .max = YEARS,
      .help = "Disconnects a publisher after this many seconds without players. 0: never." },
    { "parse_sps", CONF_KIND_ON, CONF_AT(conf_publish, parse_sps), "on", CONF_HANDLER,
      .help = "Reads the resolution from the codec configuration." },
    { "try_annexb_first", CONF_KIND_OBSOLETE, .help = "Detected for each frame." },
};

static const struct conf_row cluster[] = {
    { "mode", CONF_KIND_ENUM, CONF_AT(conf_cluster, mode), "local", CONF_NEVER,
      .words = mode_words,
      .help = "local, or remote for an edge that pulls from an origin. Edges are not "
              "implemented yet: a vhost with remote does not start." },
    { "origin", CONF_KIND_HOSTS, CONF_AT(conf_cluster, origin), NULL, CONF_AT_ONCE,
      .port = 1935, .sample = "127.0.0.1:1935 localhost:1935",
      .help = "Origins of an edge, used in turn." },
    { "token_traverse", CONF_KIND_OFF, CONF_AT(conf_cluster, token_traverse), "off", CONF_AT_ONCE,
      .help = "Lets the origin authorize every client of the edge." },
    { "vhost", CONF_KIND_STRING, CONF_AT(conf_cluster, vhost), "[vhost]", CONF_AT_ONCE,
      .help = "Vhost to request from the origin." },
    { "debug_srs_upnode", CONF_KIND_ON, CONF_AT(conf_cluster, debug_srs_upnode), "on",
      CONF_AT_ONCE,
      .help = "Tells the origin the server's identity, to follow a stream through the logs." },
    { "protocol", CONF_KIND_ENUM, CONF_AT(conf_cluster, protocol), "rtmp", CONF_AT_ONCE,
      .words = protocol_words,
      .help = "Protocol of an edge towards its origin: rtmp, flv or flvs." },
    { "follow_client", CONF_KIND_OFF, CONF_AT(conf_cluster, follow_client), "off", CONF_AT_ONCE,
      .help = "Pulls with the protocol of the player." },
    { "origin_cluster", CONF_KIND_OFF, CONF_AT(conf_cluster, origin_cluster), "off", CONF_NEVER,
      .help = "Several origins that redirect clients to each other." },
    { "coworkers", CONF_KIND_LIST, CONF_AT(conf_cluster, coworkers), NULL, CONF_NEVER,
      .sample = "127.0.0.1:9091 127.0.0.1:9092", .help = "API endpoints of the other origins." },
};

static const struct conf_row forward[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_forward, enabled), "off", CONF_HANDLER,
      .help = "Forwards each stream of this vhost to other servers." },
    { "destination", CONF_KIND_HOSTS, CONF_AT(conf_forward, destination), NULL, CONF_HANDLER,
      .port = 1935, .sample = "127.0.0.1:1936 127.0.0.1:1937",
      .help = "Servers, separated by spaces. host[:port] and rtmps://host[:port]: RTMP, the "
              "same app and stream. rtmp://host[:port]/app/key: one stream of a service. "
              "rtsp://[user:password@]host[:port]/[app]/[stream]: RTSP. "
              "srt://host:port?streamid=#!::r=[app]/[stream],m=publish&latency=200: SRT. "
              "Variables: [vhost] [app] [stream]." },
    { "tls_verify", CONF_KIND_ON, CONF_AT(conf_forward, tls_verify), "on", CONF_AT_ONCE,
      .help = "Verifies the certificates of rtmps:// and rtsps:// destinations." },
    { "tls_ca", CONF_KIND_STRING, CONF_AT(conf_forward, tls_ca), NULL, CONF_AT_ONCE,
      .sample = "./conf/ca.crt",
      .help = "PEM file of trusted certificate authorities for tls_verify. Not set: those of "
              "the system." },
    { "backend", CONF_KIND_STRING, CONF_AT(conf_forward, backend), NULL, CONF_HANDLER,
      .sample = "http://127.0.0.1:8085/api/v1/forward",
      .help = "URL that returns the destinations of a stream." },
};

static const struct conf_row refer[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_refer, enabled), "off", CONF_AT_ONCE,
      .help = "Checks the page that a client comes from." },
    { "all", CONF_KIND_LIST, CONF_AT(conf_refer, all), NULL, CONF_AT_ONCE,
      .sample = "example.com example.org",
      .help = "Hosts, including subdomains, whose pages may publish and play. Not set: all "
              "pages." },
    { "publish", CONF_KIND_LIST, CONF_AT(conf_refer, publish), NULL, CONF_AT_ONCE,
      .sample = "example.com", .help = "Hosts whose pages may publish; all must allow them too." },
    { "play", CONF_KIND_LIST, CONF_AT(conf_refer, play), NULL, CONF_AT_ONCE,
      .sample = "example.com example.org",
      .help = "Hosts whose pages may play; all must allow them too." },
};

static const struct conf_row token[] = {
    { "publish", CONF_KIND_OFF, CONF_AT(conf_security_token, publish), "off", CONF_AT_ONCE,
      .help = "Publishers need a signed link, a JWT or the stream's key." },
    { "play", CONF_KIND_OFF, CONF_AT(conf_security_token, play), "off", CONF_AT_ONCE,
      .help = "Players need a signed link or a JWT, over every protocol." },
    { "secret", CONF_KIND_LIST, CONF_AT(conf_security_token, secret), NULL, CONF_AT_ONCE,
      CONF_SECRET, .sample = "change-me-to-32-random-characters",
      .help = "Secrets that sign links: ?expires=TIME&sign=SIGNATURE. Each of several is valid, "
              "so you can change it while links are in use." },
    { "jwt_secret", CONF_KIND_LIST, CONF_AT(conf_security_token, jwt_secret), NULL, CONF_AT_ONCE,
      CONF_SECRET, .sample = "change-me-to-32-random-characters",
      .help = "Secrets that sign HS256 JWTs: ?token=JWT. Each of several is valid." },
    { "jwks", CONF_KIND_STRING, CONF_AT(conf_security_token, jwks), NULL, CONF_HANDLER,
      .sample = "./conf/jwks.json",
      .help = "JWKS file of public keys for RS256 and ES256 JWTs. The server reloads it when it "
              "changes." },
    { "issuer", CONF_KIND_STRING, CONF_AT(conf_security_token, issuer), NULL, CONF_AT_ONCE,
      .sample = "https://login.example.com",
      .help = "Required iss of a JWT. Not set: any. Set it if your provider issues tokens for "
              "other services too." },
    { "audience", CONF_KIND_STRING, CONF_AT(conf_security_token, audience), NULL, CONF_AT_ONCE,
      .sample = "live.example.com",
      .help = "Required aud of a JWT. Not set: any." },
    { "at_expiry", CONF_KIND_ENUM, CONF_AT(conf_security_token, at_expiry), "keep", CONF_AT_ONCE,
      .words = at_expiry_words,
      .help = "Action when the token of a connected client expires. keep: the client stays; "
              "end: the server disconnects it. Applies to clients that connect after a change." },
    { "except", CONF_KIND_RULES, CONF_AT(conf_security_token, except), NULL, CONF_AT_ONCE,
      .sample = "play 127.0.0.1",
      .help = "publish or play, then an address or CIDR that needs no token or key, for example "
              "your own programs on this machine. Repeatable." },
};

static const struct conf_row security[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_security, enabled), "off", CONF_AT_ONCE,
      .help = "Checks addresses, tokens and keys of clients. With no rule, token or key at all, "
              "every client is rejected." },
    { "token", CONF_KIND_BLOCK, CONF_AT(conf_security, token), .block = &conf_table_token },
    { "key", CONF_KIND_COMMANDS, CONF_AT(conf_security, key), NULL, CONF_AT_ONCE, CONF_SECRET,
      .sample = "live/livestream change-me",
      .help = "app/stream and the key that its publisher needs: STREAM?key=KEY. A * at the end "
              "of the name matches any rest. Repeatable." },
    { "allow", CONF_KIND_RULES, CONF_AT(conf_security, allow), NULL, CONF_AT_ONCE, CONF_NO_ENV,
      .sample = "play all",
      .help = "publish or play, then all, an address or a CIDR. If there is any allow, clients "
              "that match none are rejected. Repeatable." },
    { "deny", CONF_KIND_RULES, CONF_AT(conf_security, deny), NULL, CONF_AT_ONCE, CONF_NO_ENV,
      .sample = "publish 192.0.2.0/24",
      .help = "publish or play, then all, an address or a CIDR that is rejected. Checked before "
              "allow. Repeatable." },
};

static const struct conf_row bandwidth[] = {
    { "publish_kbps", CONF_KIND_INT, CONF_AT(conf_bandwidth, publish_kbps), "0", CONF_HANDLER,
      .max = 1e8, .sample = "20000",
      .help = "Maximum kbit/s of one publisher. The server reads the excess later, so the "
              "encoder sees a slow network. 0: no limit." },
    { "play_kbps", CONF_KIND_INT, CONF_AT(conf_bandwidth, play_kbps), "0", CONF_HANDLER,
      .max = 1e8, .sample = "40000",
      .help = "Maximum kbit/s to one connection that plays or downloads, also while it catches "
              "up. Set it to more than twice the bit rate of the streams, or players fall "
              "behind. 0: no limit." },
    { "in_kbps", CONF_KIND_INT, CONF_AT(conf_bandwidth, in_kbps), "0", CONF_AT_ONCE,
      .max = 2e9, .sample = "500000",
      .help = "Total kbit/s of publishers at which no further one may start. 0: no limit." },
    { "out_kbps", CONF_KIND_INT, CONF_AT(conf_bandwidth, out_kbps), "0", CONF_AT_ONCE,
      .max = 2e9, .sample = "5000000",
      .help = "Maximum kbit/s to all players. A player that would exceed it is rejected. 0: no "
              "limit." },
};

#define XX(ID, id) \
    { #id, CONF_KIND_BLOCK, CONF_AT(conf_vhost, id), .block = &conf_table_vhost_##id },

static const struct conf_row vhost[] = {
    { "enabled", CONF_KIND_ON, CONF_AT(conf_vhost, enabled), "on", CONF_HANDLER, CONF_NO_ENV,
      .help = "off rejects every client of this vhost." },
    { "chunk_size", CONF_KIND_INT, CONF_AT(conf_vhost, chunk_size), NULL, CONF_HANDLER,
      .min = 128, .max = 65536, .sample = "60000", .def_note = "that of rtmp",
      .help = "Size in bytes of RTMP chunks that the server sends." },
    { "min_latency", CONF_KIND_TRI, CONF_AT(conf_vhost, min_latency_set), NULL, CONF_HANDLER,
      .sample = "off", .def_note = "off; on for WebRTC",
      .help = "Favors latency over CPU: no merged read, and mw_msgs defaults to 0." },
    { "tcp_nodelay", CONF_KIND_OFF, CONF_AT(conf_vhost, tcp_nodelay), "off", CONF_HANDLER,
      .help = "Sends small packets at once (TCP_NODELAY). Turn it on for less latency." },
    { "in_ack_size", CONF_KIND_INT, CONF_AT(conf_vhost, in_ack_size), "0", CONF_HANDLER, .max = 2e9,
      .help = "Sends an acknowledgement to publishers every this many bytes, even if they do "
              "not request it. 0: only on request." },
    { "out_ack_size", CONF_KIND_INT, CONF_AT(conf_vhost, out_ack_size), "2500000", CONF_HANDLER,
      .max = 2e9, .help = "Bytes after which clients must send an acknowledgement." },
    { "bandcheck", CONF_KIND_OBSOLETE, .flags = CONF_QUIET, .help = "From older servers." },

    { "play", CONF_KIND_BLOCK, CONF_AT(conf_vhost, play), .block = &conf_table_play },
    { "publish", CONF_KIND_BLOCK, CONF_AT(conf_vhost, publish), .block = &conf_table_publish },
    { "forward", CONF_KIND_BLOCK, CONF_AT(conf_vhost, forward), .block = &conf_table_forward },
    { "refer", CONF_KIND_BLOCK, CONF_AT(conf_vhost, refer), .flags = CONF_NO_ENV,
      .block = &conf_table_refer },
    { "security", CONF_KIND_BLOCK, CONF_AT(conf_vhost, security),
      .block = &conf_table_security },
    { "bandwidth", CONF_KIND_BLOCK, CONF_AT(conf_vhost, bandwidth),
      .block = &conf_table_bandwidth },
    { "cluster", CONF_KIND_BLOCK, CONF_AT(conf_vhost, cluster),
      .flags = CONF_NOT_APPLIED | CONF_NO_ENV,
      .block = &conf_table_cluster },
    { "http_hooks", CONF_KIND_BLOCK, CONF_AT(conf_vhost, http_hooks),
      .block = &conf_table_http_hooks },
    { "http_remux", CONF_KIND_BLOCK, CONF_AT(conf_vhost, http_remux),
      .flags = CONF_ONCE, .block = &conf_table_http_remux },
    { "http_static", CONF_KIND_BLOCK, CONF_AT(conf_vhost, http_static),
      .block = &conf_table_http_static },
    { "hls", CONF_KIND_BLOCK, CONF_AT(conf_vhost, hls),
      .block = &conf_table_hls },
    { "dash", CONF_KIND_BLOCK, CONF_AT(conf_vhost, dash),
      .block = &conf_table_dash },
    { "hds", CONF_KIND_BLOCK, CONF_AT(conf_vhost, hds), .flags = CONF_NOT_APPLIED,
      .block = &conf_table_hds },
    { "dvr", CONF_KIND_BLOCK, CONF_AT(conf_vhost, dvr),
      .block = &conf_table_dvr },
    { "exec", CONF_KIND_BLOCK, CONF_AT(conf_vhost, exec), .flags = CONF_NO_ENV,
      .block = &conf_table_exec },
    { "ingest", CONF_KIND_BLOCKS, CONF_AT(conf_vhost, ingest), NULL, CONF_HANDLER,
      CONF_NO_ENV, .sample = "livestream", .block = &conf_table_ingest },
    { "transcode", CONF_KIND_BLOCKS, CONF_AT(conf_vhost, transcode), NULL, CONF_HANDLER,
      CONF_NO_ENV, .sample = "live/livestream", .block = &conf_table_transcode },
    PROTOCOL_SERVER_LIST(XX)
    { "vod", CONF_KIND_BLOCK, CONF_AT(conf_vhost, vod), .block = &conf_table_vod },
};

const struct conf_block conf_table_vhost = CONF_BLOCK_OF(conf_vhost, vhost,
    "Virtual host: settings for streams of this host name. __defaultVhost__ is for all others.");
const struct conf_block conf_table_play = CONF_BLOCK_OF(conf_play, play,
    "Players: latency, queue, timestamps.");
const struct conf_block conf_table_publish = CONF_BLOCK_OF(conf_publish, publish,
    "Publishers: timeouts, takeover.");
const struct conf_block conf_table_cluster = CONF_BLOCK_OF(conf_cluster, cluster,
    "Edges and origins.");
const struct conf_block conf_table_forward = CONF_BLOCK_OF(conf_forward, forward,
    "Forwards streams to other servers.");
const struct conf_block conf_table_refer = CONF_BLOCK_OF(conf_refer, refer,
    "Web pages whose clients may publish and play.");
const struct conf_block conf_table_security = CONF_BLOCK_OF(conf_security, security,
    "Access control by address, signed link, JWT and stream key: doc/security.md.");
const struct conf_block conf_table_token = CONF_BLOCK_OF(conf_security_token, token,
    "Signed links and JWTs: doc/security-tokens.md.");
const struct conf_block conf_table_bandwidth = CONF_BLOCK_OF(conf_bandwidth, bandwidth,
    "Bandwidth limits.");
