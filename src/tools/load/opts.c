/* SPDX-License-Identifier: MIT */
/* opts.c - the command line of the load tools, as one table. */
#include "tools/load/opts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum type { FLAG, INT, SECONDS, TEXT };

#define KEEP_S 0.1 /* before who fell off begins again */

struct row {
    char letter; /* 0: none */
    const char *name;
    enum type type;
    size_t at;
    int tools;
    double min, max;
    const char *help;
};

#define AT(field) offsetof(struct load_opts, field)

static const struct row rows[] = {
    { 'c', "clients", INT, AT(clients), LOAD_ALL, 1, 1e6, "how many (1)" },
    { 'r', "url", TEXT, AT(url), LOAD_ALL, 0, 0,
      "scheme://host[:port]/app/stream; {i} is the number of the client" },
    { 'i', "input", TEXT, AT(input), LOAD_PUBLISHERS, 0, 0,
      "FLV file to publish, round and round" },
    { 'i', "input", TEXT, AT(input), LOAD_SRT, 0, 0,
      "FLV or TS file to publish, round and round; without one they play" },
    { 'i', "input", TEXT, AT(input), LOAD_RTC, 0, 0,
      "FLV file to publish, round and round; without one they play" },
    { 0, "codec", TEXT, AT(codec), LOAD_RTC, 0, 0,
      "of video that players offer: h264, h265, av1, vp9 (h264)" },
    { 0, "cm", FLAG, AT(cm), LOAD_RTC, 0, 0, "take AES-CM with HMAC-SHA1 alone, not AES-GCM" },
    { 0, "rebind", SECONDS, AT(rebind), LOAD_RTC, 0, 1e6,
      "seconds, then a client goes on from another port" },
    { 0, "stream-count", INT, AT(stream_count), LOAD_ALL, 0, 1e6,
      "{i} goes from 0 to this less one, and again" },
    { 't', "repeat", INT, AT(repeat), LOAD_ALL, 0, 1e9, "sessions of a client; 0: for ever (0)" },
    { 's', "start", SECONDS, AT(start), LOAD_ALL & ~LOAD_PLAY, 0, 1e6,
      "begin within so many seconds (5)" },
    { 's', "within", SECONDS, AT(start), LOAD_PLAY, 0, 1e6, "begin within so many seconds (5)" },
    { 0, "ramp", SECONDS, AT(ramp), LOAD_ALL, 0, 1e6, "begin this many clients a second instead" },
    { 0, "spread", SECONDS, AT(spread), LOAD_ALL, 0, 1e6, "begin one after so many ms instead" },
    { 'd', "delay", SECONDS, AT(delay), LOAD_ALL, 0, 1e6, "seconds between sessions (1)" },
    { 'e', "error", SECONDS, AT(error), LOAD_ALL, 0, 1e6, "seconds after a failed one (3)" },
    { 0, "churn", SECONDS, AT(churn), LOAD_ALL, 0, 1e6,
      "end sessions at random, after this many seconds on average" },
    { 0, "duration", SECONDS, AT(duration), LOAD_ALL, 0, 1e9, "seconds of it all; 0: no end (0)" },
    { 0, "warmup", SECONDS, AT(warmup), LOAD_ALL, 0, 1e6,
      "measure from so many seconds after the last client began" },
    { 'm', "summary", SECONDS, AT(summary), LOAD_ALL, 0.1, 1e6, "seconds between reports (30)" },
    { 0, "timeout", SECONDS, AT(timeout), LOAD_ALL, 0.1, 1e6, "seconds of silence we bear (30)" },
    { 0, "fast", FLAG, AT(fast), LOAD_HTTP, 0, 0,
      "look at the first media alone, drop the rest unseen; not over TLS" },
    { 0, "stall", INT, AT(stall_ms), LOAD_PLAY | LOAD_HTTP | LOAD_RTSP | LOAD_LINKS, 1, 1e6,
      "ms without media: a stall (1000)" },
    { 0, "stall", INT, AT(stall_ms), LOAD_HLS, 1, 1e6,
      "ms that the picture stands still: a stall (100)" },
    { 0, "plain", FLAG, AT(plain), LOAD_HLS, 0, 0, "whole segments, whatever the list offers" },
    { 0, "hold-back", SECONDS, AT(hold_back), LOAD_HLS, 0, 1e6,
      "play so many seconds behind the edge; 0: as the list says (0)" },
    { 0, "late", INT, AT(late_ms),
      LOAD_PLAY | LOAD_HTTP | LOAD_RTSP | LOAD_RTMFP, 1, 1e6,
      "ms behind its best time that make a frame late (500)" },
    { 0, "read-kbps", INT, AT(read_kbps),
      LOAD_PLAY | LOAD_HTTP | LOAD_HLS | LOAD_RTSP, 1, 1e9, "read no faster: a slow player" },
    { 0, "idle", FLAG, AT(idle), LOAD_PLAY | LOAD_HTTP | LOAD_RTSP, 0, 0,
      "connect only: play nothing" },
    { 0, "udp", FLAG, AT(udp), LOAD_RTSP_BOTH, 0, 0,
      "media in datagrams, not over the connection" },
    { 0, "tunnel", FLAG, AT(tunnel), LOAD_RTSP, 0, 0, "inside of HTTP: a GET and a POST each" },
    { 0, "npt", TEXT, AT(npt), LOAD_RTSP, 0, 0,
      "seconds to play from, or from-to, or now: the Range of PLAY" },
    { 0, "scale", SECONDS, AT(scale), LOAD_RTSP, -1000, 1000, "how fast: the Scale of PLAY" },
    { 0, "start", SECONDS, AT(from), LOAD_PLAY, 0, 1e6, "seconds to play a recording from" },
    { 0, "anywhere", SECONDS, AT(anywhere), LOAD_PLAY | LOAD_HTTP | LOAD_RTSP, 0, 1e6,
      "play a recording from a random place in its first seconds" },
    { 0, "mtu", INT, AT(mtu), LOAD_RTSP_PUBLISH, 64, 65000, "bytes in a packet (1400)" },
    { 0, "latency", INT, AT(latency_ms), LOAD_SRT, 0, 65535,
      "ms, where the URL has none (120)" },
    { 0, "passphrase", TEXT, AT(passphrase), LOAD_SRT, 0, 0, "of 10 to 79 characters" },
    { 0, "pbkeylen", INT, AT(pbkeylen), LOAD_SRT, 16, 32, "bytes of a key: 16, 24, 32 (16)" },
    { 0, "payload", INT, AT(payload), LOAD_SRT, 188, 1456, "bytes of TS in a packet (1316)" },
    { 0, "loss", SECONDS, AT(loss), LOAD_LINKS, 0, 100, "% of datagrams that are lost, each way" },
    { 0, "loss-at", SECONDS, AT(loss_at), LOAD_LINKS, 0, 1e6, "seconds until any are lost (0)" },
    { 0, "loss-for", SECONDS, AT(loss_for), LOAD_LINKS, 0, 1e6,
      "seconds that they are lost; 0: to the end (0)" },
    { 0, "loss-run", INT, AT(loss_run), LOAD_LINKS, 1, 1000, "so many of them in a row (1)" },
    { 0, "twice", SECONDS, AT(twice), LOAD_LINKS, 0, 100, "% that come twice" },
    { 0, "reorder", SECONDS, AT(reorder), LOAD_LINKS, 0, 100, "% that are late by up to 15 ms" },
    { 0, "one-way", SECONDS, AT(one_way), LOAD_LINKS, 0, 10000, "ms that each takes longer" },
    { 0, "cut", SECONDS, AT(cut), LOAD_LINKS, 0, 1e6, "seconds that all are lost, once" },
    { 0, "cut-at", SECONDS, AT(cut_at), LOAD_LINKS, 0, 1e6, "seconds until then (10)" },
    { 0, "seed", INT, AT(seed), LOAD_LINKS, 0, 1e9, "of what is lost (1)" },
    { 0, "dup", SECONDS, AT(twice), LOAD_RTMFP, 0, 100, "as --twice" },
    { 0, "ping", SECONDS, AT(ping), LOAD_RTMFP, 0.01, 1e6, "seconds between pings (5)" },
    { 0, "group", INT, AT(group), LOAD_RTMFP, 2, 14, "of keys: 2, 5, 14 (2)" },
    { 0, "hmac", FLAG, AT(hmac), LOAD_RTMFP, 0, 0, "packets are to have HMACs" },
    { 0, "sequence", FLAG, AT(sequence), LOAD_RTMFP, 0, 0, "packets are to be numbered" },
    { 0, "play", FLAG, AT(play), LOAD_RTMFP, 0, 0, "play the stream that the URL ends with" },
    { 'i', "publish", TEXT, AT(input), LOAD_RTMFP, 0, 0,
      "FLV file to publish as that stream, round and round" },
    { 0, "pair", FLAG, AT(pair), LOAD_RTMFP, 0, 0,
      "every second client has itself introduced to the one before it, and pings that, too" },
    { 0, "flood", INT, AT(flood), LOAD_RTMFP, 1, 1e6,
      "say so many first hellos a second, each from another address, and nothing else" },
    { 0, "bare", FLAG, AT(bare), LOAD_RTMFP, 0, 0, "agree on keys, and never connect" },
    { 0, "silent", SECONDS, AT(silent), LOAD_RTMFP, 0, 100,
      "% of sessions that end without a word" },
    { 0, "move", SECONDS, AT(move), LOAD_RTMFP, 0, 100,
      "% of sessions that go on from another port" },
    { 0, "pid", INT, AT(pid), LOAD_RTMFP, 1, 1 << 22, "of the server: tell its CPU and memory" },
    { 0, "keep", FLAG, AT(keep), LOAD_RTSP_BOTH | LOAD_LINKS, 0, 0,
      "who falls off begins again at once, for ever" },
    { 0, "chunk-size", INT, AT(chunk_size), LOAD_PUBLISH, 128, 0xffffff, "of a chunk (60000)" },
    { 0, "no-marker", FLAG, AT(no_marker), LOAD_PUBLISHERS | LOAD_LINKS, 0, 0,
      "no clock in the video" },
    { 0, "bind", TEXT, AT(bind), LOAD_ALL, 0, 0,
      "source address, or a range in turn: 127.0.0.2-127.0.0.9" },
    { 0, "json", FLAG, AT(json), LOAD_ALL, 0, 0, "the report at the end as one JSON object" },
    { 'v', "verbose", FLAG, AT(verbose), LOAD_ALL, 0, 0, "say why each session ended" },
    { 'h', "help", FLAG, AT(help), LOAD_ALL, 0, 0, "this" },
};

static err_t set_codec(struct load_opts *o)
{
    static const struct {
        const char *name;
        enum av_codec codec;
    } names[] = { { "h264", AV_H264 }, { "h265", AV_H265 }, { "av1", AV_AV1 }, { "vp9", AV_VP9 } };

    o->vcodec = AV_H264;
    for (size_t i = 0; o->codec && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i].name, o->codec) != 0)
            continue;
        o->vcodec = names[i].codec;
        return NULL;
    }
    return o->codec ? err_new(ERR_CONF, "--codec: %s is none of ours", o->codec) : NULL;
}

static const struct row *find(enum load_tools tool, const char *arg)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        size_t n = strlen(row->name);

        if (!(row->tools & tool))
            continue;
        if (arg[0] == '-' && arg[1] && arg[1] == row->letter)
            return row;
        if (strncmp(arg, "--", 2) == 0 && strncmp(arg + 2, row->name, n) == 0 &&
            (arg[2 + n] == '\0' || arg[2 + n] == '='))
            return row;
    }
    return NULL;
}

static err_t set(struct load_opts *o, const struct row *row, const char *value)
{
    void *at = (char *)o + row->at;
    char *end = NULL;
    double v;

    if (row->type == TEXT) {
        *(const char **)at = value;
        return NULL;
    }
    errno = 0;
    v = strtod(value, &end);
    if (end == value || *end || errno || isnan(v))
        return err_new(ERR_CONF, "--%s: \"%s\" is no number", row->name, value);
    if (!(v >= row->min && v <= row->max))
        return err_new(ERR_CONF, "--%s: %s is not in %g..%g", row->name, value, row->min, row->max);
    if (row->type == INT && v != (double)(int)v)
        return err_new(ERR_CONF, "--%s: \"%s\" is no whole number", row->name, value);
    if (row->type == INT)
        *(int *)at = (int)v;
    else
        *(double *)at = v;
    return NULL;
}

/* One argument at *i, and its value: "-c5", "-c 5", "--clients=5", "--clients 5". */
static err_t take(struct load_opts *o, int argc, char **argv, int *i)
{
    const char *arg = argv[*i], *value = NULL;
    const struct row *row = find(o->tool, arg);

    if (!row)
        return err_new(ERR_CONF, "unknown option %s (see --help)", arg);
    if (arg[1] == '-' && strchr(arg, '='))
        value = strchr(arg, '=') + 1;
    else if (arg[1] != '-' && arg[2])
        value = arg + 2;
    if (row->type == FLAG) {
        if (value)
            return err_new(ERR_CONF, "--%s takes no value", row->name);
        *(bool *)(void *)((char *)o + row->at) = true;
        return NULL;
    }
    if (!value && *i + 1 < argc)
        value = argv[++*i];
    if (!value)
        return err_new(ERR_CONF, "--%s needs a value", row->name);
    return set(o, row, value);
}

err_t load_opts_parse(struct load_opts *o, enum load_tools tool, int argc, char **argv)
{
    err_t err = NULL;

    *o = (struct load_opts){
        .tool = tool, .clients = 1, .start = 5, .delay = 1, .error = 3, .summary = 30,
        .warmup = -1, .from = -1, .timeout = 30,
        .stall_ms = tool == LOAD_HLS ? 100 : 1000, .late_ms = 500, .chunk_size = 60000,
        .mtu = 1400, .latency_ms = 120, .payload = 1316, .loss_run = 1, .cut_at = 10,
        .seed = 1, .ping = 5, .group = 2,
    };
    for (int i = 1; i < argc && !err; i++)
        err = take(o, argc, argv, &i);
    if (!err)
        err = set_codec(o);
    if (err || o->help)
        return err;
    if (!o->url)
        return err_new(ERR_CONF, "which stream? -r %s (see --help)",
                       tool == LOAD_SRT ? "srt://host:port?streamid=#!::r=app/stream"
                       : tool == LOAD_RTMFP ? "rtmfp://host/app"
                       : tool == LOAD_RTC ? "http://host:1985/rtc/v1/whep/?app=live&stream=x"
                       : tool & LOAD_RTSP_BOTH ? "rtsp://host/app/stream"
                                               : "rtmp://host/app/stream");
    if (o->keep) {
        o->repeat = 0;
        o->delay = o->delay < KEEP_S ? o->delay : KEEP_S;
        o->error = o->error < KEEP_S ? o->error : KEEP_S;
    }
    if (o->group != 2 && o->group != 5 && o->group != 14)
        return err_new(ERR_CONF, "--group: %d is none of 2, 5, 14", o->group);
    if ((tool & LOAD_PUBLISHERS) && !o->input)
        return err_new(ERR_CONF, "publish what? -i file.flv (see --help)");
    return NULL;
}

void load_opts_help(const struct load_opts *o, const char *program, const char *what)
{
    static const char *const values[] = { "", " N", " S", " X" };

    printf("%s - %s\n\nUsage: %s [options] -r URL\n\n", program, what, program);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        char left[32];

        if (!(row->tools & (int)o->tool))
            continue;
        snprintf(left, sizeof(left), "--%s%s", row->name, values[row->type]);
        if (row->letter)
            printf("  -%c, %-18s %s\n", row->letter, left, row->help);
        else
            printf("      %-18s %s\n", left, row->help);
    }
}

err_t load_opts_bind(const struct load_opts *o, unsigned index, char *out, size_t size)
{
    const char *dash = o->bind ? strchr(o->bind, '-') : NULL;
    struct in_addr from, to;
    char first[INET_ADDRSTRLEN];
    uint32_t a, b;

    if (!dash) {
        snprintf(out, size, "%s", o->bind ? o->bind : "");
        return NULL;
    }
    snprintf(first, sizeof(first), "%.*s", (int)(dash - o->bind), o->bind);
    if (inet_pton(AF_INET, first, &from) != 1 || inet_pton(AF_INET, dash + 1, &to) != 1 ||
        ntohl(from.s_addr) > ntohl(to.s_addr))
        return err_new(ERR_CONF, "--bind: %s is no range of addresses", o->bind);
    a = ntohl(from.s_addr);
    b = ntohl(to.s_addr);
    from.s_addr = htonl((uint32_t)(a + index % ((uint64_t)b - a + 1)));
    (void)inet_ntop(AF_INET, &from, out, (socklen_t)size);
    return NULL;
}

double load_opts_place(const struct load_opts *o)
{
    return o->anywhere > 0 ? o->anywhere * ((double)rand() / RAND_MAX) : o->from;
}
