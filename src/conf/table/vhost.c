/* SPDX-License-Identifier: MIT */
/* vhost.c - directives of a vhost, of play and publish, and of who may do them. */
#include "conf/table.h"

#define YEARS 1e9

const char *const conf_words_jitter[] = { "full", "zero", "off", NULL };
static const char *const takeover_words[] = { "off", "stale", "on", NULL };
static const char *const at_expiry_words[] = { "keep", "end", NULL };
static const char *const mode_words[] = { "local", "remote", NULL };
static const char *const protocol_words[] = { "rtmp", "flv", "flvs", NULL };

static const struct conf_row play[] = {
    { "gop_cache", CONF_KIND_ON, CONF_AT(conf_play, gop_cache), "on", CONF_HANDLER,
      .help = "A player begins at the last key frame; off: at the next one, for less delay." },
    { "gop_cache_max_frames", CONF_KIND_INT, CONF_AT(conf_play, gop_cache_max_frames), "2500",
      CONF_HANDLER, .max = YEARS,
      .help = "A group of pictures with more frames is not kept for those who join; 0: no limit." },
    { "queue_length", CONF_KIND_SECONDS, CONF_AT(conf_play, queue_length), "30", CONF_HANDLER,
      .min = 0.1, .max = YEARS,
      .help = "Seconds a player may lag behind before it is moved to the newest key frame." },
    { "time_jitter", CONF_KIND_ENUM, CONF_AT(conf_play, time_jitter), "full", CONF_HANDLER,
      .words = conf_words_jitter,
      .help = "Correct timestamps: full is steady and from zero, zero is from zero, off is not." },
    { "atc", CONF_KIND_OFF, CONF_AT(conf_play, atc), "off", CONF_HANDLER,
      .help = "Absolute timestamps, as the publisher sends them; time_jitter is then off." },
    { "atc_auto", CONF_KIND_OFF, CONF_AT(conf_play, atc_auto), "off", CONF_HANDLER,
      .help = "Turn atc on for a publisher whose metadata says bravo_atc." },
    { "mix_correct", CONF_KIND_OFF, CONF_AT(conf_play, mix_correct), "off", CONF_HANDLER,
      .help = "Put audio and video in the order of their timestamps." },
    { "mw_latency", CONF_KIND_MSEC_AUTO, CONF_AT(conf_play, mw_latency), "350", CONF_HANDLER,
      .max = 60000,
      .help = "Milliseconds of media that are sent at once (merged write): more is less work, less "
              "is less delay; auto follows the load." },
    { "mw_msgs", CONF_KIND_INT, CONF_AT(conf_play, mw_msgs), NULL, CONF_HANDLER, CONF_CLAMP,
      .max = 128, .sample = "8", .def_note = "8; 0 with min_latency; 1 for WebRTC",
      .help = "Messages that must be there before the wait for mw_latency may end early." },
    { "send_min_interval", CONF_KIND_MSEC, CONF_AT(conf_play, send_min_interval), "0",
      CONF_HANDLER, .max = 60000,
      .help = "Milliseconds between two messages to a player, one at a time; 0: no pause." },
    { "reduce_sequence_header", CONF_KIND_OFF, CONF_AT(conf_play, reduce_sequence_header), "off",
      CONF_HANDLER, .help = "Do not send a sequence header again that has not changed." },
};

static const struct conf_row publish[] = {
    { "mr", CONF_KIND_OFF, CONF_AT(conf_publish, mr), "off", CONF_HANDLER,
      .help = "Merged read: let input gather before it is read, for less work." },
    { "mr_latency", CONF_KIND_MSEC, CONF_AT(conf_publish, mr_latency), "350", CONF_HANDLER,
      .max = 60000, .help = "Milliseconds for it to gather." },
    { "firstpkt_timeout", CONF_KIND_MSEC, CONF_AT(conf_publish, firstpkt_timeout), "20000",
      CONF_HANDLER, .min = 100, .max = YEARS,
      .help = "Milliseconds until the first packet of a publisher." },
    { "normal_timeout", CONF_KIND_MSEC, CONF_AT(conf_publish, normal_timeout), "5000", CONF_HANDLER,
      .min = 100, .max = YEARS, .help = "Milliseconds between two packets later on." },
    { "takeover", CONF_KIND_ENUM, CONF_AT(conf_publish, takeover), "stale", CONF_HANDLER,
      .words = takeover_words,
      .help = "What a publisher finds when its stream has one: off, it is refused; stale, the old "
              "one gives way if it is silent, or if the new one shows the same parameters and a "
              "token, a key or on_publish lets it in by them; on, it gives way." },
    { "takeover_silence", CONF_KIND_MSEC, CONF_AT(conf_publish, takeover_silence), "2000",
      CONF_HANDLER, .max = YEARS, .help = "Milliseconds that make a publisher silent." },
    { "takeover_silence_near", CONF_KIND_MSEC, CONF_AT(conf_publish, takeover_silence_near), "500",
      CONF_HANDLER, .max = YEARS,
      .help = "The same to one of its own address, which waits for it up to takeover_silence: an "
              "encoder that is back before its dead connection is noticed." },
    { "kickoff_for_idle", CONF_KIND_SECONDS, CONF_AT(conf_publish, kickoff_for_idle), "0",
      CONF_HANDLER, .max = YEARS,
      .help = "Seconds after which a publisher without any player is dropped; 0: never." },
    { "parse_sps", CONF_KIND_ON, CONF_AT(conf_publish, parse_sps), "on", CONF_HANDLER,
      .help = "Read the size of the picture from the video configuration." },
    { "try_annexb_first", CONF_KIND_RELIC, .help = "Found out from each frame." },
};

static const struct conf_row cluster[] = {
    { "mode", CONF_KIND_ENUM, CONF_AT(conf_cluster, mode), "local", CONF_NEVER,
      .words = mode_words,
      .help = "local, or remote for an edge that pulls from an origin: a vhost that is one does "
              "not start, there are no edges yet." },
    { "origin", CONF_KIND_HOSTS, CONF_AT(conf_cluster, origin), NULL, CONF_AT_ONCE,
      .port = 1935, .sample = "127.0.0.1:1935 localhost:1935",
      .help = "The origins of an edge, taken in turn." },
    { "token_traverse", CONF_KIND_OFF, CONF_AT(conf_cluster, token_traverse), "off", CONF_AT_ONCE,
      .help = "Have every client of the edge checked by the origin." },
    { "vhost", CONF_KIND_STRING, CONF_AT(conf_cluster, vhost), "[vhost]", CONF_AT_ONCE,
      .help = "The vhost to ask the origin for." },
    { "debug_srs_upnode", CONF_KIND_ON, CONF_AT(conf_cluster, debug_srs_upnode), "on",
      CONF_AT_ONCE, .help = "Tell the origin who we are, to follow a stream in the logs." },
    { "protocol", CONF_KIND_ENUM, CONF_AT(conf_cluster, protocol), "rtmp", CONF_AT_ONCE,
      .words = protocol_words, .help = "How an edge pulls: rtmp, flv or flvs." },
    { "follow_client", CONF_KIND_OFF, CONF_AT(conf_cluster, follow_client), "off", CONF_AT_ONCE,
      .help = "Pull by the protocol of the player." },
    { "origin_cluster", CONF_KIND_OFF, CONF_AT(conf_cluster, origin_cluster), "off", CONF_NEVER,
      .help = "Several origins that send clients to each other." },
    { "coworkers", CONF_KIND_LIST, CONF_AT(conf_cluster, coworkers), NULL, CONF_NEVER,
      .sample = "127.0.0.1:9091 127.0.0.1:9092", .help = "The API endpoints of the others." },
};

static const struct conf_row forward[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_forward, enabled), "off", CONF_HANDLER,
      .help = "Send each stream of this vhost on to other servers." },
    { "destination", CONF_KIND_HOSTS, CONF_AT(conf_forward, destination), NULL, CONF_HANDLER,
      .port = 1935, .sample = "127.0.0.1:1936 127.0.0.1:1937",
      .help = "The RTMP servers: host[:port], several with spaces between; "
              "rtmps://host[:port] is over TLS. rtmp://host[:port]/app/key is one stream of a "
              "service; rtsp://[user:password@]host[:port]/[app]/[stream] is a server of RTSP; "
              "srt://host:port?streamid=#!::r=[app]/[stream],m=publish&latency=200 one of SRT. "
              "[vhost], [app] and [stream] in them are replaced by those of the stream here." },
    { "tls_verify", CONF_KIND_ON, CONF_AT(conf_forward, tls_verify), "on", CONF_AT_ONCE,
      .help = "A destination written as rtmps:// or rtsps:// must prove that it is that host." },
    { "tls_ca", CONF_KIND_STRING, CONF_AT(conf_forward, tls_ca), NULL, CONF_AT_ONCE,
      .sample = "./conf/ca.crt",
      .help = "PEM file of the authorities to trust then; else those of the system." },
    { "backend", CONF_KIND_STRING, CONF_AT(conf_forward, backend), NULL, CONF_HANDLER,
      .sample = "http://127.0.0.1:8085/api/v1/forward",
      .help = "A url that is asked for the destinations of a stream." },
};

static const struct conf_row refer[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_refer, enabled), "off", CONF_AT_ONCE,
      .help = "Look at the page that a client comes from." },
    { "all", CONF_KIND_LIST, CONF_AT(conf_refer, all), NULL, CONF_AT_ONCE,
      .sample = "example.com example.org",
      .help = "Hosts, with all below them, whose pages may publish or play; none: any page." },
    { "publish", CONF_KIND_LIST, CONF_AT(conf_refer, publish), NULL, CONF_AT_ONCE,
      .sample = "example.com", .help = "The same to publish; both lists must allow it." },
    { "play", CONF_KIND_LIST, CONF_AT(conf_refer, play), NULL, CONF_AT_ONCE,
      .sample = "example.com example.org", .help = "The same to play." },
};

static const struct conf_row token[] = {
    { "publish", CONF_KIND_OFF, CONF_AT(conf_security_token, publish), "off", CONF_AT_ONCE,
      .help = "Who publishes shows a signed link, a JWT or, where the stream has one, its key." },
    { "play", CONF_KIND_OFF, CONF_AT(conf_security_token, play), "off", CONF_AT_ONCE,
      .help = "Who plays shows a signed link or a JWT, by whatever protocol." },
    { "secret", CONF_KIND_LIST, CONF_AT(conf_security_token, secret), NULL, CONF_AT_ONCE,
      CONF_SECRET, .sample = "change-me-to-32-random-characters",
      .help = "Signs links: ?expires=TIME&sign=SIGNATURE. Of several, each is as good." },
    { "jwt_secret", CONF_KIND_LIST, CONF_AT(conf_security_token, jwt_secret), NULL, CONF_AT_ONCE,
      CONF_SECRET, .sample = "change-me-to-32-random-characters",
      .help = "Signs a JWT of HS256: ?token=JWT. Of several, each is as good." },
    { "jwks", CONF_KIND_STRING, CONF_AT(conf_security_token, jwks), NULL, CONF_HANDLER,
      .sample = "./conf/jwks.json",
      .help = "A file of public keys, for a JWT of RS256 and ES256; read again when it changes." },
    { "issuer", CONF_KIND_STRING, CONF_AT(conf_security_token, issuer), NULL, CONF_AT_ONCE,
      .sample = "https://login.example.com",
      .help = "What a JWT must have as iss; none: anything." },
    { "audience", CONF_KIND_STRING, CONF_AT(conf_security_token, audience), NULL, CONF_AT_ONCE,
      .sample = "live.example.com",
      .help = "What a JWT must have in aud; none: anything." },
    { "at_expiry", CONF_KIND_ENUM, CONF_AT(conf_security_token, at_expiry), "keep", CONF_AT_ONCE,
      .words = at_expiry_words,
      .help = "When the token of who publishes or plays expires: keep lets it stay, end closes its "
              "connection. For who comes later than a change." },
    { "except", CONF_KIND_RULES, CONF_AT(conf_security_token, except), NULL, CONF_AT_ONCE,
      .sample = "play 127.0.0.1",
      .help = "publish or play, then an address or a CIDR that needs neither token nor key: for "
              "programs beside the server. Repeatable." },
};

static const struct conf_row security[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_security, enabled), "off", CONF_AT_ONCE,
      .help = "Look at the address of a client, its token and its key; without any rule all are "
              "denied." },
    { "token", CONF_KIND_BLOCK, CONF_AT(conf_security, token), .block = &conf_table_token },
    { "key", CONF_KIND_COMMANDS, CONF_AT(conf_security, key), NULL, CONF_AT_ONCE, CONF_SECRET,
      .sample = "live/livestream change-me",
      .help = "app/stream, and the key without which it cannot be published: STREAM?key=KEY. A * "
              "at the end stands for whatever follows. Repeatable." },
    { "allow", CONF_KIND_RULES, CONF_AT(conf_security, allow), NULL, CONF_AT_ONCE, CONF_NO_ENV,
      .sample = "play all",
      .help = "publish or play, then all, an address or a CIDR. With any allow rule whoever "
              "matches none is denied. Repeatable." },
    { "deny", CONF_KIND_RULES, CONF_AT(conf_security, deny), NULL, CONF_AT_ONCE, CONF_NO_ENV,
      .sample = "publish 192.0.2.0/24", .help = "The same; tried before allow. Repeatable." },
};

static const struct conf_row bandwidth[] = {
    { "publish_kbps", CONF_KIND_INT, CONF_AT(conf_bandwidth, publish_kbps), "0", CONF_HANDLER,
      .max = 1e8, .sample = "20000",
      .help = "Kbit/s of one publisher; what is more is read late, so its encoder sees a slow "
              "network. 0: no limit, as everywhere here." },
    { "play_kbps", CONF_KIND_INT, CONF_AT(conf_bandwidth, play_kbps), "0", CONF_HANDLER,
      .max = 1e8, .sample = "40000",
      .help = "Kbit/s to one connection that plays or fetches files, also while it catches up; "
              "more than twice a stream's rate, or its players fall behind." },
    { "in_kbps", CONF_KIND_INT, CONF_AT(conf_bandwidth, in_kbps), "0", CONF_AT_ONCE,
      .max = 2e9, .sample = "500000",
      .help = "When all publishers of the vhost together send so much, no other may begin." },
    { "out_kbps", CONF_KIND_INT, CONF_AT(conf_bandwidth, out_kbps), "0", CONF_AT_ONCE,
      .max = 2e9, .sample = "5000000",
      .help = "A player with whom all players of the vhost would take more is refused." },
};

#define XX(ID, id) \
    { #id, CONF_KIND_BLOCK, CONF_AT(conf_vhost, id), .block = &conf_table_vhost_##id },

static const struct conf_row vhost[] = {
    { "enabled", CONF_KIND_ON, CONF_AT(conf_vhost, enabled), "on", CONF_HANDLER, CONF_NO_ENV,
      .help = "off denies everything in this vhost." },
    { "chunk_size", CONF_KIND_INT, CONF_AT(conf_vhost, chunk_size), NULL, CONF_HANDLER,
      .min = 128, .max = 65536, .sample = "60000", .def_note = "that of rtmp",
      .help = "Bytes of one RTMP chunk that we send." },
    { "min_latency", CONF_KIND_TRI, CONF_AT(conf_vhost, min_latency_set), NULL, CONF_HANDLER,
      .sample = "off", .def_note = "off; on for WebRTC",
      .help = "Work for little delay: no merged read, a player is woken by time alone." },
    { "tcp_nodelay", CONF_KIND_OFF, CONF_AT(conf_vhost, tcp_nodelay), "off", CONF_HANDLER,
      .help = "Send small packets at once (TCP_NODELAY)." },
    { "in_ack_size", CONF_KIND_INT, CONF_AT(conf_vhost, in_ack_size), "0", CONF_HANDLER, .max = 2e9,
      .help = "Acknowledge to a publisher every so many bytes, though it asks for none; 0: no." },
    { "out_ack_size", CONF_KIND_INT, CONF_AT(conf_vhost, out_ack_size), "2500000", CONF_HANDLER,
      .max = 2e9, .help = "Bytes that a client is asked to acknowledge at a time." },
    { "bandcheck", CONF_KIND_RELIC, .flags = CONF_QUIET, .help = "Of older servers." },

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
    "A virtual host: how streams of its name are served. __defaultVhost__ is for all others.");
const struct conf_block conf_table_play = CONF_BLOCK_OF(conf_play, play,
    "How players are served.");
const struct conf_block conf_table_publish = CONF_BLOCK_OF(conf_publish, publish,
    "How publishers are served.");
const struct conf_block conf_table_cluster = CONF_BLOCK_OF(conf_cluster, cluster,
    "Edges and origins.");
const struct conf_block conf_table_forward = CONF_BLOCK_OF(conf_forward, forward,
    "Streams sent on to other servers.");
const struct conf_block conf_table_refer = CONF_BLOCK_OF(conf_refer, refer,
    "Which web pages may.");
const struct conf_block conf_table_security = CONF_BLOCK_OF(conf_security, security,
    "Who may: addresses, signed links and JWT, keys of streams.");
const struct conf_block conf_table_token = CONF_BLOCK_OF(conf_security_token, token,
    "Publishing and playing by signed links and JWT, without a backend.");
const struct conf_block conf_table_bandwidth = CONF_BLOCK_OF(conf_bandwidth, bandwidth,
    "How fast it may be sent and received.");
