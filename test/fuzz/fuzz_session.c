/* SPDX-License-Identifier: MIT */
/* fuzz_session.c - a whole RTMP conversation: the input is everything that a client sends.
 *
 * The first byte selects the vhost that others publish "on" to, and with it mw_latency; and whether
 * the client reads everything. The second is the size of the client's pieces.
 * Between two of them 40 ms pass and packets arrive.
 */
#include "format/flv/flv.h"
#include "fuzz.h"
#include "proto/rtmp/chunk_in.h"
#include "serve/rtmp/rtmp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const size_t fuzz_input_most = FUZZ_LARGEST;

enum { WINDOW = 100 };

static const char conf[] =
    "listen 1935; vhost __defaultVhost__ { play { mw_latency 0; } }"
    "vhost auto { play { mw_latency auto; } }"
    "vhost late { play { mw_latency 350; } }"
    "vhost b { chunk_size 128; in_ack_size 1000; publish { mr on; }"
    " play { mix_correct on; reduce_sequence_header on; gop_cache off; send_min_interval 5; } }";
static const char *const vhosts[] = { "__defaultVhost__", "auto", "late", "b" };

static struct session_env env;

struct conversation {
    struct fuzz_peer peer; /* first */
    struct live_source *src; /* the other publisher's */
    unsigned pushed;
};

static unsigned begun; /* streams that were announced to sinks and have not ended yet */

static void on_publish(void *arg, const struct conf_vhost *vhost, const struct session_stream *s,
                       struct live_source *src)
{
    (void)arg;
    (void)vhost;
    (void)src;
    assert(s->vhost && s->app && s->name && s->param);
    begun++;
}

static void on_unpublish(void *arg, struct live_source *src)
{
    (void)arg;
    (void)src;
    assert(begun > 0);
    begun--;
}

/* ---- another publisher's stream */

#define BODY(x) { (const uint8_t *)(x), sizeof(x) - 1 }

/* Configurations, a key frame, and frames up to the next one. */
static const struct {
    uint8_t type;
    struct {
        const uint8_t *data;
        size_t size;
    } body;
} packets[] = {
    { FLV_VIDEO, BODY("\x17\0\0\0\0\1\x42\xc0\x1e\xff\xe1\0\0\0") },
    { FLV_AUDIO, BODY("\xaf\0\x12\x10") },
    { FLV_VIDEO, BODY("\x17\1\0\0\0\0\0\0\2\x65k") },
    { FLV_AUDIO, BODY("\xaf\1zz") },
    { FLV_VIDEO, BODY("\x27\1\0\0\0\0\0\0\2\x41p") },
    { FLV_AUDIO, BODY("\xaf\1zzz") },
    { FLV_DATA, BODY("\2\0\x0aonMetaData\x08\0\0\0\0\0\0\x09") },
};

static void push(void *arg)
{
    const size_t count = sizeof(packets) / sizeof(packets[0]);
    struct conversation *c = arg;
    size_t i = c->pushed % count;
    struct av_packet *pkt = av_packet_new(packets[i].body.size);
    err_t err;

    pkt->origin = packets[i].type;
    memcpy(pkt->data, packets[i].body.data, pkt->size);
    err = flv_packet_describe(pkt);
    assert(!err);
    live_source_push(c->src, pkt, AV_MS(20) * c->pushed);
    av_packet_unref(pkt);
    c->pushed++;
}

static void begin_other(struct conversation *c, const char *vhost)
{
    const struct live_settings set =
        session_live_settings(env.conf, conf_vhost_find(env.conf, vhost));
    char name[64];

    strcpy(name, vhost);
    strcat(name, "/live/on");
    c->src = live_registry_get(env.streams, name, &set);
    for (int i = 0; i < 4; i++)
        push(c);
}

/* ---- the client */

static err_t talk(void *arg)
{
    struct conversation *c = arg;
    err_t err = rtmp_session_run(&env, &c->peer.io, "127.0.0.1");

    assert(err); /* it ends, so a conversation with it always ends, too */
    return err;
}

static void begin(void)
{
    static struct rtmp_in_pool messages = { .limit = 1 << 20 };

    fuzz_serve(&env, conf);
    env.on_publish = on_publish;
    env.on_unpublish = on_unpublish;
    env.messages = &messages;
    live_registry_limit(env.streams, 1 << 20);
    fuzz_time_flies();
    fuzz_time_busy(200); /* so that `auto` applies */
}

/* The handshake has its own target; here it is always a simple one, so that a short input gets
 * past it. */
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
    c.peer.window = data[0] & 4 ? WINDOW : 0;
    c.peer.meanwhile = push;
    c.peer.arg = &c;
    begin_other(&c, vhosts[data[0] % 4]);
    err = fuzz_run(talk, &c);
    assert(err);
    err_free(&err);
    c.src = live_source_unref(c.src);
    assert(err_live() == 0 && av_packet_live() == 0 && live_source_live() == 0);
    assert(env.publishers == 0 && env.players == 0 && begun == 0);
    free(in);
    return 0;
}
