/* SPDX-License-Identifier: MIT */
/* skim.c - walk over the chunks of a server without taking anything out of them. */
#include "tools/load/skim.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "proto/rtmp/msg.h"

enum { EXTENDED = 0xffffff };

struct header {
    uint8_t fmt, type;
    uint32_t csid, stamp, size;
    struct load_skim_stream *stream;
    bool extended;
};

void load_skim_init(struct load_skim *s)
{
    *s = (struct load_skim){ .chunk_size = RTMP_CHUNK_SIZE, .now = -1, .whole_of = -1 };
}

void load_skim_whole(struct load_skim *s, bool on)
{
    s->whole_of = -1;
    if (on && !s->whole) {
        s->whole = must(malloc(LOAD_SKIM_WHOLE));
    } else if (!on) {
        free(s->whole);
        s->whole = NULL;
    }
}

static struct load_skim_stream *find(struct load_skim *s, uint32_t csid)
{
    for (int i = 0; i < LOAD_SKIM_STREAMS; i++) {
        if (s->streams[i].csid == csid || s->streams[i].csid == 0)
            return &s->streams[i];
    }
    return NULL;
}

/* [RTMP 5.3.1] Bytes of the header at p, 0: not all there. h->stream NULL: too many streams. */
static size_t parse_header(struct load_skim *s, const uint8_t *p, size_t n, struct header *h)
{
    static const uint8_t sizes[4] = { 11, 7, 3, 0 };
    uint32_t form = p[0] & 0x3f;
    size_t at = form >= 2 ? 1 : 2 + form;
    const uint8_t *m = p + at;

    h->fmt = p[0] >> 6;
    if (n < at + sizes[h->fmt])
        return 0;
    h->csid = form >= 2 ? form : 64 + p[1] + (form ? (uint32_t)p[2] << 8 : 0);
    h->stream = find(s, h->csid);
    at += sizes[h->fmt];
    if (!h->stream)
        return at;
    if (h->fmt < 3) {
        h->stamp = load_be(m, 3);
        h->extended = h->stamp == EXTENDED;
        h->size = h->fmt < 2 ? load_be(m + 3, 3) : h->stream->size;
        h->type = h->fmt < 2 ? m[6] : h->stream->type;
        if (!h->extended)
            return at;
        if (n < at + 4)
            return 0;
        h->stamp = load_be(p + at, 4);
        return at + 4;
    }
    h->stamp = h->stream->stamp;
    h->size = h->stream->size;
    h->type = h->stream->type;
    h->extended = h->stream->extended;
    if (!h->extended)
        return at;
    if (n < at + 4)
        return 0;
    return at + (load_be(p + at, 4) == h->stamp ? 4 : 0); /* some servers leave it out */
}

static err_t begin_chunk(struct load_skim *s, const struct header *h)
{
    struct load_skim_stream *st = h->stream;

    if (!st)
        return err_new(ERR_RTMP_CHUNK, "over %d chunk streams", LOAD_SKIM_STREAMS);
    if (h->fmt > 1 && st->csid == 0)
        return err_new(ERR_RTMP_CHUNK, "chunk stream %u begins with fmt %d", h->csid, h->fmt);
    st->csid = h->csid;
    if (st->left == 0) {
        st->time = h->fmt == 0 ? h->stamp : st->time + h->stamp;
        st->stamp = h->stamp;
        st->extended = h->extended;
        st->size = st->left = h->size;
        st->type = h->type;
        s->head_size = 0;
        if (s->whole && (st->type == RTMP_COMMAND || st->type == RTMP_COMMAND_AMF3)) {
            s->whole_of = (int8_t)(st - s->streams);
            s->whole_size = 0;
        }
    }
    s->chunk_left = st->left < s->chunk_size ? st->left : s->chunk_size;
    if (s->chunk_left > 0)
        s->now = (int8_t)(st - s->streams);
    return NULL;
}

static err_t read_header(struct load_skim *s, const uint8_t **p, const uint8_t *end)
{
    struct header h = { 0 };
    size_t n = (size_t)(end - *p), used, had = s->header_size;

    if (had == 0) {
        used = parse_header(s, *p, n, &h);
        if (used) {
            *p += used;
            return begin_chunk(s, &h);
        }
    }
    n = n < LOAD_SKIM_HEADER - had ? n : LOAD_SKIM_HEADER - had;
    memcpy(s->header + had, *p, n);
    used = parse_header(s, s->header, had + n, &h);
    if (!used) {
        s->header_size = (uint8_t)(had + n);
        *p += n;
        return NULL;
    }
    s->header_size = 0;
    if (used < had) /* a timestamp that was left out, found so late: the bytes are gone */
        return err_new(ERR_RTMP_CHUNK, "an extended timestamp is missing");
    *p += used - had;
    return begin_chunk(s, &h);
}

static err_t on_control(struct load_skim *s, uint8_t type)
{
    uint32_t v = load_be(s->head, 4);

    if (s->head_size < 4)
        return err_new(ERR_RTMP_MSG_SIZE, "control message %d of %d bytes", type, s->head_size);
    if (type == RTMP_WINDOW_ACK_SIZE) {
        s->window = v;
    } else if (type == RTMP_SET_CHUNK_SIZE) {
        if (v == 0 || v > RTMP_CHUNK_SIZE_MAX)
            return err_new(ERR_RTMP_CHUNK, "chunk size %u", v);
        s->chunk_size = v;
    }
    return NULL;
}

static err_t end_message(struct load_skim *s, struct load_skim_stream *st,
                         const struct load_skim_handler *h, void *arg)
{
    struct load_skim_msg msg = { .type = st->type, .time = st->time, .size = st->size,
                                  .head = s->head, .head_size = s->head_size, .end = true };

    if (st->type == RTMP_AUDIO || st->type == RTMP_VIDEO) {
        if (h->media)
            h->media(arg, &msg);
        return NULL;
    }
    if (st->type == RTMP_SET_CHUNK_SIZE || st->type == RTMP_WINDOW_ACK_SIZE)
        return on_control(s, st->type);
    if (s->whole && s->whole_of == st - s->streams) {
        msg.head = s->whole;
        msg.head_size = s->whole_size;
        s->whole_of = -1;
    }
    if (h->other)
        h->other(arg, &msg);
    return NULL;
}

/* Keep the first bytes of a message; they are all in its first chunk. */
static void keep_head(struct load_skim *s, struct load_skim_stream *st, const uint8_t *p,
                      size_t n, const struct load_skim_handler *h, void *arg)
{
    uint32_t read = st->size - st->left;
    size_t want = st->size < LOAD_MARKER_HEAD ? st->size : LOAD_MARKER_HEAD;
    struct load_skim_msg msg;

    if (read >= want || s->head_size >= want)
        return;
    n = n < want - s->head_size ? n : want - s->head_size;
    memcpy(s->head + s->head_size, p, n);
    s->head_size = (uint8_t)(s->head_size + n);
    if (s->head_size < want || (st->type != RTMP_AUDIO && st->type != RTMP_VIDEO) || !h->media)
        return;
    msg = (struct load_skim_msg){ .type = st->type, .time = st->time, .size = st->size,
                                   .head = s->head, .head_size = s->head_size };
    h->media(arg, &msg);
}

static err_t read_payload(struct load_skim *s, const uint8_t **p, const uint8_t *end,
                          const struct load_skim_handler *h, void *arg)
{
    struct load_skim_stream *st = &s->streams[s->now];
    size_t n = (size_t)(end - *p) < s->chunk_left ? (size_t)(end - *p) : s->chunk_left;

    keep_head(s, st, *p, n, h, arg);
    if (s->whole_of == s->now && s->whole_size + n <= LOAD_SKIM_WHOLE) {
        memcpy(s->whole + s->whole_size, *p, n);
        s->whole_size += (uint32_t)n;
    }
    *p += n;
    s->chunk_left -= (uint32_t)n;
    st->left -= (uint32_t)n;
    if (s->chunk_left == 0)
        s->now = -1;
    return st->left == 0 ? end_message(s, st, h, arg) : NULL;
}

err_t load_skim_feed(struct load_skim *s, const uint8_t *p, size_t size,
                     const struct load_skim_handler *h, void *arg)
{
    const uint8_t *end = p + size;
    err_t err = NULL;

    s->bytes += size;
    while (!err && p < end)
        err = s->now < 0 ? read_header(s, &p, end) : read_payload(s, &p, end, h, arg);
    return err;
}

bool load_skim_take_ack(struct load_skim *s, uint32_t *sequence)
{
    if (s->window == 0 || s->bytes - s->acked < s->window / 2)
        return false;
    s->acked = s->bytes;
    *sequence = (uint32_t)s->bytes;
    return true;
}
