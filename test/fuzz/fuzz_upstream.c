/* SPDX-License-Identifier: MIT */
/* fuzz_upstream.c - a whole RTMP conversation from the other side: the input is everything that a server
 * sends to which we forward a stream, or from which our client plays one.
 *
 * The first byte selects which, and whether the stream ends meanwhile. The second is the size of the
 * server's pieces.
 */
#include "format/flv/flv.h"
#include "fuzz.h"
#include "proto/rtmp/client.h"
#include "sink/forward/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const size_t fuzz_input_most = FUZZ_LARGEST;

enum { MESSAGES_MOST = 10000 };

static const char conf[] = "listen 1935; vhost __defaultVhost__ { play { mw_latency 0; } }"
                           "vhost late { play { mw_latency 350; } }";

static struct session_env env;

struct conversation {
    struct fuzz_peer peer; /* first */
    struct forward *forward; /* NULL: it plays */
    bool end_soon;
    unsigned pushed;
};

static void push(struct conversation *c)
{
    static const uint8_t key[] = "\x17\1\0\0\0\0\0\0\2\x65k";
    struct av_packet *pkt = av_packet_new(sizeof(key) - 1);
    err_t err;

    pkt->origin = FLV_VIDEO;
    memcpy(pkt->data, key, pkt->size);
    err = flv_packet_describe(pkt);
    assert(!err);
    live_source_push(c->forward->src, pkt, AV_MS(40) * c->pushed++);
    av_packet_unref(pkt);
}

static void meanwhile(void *arg)
{
    struct conversation *c = arg;

    push(c);
    if (c->end_soon && c->pushed > 10)
        forward_end(c->forward);
}

static err_t play(struct conversation *c)
{
    struct rtmp_conn conn;
    struct rtmp_msg msg;
    struct rtmp_url url;
    uint32_t stream_id;
    err_t err = rtmp_url_parse(&url, "rtmp://h/live/s?token=x");

    assert(!err);
    rtmp_conn_init(&conn, &c->peer.io, &rtmp_in_heap);
    err = rtmp_client_connect(&conn, &url, NULL);
    if (!err)
        err = rtmp_client_play(&conn, &url, RTMP_PLAY_ANY, &stream_id);
    for (int i = 0; i < MESSAGES_MOST && !err; i++) {
        err = rtmp_conn_read(&conn, &msg);
        if (!err)
            rtmp_conn_release(&conn, &msg);
    }
    rtmp_conn_fini(&conn);
    rtmp_url_free(&url);
    return err;
}

static err_t talk(void *arg)
{
    struct conversation *c = arg;

    if (!c->forward)
        return play(c);
    c->forward->session.co = co_self();
    return forward_converse(c->forward);
}

static struct forward *begin_forward(const char *vhost)
{
    const struct live_settings set =
        session_live_settings(env.conf, conf_vhost_find(env.conf, vhost));
    struct session_stream names = { .vhost = vhost, .app = "live", .name = "s" };
    struct live_source *src = live_registry_get(env.streams, "v/live/s", &set);
    struct forward *f = NULL;
    err_t err = forward_new_url(&f, &env, "rtmp://h/live/s?token=x", &names, src);

    assert(!err);
    live_source_unref(src);
    return f;
}

static void begin(void)
{
    fuzz_serve(&env, conf);
    env.clients = clients_new(env.streams, "vid-1");
    fuzz_time_flies();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct conversation c = { 0 };
    uint8_t *in;
    err_t err;

    if (!env.conf)
        begin();
    if (size < 2)
        return 0;
    in = fuzz_shake_hands(data + 2, size - 2);
    fuzz_peer_init(&c.peer, in, FUZZ_HANDSHAKE + size - 2, data[1]);
    c.peer.ready = FUZZ_HANDSHAKE;
    if (data[0] % 4 > 0) {
        c.forward = begin_forward(data[0] & 2 ? "late" : "__defaultVhost__");
        c.forward->session.io = &c.peer.io;
        c.peer.meanwhile = meanwhile;
        c.peer.arg = &c;
        c.end_soon = data[0] & 4;
    }
    err = fuzz_run(talk, &c);
    err_free(&err);
    if (c.forward)
        forward_free(c.forward);
    assert(err_live() == 0 && av_packet_live() == 0 && live_source_live() == 0);
    free(in);
    return 0;
}
