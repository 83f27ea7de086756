/* SPDX-License-Identifier: MIT */
/* test_rtmp_session.c - RTMP sessions with the server over a memory io, cut at every byte. */
#include "base/log.h"
#include "co/net/io.h"
#include "env.h"
#include "io_mem.h"
#include "live/impl.h"
#include "proto/rtmp/chunk_in.h"
#include "rtmp_client_bytes.h"
#include "serve/rtmp/rtmp.h"

#include <stdio.h>
#include <stdlib.h>

static struct session_env *env;
static void (*count_published)(void *arg, const struct conf_vhost *vhost,
                               const struct session_stream *s, struct live_source *src);
static struct live_source *held; /* keeps a published stream after its publisher has closed */

static void hold(void *arg, const struct conf_vhost *vhost, const struct session_stream *s,
                 struct live_source *src)
{
    assert_string_equal(s->app, "live");
    count_published(arg, vhost, s, src);
    if (!held)
        held = live_source_ref(src);
}

static void begin(const char *text)
{
    env = env_new(text);
    count_published = env->on_publish;
    env->on_publish = hold;
}

static void end(void)
{
    held = live_source_unref(held);
    env_free(&env);
}

/* Returns all bytes of a publisher, from handshake to close; free with wr_free(). */
static struct wr publisher(void)
{
    struct wr in;

    wr_init(&in, 1 << 20);
    client_publish(&in, "s");
    client_media(&in);
    return in;
}

#define DEFAULT_CONF "listen 1935; vhost __defaultVhost__ { }"

/* Serves a client that sends these bytes; the bytes of the server go to out. */
static err_t serve_client(const void *bytes, size_t size, size_t piece, struct wr *out)
{
    struct io_mem m;
    err_t err;

    io_mem_init(&m, bytes, size);
    m.piece = piece;
    m.out_cap = 1 << 20;
    m.out = out ? malloc(m.out_cap) : NULL;
    err = rtmp_session_run(env, &m.io, "127.0.0.1");
    if (out)
        wr_bytes(out, m.out, m.out_size);
    free(m.out);
    return err;
}

/* Returns true if the server sent a command or status with this text. */
static bool sent(const struct wr *out, const char *text)
{
    return memmem(out->buf, out->len, text, strlen(text)) != NULL;
}

static void test_publish(void **state)
{
    static const char *const wanted[] = { "NetConnection.Connect.Success", "onFCPublish",
                                          "NetStream.Publish.Start" };
    struct live_source_stat stat;

    (void)state;
    for (size_t piece = 0; piece < 3; piece++) {
        struct wr in = publisher(), out;

        begin(DEFAULT_CONF);
        wr_init(&out, 1 << 20);
        assert_err(serve_client(in.buf, in.len, piece, &out), ERR_IO_CLOSED);
        for (size_t i = 0; i < COUNT(wanted); i++)
            assert_true(sent(&out, wanted[i]));
        assert_non_null(held);
        live_source_stat(held, &stat);
        assert_int_equal(stat.in_packets, 6);
        assert_int_equal(stat.video_packets, 3);
        assert_int_equal(stat.publishing, false);
        assert_int_equal(env_published(env)->begun, 1);
        assert_int_equal(env_published(env)->ended, 1);
        wr_free(&in);
        wr_free(&out);
        end();
    }
}

/* A client may close after any byte: the session always ends cleanly and leaks nothing. */
static void test_cut_at_every_byte(void **state)
{
    struct wr in = publisher();

    (void)state;
    begin(DEFAULT_CONF);
    client_call(&in, 0, "FCUnpublish", 6, "s");
    client_call(&in, 1, "play", 7, "s");
    for (size_t size = 0; size <= in.len; size += size < HANDSHAKE_SIZE - 2 ? 97 : 1)
        assert_err(serve_client(in.buf, size, 0, NULL), ERR_IO_CLOSED);
    assert_int_equal(env_published(env)->begun, env_published(env)->ended);
    wr_free(&in);
    end();
}

static void test_publish_again_and_again_then_play(void **state)
{
    struct wr in, out;

    (void)state;
    begin(DEFAULT_CONF);
    wr_init(&in, 1 << 20);
    wr_init(&out, 1 << 20);
    client_publish(&in, "s");
    for (int i = 0; i < 3; i++) {
        client_media(&in);
        client_call(&in, 0, "FCUnpublish", 6, "s");
        client_call(&in, 0, "deleteStream", 0, NULL);
        client_call(&in, 1, "publish", 7, "other");
    }
    client_call(&in, 1, "closeStream", 0, NULL);
    client_call(&in, 1, "play", 8, "s");
    assert_err(serve_client(in.buf, in.len, 0, &out), ERR_IO_CLOSED);
    assert_int_equal(env_published(env)->begun, 4);
    assert_int_equal(env_published(env)->ended, 4);
    assert_true(sent(&out, "NetStream.Unpublish.Success"));
    assert_true(sent(&out, "NetStream.Play.Start"));
    wr_free(&in);
    wr_free(&out);
    end();
}

/* A player that joins a live stream gets metadata, sequence headers and the key frame. */
static void test_play_what_is_live(void **state)
{
    static const char *const wanted[] = { "NetStream.Play.Start", "RtmpSampleAccess" };
    struct wr in, out;

    (void)state;
    begin(DEFAULT_CONF);
    wr_init(&in, 1 << 20);
    wr_init(&out, 1 << 20);
    client_handshake(&in);
    client_connect(&in, "rtmp://127.0.0.1/live");
    client_call(&in, 0, "createStream", 2, NULL);
    client_call(&in, 1, "play", 3, "s");
    assert_err(serve_client(in.buf, in.len, 0, &out), ERR_IO_CLOSED);
    for (size_t i = 0; i < COUNT(wanted); i++)
        assert_true(sent(&out, wanted[i]));
    assert_false(sent(&out, "NetStream.Data.Start"));
    wr_free(&in);
    wr_free(&out);
    end();
}

static void hello(struct wr *in)
{
    client_handshake(in);
    client_connect(in, "rtmp://127.0.0.1/live");
}

static void bad_garbage(struct wr *in)
{
    for (int i = 0; i < 4000; i++)
        wr_u8(in, 0x99);
}
static void bad_http(struct wr *in)
{
    wr_bytes(in, "GET /live/s.flv HTTP/1.1\r\n", 26);
}
static void bad_rtmpe(struct wr *in)
{
    wr_u8(in, 6);
    for (int i = 0; i < 4000; i++)
        wr_u8(in, 0);
}
static void bad_no_connect(struct wr *in)
{
    client_handshake(in);
    client_call(in, 0, "createStream", 2, NULL);
}
static void bad_connect_twice(struct wr *in)
{
    hello(in);
    client_connect(in, "rtmp://127.0.0.1/live");
}
static void bad_tc_url(struct wr *in)
{
    client_handshake(in);
    client_connect(in, "nonsense");
}
static void bad_no_stream(struct wr *in)
{
    client_handshake(in);
    client_connect(in, "rtmp://127.0.0.1/");
    client_call(in, 1, "publish", 3, "");
}
static void bad_chunk_size(struct wr *in)
{
    hello(in);
    client_message(in, RTMP_SET_CHUNK_SIZE, 0, 0, "\0\0\0\0", 4);
}
static void bad_amf(struct wr *in)
{
    hello(in);
    client_message(in, RTMP_COMMAND, 0, 0, "\x02\xff\xff" "a", 4);
}
static void bad_amf_nested(struct wr *in)
{
    struct wr body;

    hello(in);
    wr_init(&body, 4096);
    amf0_string(&body, "a");
    amf0_number(&body, 1);
    for (int i = 0; i < 500; i++)
        amf0_strict_begin(&body, 1);
    client_command(in, 0, &body);
}
static void bad_vhost(struct wr *in)
{
    client_handshake(in);
    client_connect(in, "rtmp://127.0.0.1/live?vhost=off.example");
}
static void bad_denied(struct wr *in)
{
    client_handshake(in);
    client_connect(in, "rtmp://127.0.0.1/live?vhost=closed.example");
    client_call(in, 1, "publish", 3, "s");
}
static void bad_first_chunk(struct wr *in)
{
    hello(in);
    wr_bytes(in, "\xc9", 1); /* fmt 3 on a chunk stream without an earlier header */
}

static const struct {
    const char *name;
    void (*make)(struct wr *in);
    enum err_code code;
} bad_rows[] = {
    { "garbage", bad_garbage, ERR_RTMP_HANDSHAKE },
    { "a browser", bad_http, ERR_RTMP_HANDSHAKE },
    { "encrypted handshake", bad_rtmpe, ERR_RTMP_PLAIN },
    { "no connect", bad_no_connect, ERR_RTMP_CONNECT },
    { "connect twice", bad_connect_twice, ERR_RTMP_CONNECT },
    { "tcUrl is no url", bad_tc_url, ERR_RTMP_CONNECT },
    { "stream without a name", bad_no_stream, ERR_RTMP_CONNECT },
    { "chunk size 0", bad_chunk_size, ERR_RTMP_CHUNK },
    { "AMF cut off", bad_amf, ERR_TRUNCATED },
    { "AMF nested", bad_amf_nested, ERR_AMF0 },
    { "fmt 3 first", bad_first_chunk, ERR_RTMP_CHUNK },
    { "vhost is off", bad_vhost, ERR_VHOST_DISABLED },
    { "publisher is denied", bad_denied, ERR_DENIED },
};

static void test_bad_clients(void **state)
{
    (void)state;
    begin(DEFAULT_CONF " vhost off.example { enabled off; }"
                       " vhost closed.example { security { enabled on; deny publish all; } }");
    for (size_t i = 0; i < COUNT(bad_rows); i++) {
        struct wr in;

        print_message("  %s\n", bad_rows[i].name);
        wr_init(&in, 1 << 20);
        bad_rows[i].make(&in);
        assert_err(serve_client(in.buf, in.len, 0, NULL), bad_rows[i].code);
        wr_free(&in);
    }
    end();
}

/* Each write may fail. */
static void test_writes_that_fail(void **state)
{
    struct wr in = publisher();

    (void)state;
    begin(DEFAULT_CONF);
    for (size_t cap = 0; cap < 5000; cap += 61) {
        struct io_mem m;
        err_t err;

        io_mem_init(&m, in.buf, in.len);
        m.out_cap = cap;
        err = rtmp_session_run(env, &m.io, "127.0.0.1");
        assert_true(err_code(err) == ERR_IO_RESET || err_code(err) == ERR_IO_CLOSED);
        err_free(&err);
    }
    assert_int_equal(env_published(env)->begun, env_published(env)->ended);
    wr_free(&in);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_publish),
        TEST(test_cut_at_every_byte),
        TEST(test_publish_again_and_again_then_play),
        TEST(test_play_what_is_live),
        TEST(test_bad_clients),
        TEST(test_writes_that_fail),
    };
    const struct log_setup quiet = { .min = LOG_NONE };
    err_t err = co_init();

    assert(!err);
    log_init(&quiet);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
