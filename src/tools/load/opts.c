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

#define ROW(letter, name, type, field, tools, min, max, help) \
    { letter, name, type, offsetof(struct load_opts, field), tools, min, max, help },

static const struct row rows[] = { LOAD_OPTIONS(ROW, ROW) };

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
