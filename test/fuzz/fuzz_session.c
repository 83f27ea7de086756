/* SPDX-License-Identifier: MIT */
/* fuzz_session.c - a whole RTMP conversation: the input is all that a client sends. */
#include "base/log.h"
#include "co/co.h"
#include "co/io.h"
#include "live/impl.h"
#include "serve/rtmp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HANDSHAKE = 1 + 1536 + 1536 };

static struct serve serve;

static void on_publish(void *arg, const struct conf_vhost *vhost, const struct serve_stream *s,
                       struct live_source *src)
{
    (void)arg;
    (void)vhost;
    (void)src;
    assert(s->vhost && s->app && s->name && s->param);
}

static void on_unpublish(void *arg, struct live_source *src)
{
    (void)arg;
    assert(live_source_publishing(src));
}

static const char *no_env(void *arg, const char *name)
{
    (void)arg;
    (void)name;
    return NULL;
}

static err_t read_conf(void *arg, const char *path, char **text, size_t *size)
{
    static const char conf[] = "listen 1935; vhost __defaultVhost__ { }"
                               "vhost b { chunk_size 128; in_ack_size 1000; publish { mr on; }"
                               " play { mix_correct on; reduce_sequence_header on; } }";

    (void)arg;
    (void)path;
    *text = strdup(conf);
    *size = sizeof(conf) - 1;
    return NULL;
}

static void begin(void)
{
    const struct log_setup quiet = { .min = LOG_NONE };
    struct conf_source src = { .path = "fuzz.conf", .read = read_conf, .getenv = no_env };
    err_t err = co_init();

    log_init(&quiet);
    serve = (struct serve){ .generation = 1, .signature = "us", .version = "1",
                            .on_publish = on_publish, .on_unpublish = on_unpublish };
    if (!err)
        err = conf_load(&serve.conf, &src, NULL);
    assert(!err);
    serve.streams = live_registry_new();
}

/* The handshake has its own target; here it always is a simple one, so that a short input gets
 * to what comes behind it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *in = calloc(1, HANDSHAKE + size);
    struct io_mem m;
    err_t err;

    assert(in);
    if (!serve.conf)
        begin();
    in[0] = 3;
    if (size)
        memcpy(in + HANDSHAKE, data, size);
    io_mem_init(&m, in, HANDSHAKE + size);
    m.out_cap = 1 << 20;
    err = rtmp_session_run(&serve, &m.io, "127.0.0.1");
    assert(err); /* memory ends, so a conversation over it always ends too */
    err_free(&err);
    assert(err_live() == 0 && av_packet_live() == 0 && live_source_live() == 0);
    assert(serve.publishers == 0 && serve.players == 0);
    free(in);
    return 0;
}
