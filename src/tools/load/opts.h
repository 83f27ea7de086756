/* SPDX-License-Identifier: MIT */
/* opts.h - the command line of the load tools, as one table. */
#ifndef TOOLS_LOAD_OPTS_H
#define TOOLS_LOAD_OPTS_H

#include "av/codec.h"
#include "base/err.h"

#include <stdbool.h>

enum load_tools {
    LOAD_PLAY = 1, LOAD_FAST = 2, LOAD_PUBLISH = 4, LOAD_HTTP = 8, LOAD_HLS = 16,
    LOAD_RTSP = 32, LOAD_RTSP_PUBLISH = 64, LOAD_SRT = 128, LOAD_RTC = 256,
    LOAD_RTMFP = 512, LOAD_ALL = 1023, LOAD_PUBLISHERS = LOAD_PUBLISH | LOAD_RTSP_PUBLISH,
    LOAD_RTSP_BOTH = LOAD_RTSP | LOAD_RTSP_PUBLISH,
    LOAD_LINKS = LOAD_SRT | LOAD_RTC | LOAD_RTMFP, /* over a network that may be bad */
};

/* Each option is a row and a field of struct load_opts; ALSO() is one more row of a field: letter
 * (0: none), name, type, field, tools, least, most, and help, which has the unit and the default.
 * SECONDS are any number. */
#define LOAD_OPTIONS(ROW, ALSO) \
    ROW('c', "clients", INT, clients, LOAD_ALL, 1, 1e6, "how many (1)") \
    ROW('r', "url", TEXT, url, LOAD_ALL, 0, 0, \
        "scheme://host[:port]/app/stream; {i} is the number of the client") \
    ROW('i', "input", TEXT, input, LOAD_PUBLISHERS, 0, 0, "FLV file to publish, round and round") \
    ALSO('i', "input", TEXT, input, LOAD_SRT, 0, 0, \
        "FLV or TS file to publish, round and round; without one they play") \
    ALSO('i', "input", TEXT, input, LOAD_RTC, 0, 0, \
        "FLV file to publish, round and round; without one they play") \
    ROW(0, "codec", TEXT, codec, LOAD_RTC, 0, 0, \
        "of video that players offer: h264, h265, av1, vp9 (h264)") \
    ROW(0, "cm", FLAG, cm, LOAD_RTC, 0, 0, "take AES-CM with HMAC-SHA1 alone, not AES-GCM") \
    ROW(0, "rebind", SECONDS, rebind, LOAD_RTC, 0, 1e6, \
        "seconds, then a client goes on from another port") \
    ROW(0, "stream-count", INT, stream_count, LOAD_ALL, 0, 1e6, \
        "{i} goes from 0 to this less one, and again") \
    ROW('t', "repeat", INT, repeat, LOAD_ALL, 0, 1e9, "sessions of a client; 0: for ever (0)") \
    ROW('s', "start", SECONDS, start, LOAD_ALL & ~LOAD_PLAY, 0, 1e6, \
        "begin within so many seconds (5)") \
    ALSO('s', "within", SECONDS, start, LOAD_PLAY, 0, 1e6, "begin within so many seconds (5)") \
    ROW(0, "ramp", SECONDS, ramp, LOAD_ALL, 0, 1e6, "begin this many clients a second instead") \
    ROW(0, "spread", SECONDS, spread, LOAD_ALL, 0, 1e6, "begin one after so many ms instead") \
    ROW('d', "delay", SECONDS, delay, LOAD_ALL, 0, 1e6, "seconds between sessions (1)") \
    ROW('e', "error", SECONDS, error, LOAD_ALL, 0, 1e6, "seconds after a failed one (3)") \
    ROW(0, "churn", SECONDS, churn, LOAD_ALL, 0, 1e6, \
        "end sessions at random, after this many seconds on average") \
    ROW(0, "duration", SECONDS, duration, LOAD_ALL, 0, 1e9, "seconds of it all; 0: no end (0)") \
    ROW(0, "warmup", SECONDS, warmup, LOAD_ALL, 0, 1e6, \
        "measure from so many seconds after the last client began") \
    ROW('m', "summary", SECONDS, summary, LOAD_ALL, 0.1, 1e6, "seconds between reports (30)") \
    ROW(0, "timeout", SECONDS, timeout, LOAD_ALL, 0.1, 1e6, "seconds of silence we bear (30)") \
    ROW(0, "fast", FLAG, fast, LOAD_HTTP, 0, 0, \
        "look at the first media alone, drop the rest unseen; not over TLS") \
    ROW(0, "stall", INT, stall_ms, LOAD_PLAY | LOAD_HTTP | LOAD_RTSP | LOAD_LINKS, 1, 1e6, \
        "ms without media: a stall (1000)") \
    ALSO(0, "stall", INT, stall_ms, LOAD_HLS, 1, 1e6, \
        "ms that the picture stands still: a stall (100)") \
    ROW(0, "plain", FLAG, plain, LOAD_HLS, 0, 0, "whole segments, whatever the list offers") \
    ROW(0, "hold-back", SECONDS, hold_back, LOAD_HLS, 0, 1e6, \
        "play so many seconds behind the edge; 0: as the list says (0)") \
    ROW(0, "late", INT, late_ms, LOAD_PLAY | LOAD_HTTP | LOAD_RTSP | LOAD_RTMFP, 1, 1e6, \
        "ms behind its best time that make a frame late (500)") \
    ROW(0, "read-kbps", INT, read_kbps, LOAD_PLAY | LOAD_HTTP | LOAD_HLS | LOAD_RTSP, 1, 1e9, \
        "read no faster: a slow player") \
    ROW(0, "idle", FLAG, idle, LOAD_PLAY | LOAD_HTTP | LOAD_RTSP, 0, 0, \
        "connect only: play nothing") \
    ROW(0, "udp", FLAG, udp, LOAD_RTSP_BOTH, 0, 0, "media in datagrams, not over the connection") \
    ROW(0, "tunnel", FLAG, tunnel, LOAD_RTSP, 0, 0, "inside of HTTP: a GET and a POST each") \
    ROW(0, "npt", TEXT, npt, LOAD_RTSP, 0, 0, \
        "seconds to play from, or from-to, or now: the Range of PLAY") \
    ROW(0, "scale", SECONDS, scale, LOAD_RTSP, -1000, 1000, "how fast: the Scale of PLAY") \
    ROW(0, "start", SECONDS, from, LOAD_PLAY, 0, 1e6, "seconds to play a recording from") \
    ROW(0, "anywhere", SECONDS, anywhere, LOAD_PLAY | LOAD_HTTP | LOAD_RTSP, 0, 1e6, \
        "play a recording from a random place in its first seconds") \
    ROW(0, "mtu", INT, mtu, LOAD_RTSP_PUBLISH, 64, 65000, "bytes in a packet (1400)") \
    ROW(0, "latency", INT, latency_ms, LOAD_SRT, 0, 65535, "ms, where the URL has none (120)") \
    ROW(0, "passphrase", TEXT, passphrase, LOAD_SRT, 0, 0, "of 10 to 79 characters") \
    ROW(0, "pbkeylen", INT, pbkeylen, LOAD_SRT, 16, 32, "bytes of a key: 16, 24, 32 (16)") \
    ROW(0, "payload", INT, payload, LOAD_SRT, 188, 1456, "bytes of TS in a packet (1316)") \
    ROW(0, "loss", SECONDS, loss, LOAD_LINKS, 0, 100, "% of datagrams that are lost, each way") \
    ROW(0, "loss-at", SECONDS, loss_at, LOAD_LINKS, 0, 1e6, "seconds until any are lost (0)") \
    ROW(0, "loss-for", SECONDS, loss_for, LOAD_LINKS, 0, 1e6, \
        "seconds that they are lost; 0: to the end (0)") \
    ROW(0, "loss-run", INT, loss_run, LOAD_LINKS, 1, 1000, "so many of them in a row (1)") \
    ROW(0, "twice", SECONDS, twice, LOAD_LINKS, 0, 100, "% that come twice") \
    ROW(0, "reorder", SECONDS, reorder, LOAD_LINKS, 0, 100, "% that are late by up to 15 ms") \
    ROW(0, "one-way", SECONDS, one_way, LOAD_LINKS, 0, 10000, "ms that each takes longer") \
    ROW(0, "cut", SECONDS, cut, LOAD_LINKS, 0, 1e6, "seconds that all are lost, once") \
    ROW(0, "cut-at", SECONDS, cut_at, LOAD_LINKS, 0, 1e6, "seconds until then (10)") \
    ROW(0, "seed", INT, seed, LOAD_LINKS, 0, 1e9, "of what is lost (1)") \
    ALSO(0, "dup", SECONDS, twice, LOAD_RTMFP, 0, 100, "as --twice") \
    ROW(0, "ping", SECONDS, ping, LOAD_RTMFP, 0.01, 1e6, "seconds between pings (5)") \
    ROW(0, "group", INT, group, LOAD_RTMFP, 2, 14, "of keys: 2, 5, 14 (2)") \
    ROW(0, "hmac", FLAG, hmac, LOAD_RTMFP, 0, 0, "packets are to have HMACs") \
    ROW(0, "sequence", FLAG, sequence, LOAD_RTMFP, 0, 0, "packets are to be numbered") \
    ROW(0, "play", FLAG, play, LOAD_RTMFP, 0, 0, "play the stream that the URL ends with") \
    ALSO('i', "publish", TEXT, input, LOAD_RTMFP, 0, 0, \
        "FLV file to publish as that stream, round and round") \
    ROW(0, "pair", FLAG, pair, LOAD_RTMFP, 0, 0, \
        "every second client has itself introduced to the one before it, and pings that, too") \
    ROW(0, "flood", INT, flood, LOAD_RTMFP, 1, 1e6, \
        "say so many first hellos a second, each from another address, and nothing else") \
    ROW(0, "bare", FLAG, bare, LOAD_RTMFP, 0, 0, "agree on keys, and never connect") \
    ROW(0, "silent", SECONDS, silent, LOAD_RTMFP, 0, 100, \
        "% of sessions that end without a word") \
    ROW(0, "move", SECONDS, move, LOAD_RTMFP, 0, 100, \
        "% of sessions that go on from another port") \
    ROW(0, "pid", INT, pid, LOAD_RTMFP, 1, 1 << 22, "of the server: tell its CPU and memory") \
    ROW(0, "keep", FLAG, keep, LOAD_RTSP_BOTH | LOAD_LINKS, 0, 0, \
        "who falls off begins again at once, for ever") \
    ROW(0, "chunk-size", INT, chunk_size, LOAD_PUBLISH, 128, 0xffffff, "of a chunk (60000)") \
    ROW(0, "no-marker", FLAG, no_marker, LOAD_PUBLISHERS | LOAD_LINKS, 0, 0, \
        "no clock in the video") \
    ROW(0, "bind", TEXT, bind, LOAD_ALL, 0, 0, \
        "source address, or a range in turn: 127.0.0.2-127.0.0.9") \
    ROW(0, "json", FLAG, json, LOAD_ALL, 0, 0, "the report at the end as one JSON object") \
    ROW('v', "verbose", FLAG, verbose, LOAD_ALL, 0, 0, "say why each session ended") \
    ROW('h', "help", FLAG, help, LOAD_ALL, 0, 0, "this")

#define LOAD_OPTION_FLAG bool
#define LOAD_OPTION_INT int
#define LOAD_OPTION_SECONDS double
#define LOAD_OPTION_TEXT const char *
#define LOAD_OPTION_FIELD(letter, name, type, field, tools, min, max, help) \
    LOAD_OPTION_##type field;
#define LOAD_OPTION_NO_FIELD(letter, name, type, field, tools, min, max, help)

struct load_opts {
    enum load_tools tool;
    LOAD_OPTIONS(LOAD_OPTION_FIELD, LOAD_OPTION_NO_FIELD)
    enum av_codec vcodec; /* of `codec` */
};

/* ERR_CONF: text for the user. */
err_t load_opts_parse(struct load_opts *o, enum load_tools tool, int argc, char **argv)
    __attribute__((warn_unused_result));
void load_opts_help(const struct load_opts *o, const char *program, const char *what);

/* The source address of a client: the range of `bind` in turn. "" without one. */
err_t load_opts_bind(const struct load_opts *o, unsigned index, char *out, size_t size)
    __attribute__((warn_unused_result));

/* Where in a recording a session is to begin, s; < 0: it was not said. At random, another one each
 * time, if that was asked for. */
double load_opts_place(const struct load_opts *o);

#endif
