/* SPDX-License-Identifier: MIT */
/* sb_rtmp_publish.c - many RTMP publishers of one FLV file.
 *
 * The file is in memory once. Each message is sent by itself when its time has come, as an encoder
 * does; its chunk headers are made for each sending, its payload is written from the file. */
#include "tools/load/run.h"

#include "proto/rtmp/chunk_out.h"
#include "tools/load/media.h"

enum { IOV_MAX_OURS = 64 };

static struct load_media media; /* parsed once, of all publishers */

/* A message cut into chunks for one writev: pieces come, headers go between them. */
struct gather {
    struct io *io;
    struct iovec iov[IOV_MAX_OURS];
    int count;
    uint32_t chunk_size, chunk_left;
    uint8_t next[RTMP_OUT_NEXT];
    size_t next_size, bytes;
};

static err_t flush(struct gather *g)
{
    err_t err = io_writev(g->io, g->iov, g->count);

    g->count = 0;
    return err;
}

static err_t add(struct gather *g, const void *p, size_t n)
{
    g->iov[g->count++] = (struct iovec){ (void *)(uintptr_t)p, n };
    g->bytes += n;
    return g->count == IOV_MAX_OURS ? flush(g) : NULL;
}

static err_t add_payload(struct gather *g, const uint8_t *p, size_t n)
{
    err_t err = NULL;

    while (!err && n > 0) {
        size_t part;

        if (g->chunk_left == 0) {
            err = add(g, g->next, g->next_size);
            g->chunk_left = g->chunk_size;
            if (err)
                break;
        }
        part = n < g->chunk_left ? n : g->chunk_left;
        err = add(g, p, part);
        p += part;
        n -= part;
        g->chunk_left -= (uint32_t)part;
    }
    return err;
}

/* The message, with `extra` put in at its offset `at`. */
static err_t send_message(struct load_client *c, const struct load_message *msg, uint32_t time,
                          size_t at, const void *extra, size_t extra_size)
{
    struct rtmp_msg head = { .type = msg->type, .csid = rtmp_out_csid(msg->type),
                             .stream_id = (uint32_t)c->talk.answer.number, .time = time,
                             .size = msg->size + (uint32_t)extra_size };
    struct gather g = { .io = c->talk.io, .chunk_size = (uint32_t)c->run->opts.chunk_size };
    uint8_t first[RTMP_OUT_FIRST];
    err_t err;

    g.chunk_left = g.chunk_size;
    g.next_size = rtmp_out_next(g.next, head.csid, time);
    err = add(&g, first, rtmp_out_first(first, &head));
    if (!err)
        err = add_payload(&g, msg->data, at);
    if (!err)
        err = add_payload(&g, extra, extra_size);
    if (!err)
        err = add_payload(&g, msg->data + at, msg->size - at);
    if (!err && g.count > 0)
        err = flush(&g);
    c->bytes += g.bytes;
    c->run->stat.bytes_out += g.bytes;
    c->run->stat.messages++;
    return err;
}

static err_t send_one(void *arg, const struct load_message *msg, uint64_t time)
{
    struct load_client *c = arg;
    uint8_t extra[LOAD_MARKER_SIZE];
    size_t n = load_media_extra(extra, msg, c->run->opts.no_marker ? NULL : &c->number);

    return send_message(c, msg, (uint32_t)time, msg->marker, extra, n);
}

static err_t hear(void *arg)
{
    return load_talk_read(&((struct load_client *)arg)->talk);
}

static err_t publish(struct load_client *c, const struct load_url *url)
{
    err_t err = load_talk_publish(&c->talk, url, (uint32_t)c->run->opts.chunk_size);

    for (size_t i = 0; !err && i < media.head_count; i++)
        err = send_one(c, &media.heads[i], 0);
    return err ? err : load_publish(c, &media, hear, send_one, c);
}

static err_t prepare(struct load_run *run)
{
    err_t err = load_media_load(&media, run->opts.input);

    if (!err)
        run->media_kbps = (double)media.bytes * 8 / media.period;
    return err;
}

static const struct load_tool tool = {
    .name = "sb_rtmp_publish",
    .what = "many RTMP publishers of one FLV file",
    .kind = LOAD_PUBLISH,
    .schemes = "rtmp",
    .prepare = prepare,
    .session = publish,
};

int main(int argc, char **argv)
{
    return load_main(&tool, argc, argv);
}
