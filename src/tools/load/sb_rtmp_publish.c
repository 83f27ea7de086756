/* SPDX-License-Identifier: MIT */
/* sb_rtmp_publish.c - many RTMP publishers of one FLV file.
 *
 * The file is in memory once. Each message is sent by itself when its time has come, as an encoder
 * does; its chunks are made for each sending. */
#include "tools/load/run.h"

#include "base/must.h"
#include "tools/load/media.h"

#include <string.h>

static struct load_media media; /* parsed once, of all publishers */

static err_t send_one(void *arg, const struct load_message *msg, uint64_t time)
{
    struct load_client *c = arg;
    struct load_talk *t = &c->talk;
    uint8_t head[LOAD_MARKER_HEAD], *bytes;
    size_t n = msg->marker, size;
    struct rtmp_msg out = { .type = msg->type, .csid = rtmp_out_csid(msg->type),
                            .stream_id = t->stream_id, .time = (uint32_t)time,
                            .payload = (uint8_t *)(uintptr_t)msg->data + n };
    err_t err;

    memcpy(head, msg->data, n);
    n += load_message_extra(head + n, msg, c->run->opts.no_marker ? NULL : &c->number);
    out.size = msg->size + (uint32_t)n - msg->marker;
    size = rtmp_out_size(out.csid, out.time, out.size, t->conn.out_chunk_size);
    bytes = must(malloc(size));
    (void)rtmp_out_render_parts(bytes, &out, head, n, t->conn.out_chunk_size);
    err = io_write(t->io, bytes, size);
    free(bytes);
    c->bytes += size;
    c->run->stat.bytes_out += size;
    c->run->stat.messages++;
    return err;
}

static err_t hear(void *arg)
{
    return load_talk_read(&((struct load_client *)arg)->talk);
}

static err_t publish(struct load_client *c, const struct load_url *url)
{
    err_t err = load_talk_publish(&c->talk, (uint32_t)c->run->opts.chunk_size);

    (void)url;
    for (size_t i = 0; !err && i < media.head_count; i++)
        err = send_one(c, &media.heads[i], 0);
    return err ? err : load_publish(c, &media, hear, send_one, c);
}

static err_t prepare(struct load_run *run)
{
    err_t err = load_media_load(&media, run->opts.input, false);

    if (!err)
        run->media_kbps = load_media_kbps(&media);
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
