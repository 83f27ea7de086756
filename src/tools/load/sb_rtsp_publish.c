/* SPDX-License-Identifier: MIT */
/* sb_rtsp_publish.c - many RTSP publishers of one FLV file, over the connection or datagrams.
 *
 * The file is in memory once. Each frame is sent by itself when its time has come, as an encoder
 * does; its packets are made for each sending, since each has its own numbers. */
#include "tools/load/rtp.h"
#include "tools/load/rtsp.h"
#include "tools/load/rtsp_send.h"

#include <stdlib.h>

#include "co/net/io_tcp.h"
#include "proto/sdp/sdp.h"

enum { SDP_MAX = 16 * 1024 };

static struct load_media source; /* parsed once, of all publishers */

struct publisher {
    struct load_rtsp talk;
    struct load_rtp heard;   /* what the server says meanwhile */
    struct load_sender sender;
};

/* ------------------------------------------------------------ until it may send */

static err_t announce(struct publisher *p)
{
    static const struct rtsp_extra type = { "Content-Type", "application/sdp" };
    struct wr sdp;
    err_t err;

    wr_init(&sdp, SDP_MAX);
    load_media_describe(&source, &sdp);
    err = wr_err(&sdp, "a description");
    if (!err)
        err = load_rtsp_ask(&p->talk, &(struct rtsp_request){ .method = RTSP_OPTIONS }, NULL);
    if (!err)
        err = load_rtsp_ask(&p->talk, &(struct rtsp_request){
            .method = RTSP_ANNOUNCE, .more = &type,
                                                          .n = 1, .body = sdp.buf,
                                                          .size = sdp.len }, NULL);
    wr_free(&sdp);
    return err;
}

static err_t set_up(struct publisher *p, unsigned i)
{
    char control[] = "trackID=0";
    err_t err;

    control[sizeof(control) - 2] = (char)('0' + i);
    err = load_rtsp_setup(&p->talk, control, i, true, &p->sender.pairs[i]);
    if (err)
        return err;
    load_sender_begin(&p->sender, i);
    p->heard.tracks[i].channel = p->sender.pairs[i].channel;
    p->heard.n = i + 1;
    return NULL;
}

static err_t begin(struct publisher *p)
{
    static const struct rtsp_extra range = { "Range", "npt=0.000-" };
    const struct rtsp_request record = { .method = RTSP_RECORD, .more = &range, .n = 1 };
    err_t err = announce(p);

    for (unsigned i = 0; !err && i < source.n; i++)
        err = set_up(p, i);
    if (!err)
        err = load_rtsp_ask(&p->talk, &record, NULL);
    if (!err)
        load_rtsp_begin(&p->talk);
    return err;
}

/* ------------------------------------------------------------ media */

static err_t hear(void *arg)
{
    struct publisher *p = arg;
    size_t n;

    return load_rtp_read(&p->heard, &p->talk.call.reader, &n);
}

static err_t send_one(void *arg, const struct load_message *msg, uint64_t time)
{
    struct publisher *p = arg;
    err_t err = load_sender_send(&p->sender, msg, time);

    return err ? err : load_rtsp_alive(&p->talk);
}

static err_t publish(struct load_client *c, const struct load_url *url)
{
    struct publisher *p = calloc(1, sizeof(*p));
    err_t err;

    if (!p)
        return err_new(ERR_NO_MEMORY, "a publisher");
    p->heard.c = c;
    err = load_rtsp_init(&p->talk, c, url);
    if (!err) {
        err = load_sender_init(&p->sender, c, &source);
        if (!err)
            err = begin(p);
        if (!err)
            err = load_publish(c, &source, hear, send_one, p);
        if (!err)
            load_rtsp_teardown(&p->talk);
        load_sender_fini(&p->sender);
        load_rtsp_fini(&p->talk);
    }
    free(p);
    return err;
}

static err_t prepare(struct load_run *run)
{
    err_t err = load_media_load(&source, run->opts.input, true);

    if (!err)
        run->media_kbps = load_media_kbps(&source);
    return err;
}

static const struct load_tool tool = {
    .name = "sb_rtsp_publish",
    .what = "many RTSP publishers of one FLV file",
    .kind = LOAD_RTSP_PUBLISH,
    .schemes = "rtsp rtsps",
    .open = load_rtsp_open,
    .prepare = prepare,
    .session = publish,
};

int main(int argc, char **argv)
{
    return load_main(&tool, argc, argv);
}
