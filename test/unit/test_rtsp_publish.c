/* SPDX-License-Identifier: MIT */
/* test_rtsp_publish.c - RTSP sessions that publish, over a memory io. */
#include "base/log.h"
#include "co/net/io.h"
#include "env.h"
#include "live/reader.h"
#include "proto/rtp/header.h"
#include "rtp_media.h"
#include "serve/rtsp/rtsp.h"
#include "session/clients.h"
#include "session/publisher.h"

#include <assert.h>
#include <stdio.h>

#define VHOST "__defaultVhost__"
#define CONF(more) "listen 1935; vhost " VHOST " { rtsp { enabled on; } " more " }"
#define URL "rtsp://h/live/s"
#define ID "0000000000000000" /* placeholder for the session id */

#define SDP                                                                                     \
    "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\n"                                       \
    "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1\r\n"      \
    "a=control:streamid=0\r\nm=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPEG4-GENERIC/48000/2\r\n"     \
    "a=fmtp:97 mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=1190\r\n"     \
    "a=control:streamid=1\r\nm=application 0 RTP/AVP 107\r\na=control:streamid=2\r\n"

#define ANNOUNCE "ANNOUNCE " URL " RTSP/1.0\r\nCSeq: 1\r\nContent-Type: application/sdp\r\n"
#define TCP "RTP/AVP/TCP;unicast;mode=record;interleaved="
#define SETUP(track, channels) "SETUP " URL "/" track " RTSP/1.0\r\nCSeq: 2\r\nTransport: " TCP \
                               channels "\r\n\r\n"
#define REQUEST(method) method " " URL " RTSP/1.0\r\nCSeq: 3\r\nSession: " ID "\r\n\r\n"

static struct session_env *env;

static void begin(const char *conf)
{
    env = env_new(conf);
}

static void end(void)
{
    env_free(&env);
}

/* ---- a client: its next request depends on the last response, with the id of its session */

enum { REQUESTS_MAX = 1 << 20, RESPONSES_MAX = 1 << 16, TURNS_MAX = 64 };

static struct client_io {
    struct io io;
    size_t piece;
    uint8_t requests[REQUESTS_MAX];
    size_t size, at;
    size_t turns[TURNS_MAX]; /* ends of the pieces that it sends without waiting */
    unsigned n_turns, turn;
    char responses[RESPONSES_MAX];
    size_t responses_size;
} cl;

static void know_id(void)
{
    const char *id = strstr(cl.responses, "Session: ");
    char *p;

    if (!id)
        return;
    while ((p = memmem(cl.requests + cl.at, cl.size - cl.at, ID, 16)))
        memcpy(p, id + 9, 16);
}

static err_t client_read(struct io *io, void *buf, size_t size, size_t *n)
{
    (void)io;
    while (cl.turn < cl.n_turns && cl.at == cl.turns[cl.turn])
        cl.turn++;
    if (cl.at == cl.size)
        return err_new(ERR_IO_CLOSED, "read");
    know_id();
    *n = cl.turns[cl.turn] - cl.at;
    *n = *n > size ? size : *n;
    *n = cl.piece > 0 && *n > cl.piece ? cl.piece : *n;
    memcpy(buf, cl.requests + cl.at, *n);
    cl.at += *n;
    return NULL;
}

static err_t client_write(struct io *io, struct iovec *iov, int count)
{
    (void)io;
    for (int i = 0; i < count; i++) {
        assert_true(cl.responses_size + iov[i].iov_len < RESPONSES_MAX);
        memcpy(cl.responses + cl.responses_size, iov[i].iov_base, iov[i].iov_len);
        cl.responses_size += iov[i].iov_len;
    }
    return NULL;
}

static void client_close(struct io *io)
{
    (void)io;
}

static const struct io_ops client_ops = {
    .name = "client", .read = client_read, .writev = client_write, .close = client_close,
};

static void says_nothing_yet(size_t piece)
{
    memset(&cl, 0, sizeof(cl));
    cl.io = (struct io){ .ops = &client_ops, .read_timeout = CO_FOREVER,
                         .write_timeout = CO_FOREVER };
    cl.piece = piece;
}

static void adds(const void *bytes, size_t size)
{
    assert_true(cl.size + size <= REQUESTS_MAX);
    memcpy(cl.requests + cl.size, bytes, size);
    cl.size += size;
}

static void waits(void)
{
    assert_true(cl.n_turns < TURNS_MAX);
    cl.turns[cl.n_turns++] = cl.size;
}

static void says(const char *text)
{
    adds(text, strlen(text));
    waits();
}

static void announces_at(const char *url, const char *sdp)
{
    char text[4096];

    (void)snprintf(text, sizeof(text), "ANNOUNCE %s RTSP/1.0\r\nCSeq: 1\r\n"
                   "Content-Type: application/sdp\r\nContent-Length: %zu\r\n\r\n%s", url,
                   strlen(sdp), sdp);
    says(text);
}

static err_t run(void *unused)
{
    (void)unused;
    co_new_cid();
    return rtsp_conn_run(env, &cl.io, "127.0.0.1");
}

static enum err_code serve_client(void)
{
    struct co_group g;
    enum err_code code;
    err_t err;

    waits();
    co_group_init(&g);
    assert_ok(co_go(&g, "client", run, NULL));
    err = co_group_wait(&g);
    code = err_code(err);
    err_free(&err);
    return code;
}

/* Counts responses; reports between them contain zeros. */
static unsigned count_responses(const char *text)
{
    const char *p = cl.responses, *end = cl.responses + cl.responses_size;
    unsigned n = 0;

    while ((p = memmem(p, (size_t)(end - p), text, strlen(text)))) {
        p++;
        n++;
    }
    return n;
}

/* ---- media */

struct sender {
    struct media_packets k;
    struct rtp_packer packer;
    uint8_t channel, type;
    uint16_t seq;
};

static void sender_new(struct sender *s, enum av_codec codec, uint8_t channel, uint8_t type)
{
    const struct rtp_packer_opts opts = { .codec = codec, .mtu = 1000, .sets = true };
    struct frame config = media_config_of(codec);

    *s = (struct sender){ .channel = channel, .type = type };
    media_packets_init(&s->k, 16);
    assert_true(rtp_packer_init(&s->packer, &opts));
    assert_ok(rtp_pack(&s->packer, &config, &s->k.sink));
}

static void sender_free(struct sender *s)
{
    rtp_packer_fini(&s->packer);
    media_packets_free(&s->k);
}

static void sends(struct sender *s, unsigned i)
{
    static uint8_t buf[MEDIA_FRAME_MAX];
    struct frame f = media_make(s->packer.opts.codec, i, s->type == 96 ? 2500 : 150, buf);

    s->k.n = 0;
    s->k.bytes.len = 0;
    assert_ok(rtp_pack(&s->packer, &f, &s->k.sink));
    for (unsigned k = 0; k < s->k.n; k++) {
        const struct media_sent *p = &s->k.v[k];
        uint8_t head[RTP_INTERLEAVED + RTP_HEADER];

        rtp_interleaved_build(head, s->channel, (uint16_t)(RTP_HEADER + p->size));
        rtp_build(head + RTP_INTERLEAVED, p->marker, s->type, s->seq++,
                  (uint32_t)(uint64_t)p->ticks, s->type);
        adds(head, sizeof(head));
        adds(s->k.bytes.buf + p->at, p->size);
    }
}

/* ---- tests */

static void test_answers(void **state)
{
    static const struct {
        const char *name, *sdp, *requests[3], *responses[3];
    } rows[] = {
        { "no body", "", { NULL }, { "RTSP/1.0 400" } },
        { "no description", "hello\r\n", { NULL }, { "RTSP/1.0 400" } },
        { "nothing that we carry", "v=0\r\nm=video 0 RTP/AVP 26\r\n", { NULL },
          { "RTSP/1.0 415" } },
        { "a track", SDP, { SETUP("streamid=1", "2-3") },
          { "Transport: RTP/AVP/TCP;unicast;interleaved=2-3;mode=record\r\n", "Session: " } },
        { "a track by number", SDP, { SETUP("trackID=1", "4-5") }, { "interleaved=4-5" } },
        { "channels in use", SDP, { SETUP("streamid=0", "0-1") SETUP("streamid=1", "1-2") },
          { "RTSP/1.0 461" } },
        { "a track that is left out", SDP, { SETUP("streamid=2", "0-1"), REQUEST("RECORD") },
          { "interleaved=0-1", "RTSP/1.0 415" } },
        { "a track that is not there", SDP, { SETUP("streamid=3", "0-1") }, { "RTSP/1.0 404" } },
        { "it does not play", SDP, { SETUP("streamid=0", "0-1"), REQUEST("PLAY"), REQUEST("DESCRIBE") },
          { "RTSP/1.0 455", "Allow: " } },
        { "RECORD without tracks", SDP, { "RECORD " URL " RTSP/1.0\r\nCSeq: 9\r\n\r\n" },
          { "RTSP/1.0 454" } },
        { "RECORD without ANNOUNCE", NULL, { "RECORD " URL " RTSP/1.0\r\nCSeq: 9\r\n\r\n" },
          { "RTSP/1.0 454" } },
        { "announced twice", SDP, { ANNOUNCE "Content-Length: 0\r\n\r\n" }, { "RTSP/1.0 455" } },
        { "TEARDOWN at once", SDP, { "TEARDOWN " URL " RTSP/1.0\r\nCSeq: 9\r\n\r\n",
          "DESCRIBE rtsp://h/ RTSP/1.0\r\nCSeq: 10\r\n\r\n" }, { "CSeq: 9", "CSeq: 10" } },
        { "set up, and gone", SDP, { SETUP("streamid=0", "0-1"), REQUEST("TEARDOWN"),
          ANNOUNCE "Content-Length: 0\r\n\r\n" }, { "Session: ", "RTSP/1.0 400" } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        begin(CONF(""));
        says_nothing_yet(0);
        if (rows[i].sdp)
            announces_at(URL, rows[i].sdp);
        for (size_t k = 0; k < COUNT(rows[i].requests) && rows[i].requests[k]; k++)
            says(rows[i].requests[k]);
        assert_int_equal(serve_client(), ERR_IO_CLOSED);
        for (size_t k = 0; k < COUNT(rows[i].responses) && rows[i].responses[k]; k++) {
            if (!strstr(cl.responses, rows[i].responses[k]))
                fail_msg("wants %s, got\n%s", rows[i].responses[k], cl.responses);
        }
        end();
    }
}

/* Counts of the packets that a reader of the stream received. */
struct seen {
    unsigned video, keys, audio, configs;
};

static struct live_source *watched(struct live_reader *r)
{
    static const struct live_settings set = { .gop_cache = true, .queue_length = CO_SECONDS(60),
                                              .max_bytes = 1 << 24, .jitter = LIVE_JITTER_FULL };
    struct live_source *src = live_registry_get(env->streams, VHOST "/live/s", &set);

    live_reader_open(r, src);
    return src;
}

static struct seen check_stream(struct live_reader *r)
{
    struct seen s = { 0 };
    const struct av_packet *pkt;

    while ((pkt = live_reader_next(r))) {
        s.configs += pkt->config;
        s.video += pkt->kind == AV_VIDEO && !pkt->config;
        s.audio += pkt->kind == AV_AUDIO && !pkt->config;
        s.keys += pkt->key;
    }
    return s;
}

/* Requests between frames, frames right after RECORD, channels chosen by the client; in pieces. */
static void test_records(void **state)
{
    static const size_t pieces[] = { 0, 1, 3, 1000, 5000 };

    (void)state;
    for (size_t i = 0; i < COUNT(pieces); i++) {
        struct live_reader reader;
        struct live_source *src;
        struct sender video, audio;
        struct seen seen;

        begin(CONF("publish { normal_timeout 100; }")); /* this timeout does not apply to RTSP */
        src = watched(&reader);
        says_nothing_yet(pieces[i]);
        sender_new(&video, AV_H264, 6, 96);
        sender_new(&audio, AV_AAC, 2, 97);
        announces_at(URL ".sdp?a=b", SDP);
        says("SETUP " URL ".sdp?a=b/streamid=0 RTSP/1.0\r\nCSeq: 2\r\nTransport: " TCP "6-7\r\n\r\n");
        says("SETUP " URL ".sdp/streamid=1 RTSP/1.0\r\nCSeq: 2\r\nTransport: " TCP "2-3\r\n\r\n");
        adds(REQUEST("RECORD"), strlen(REQUEST("RECORD")));
        waits();
        for (unsigned k = 0; k < 50; k++) {
            sends(&video, k);
            sends(&audio, k);
            if (k == 20)
                adds(REQUEST("GET_PARAMETER"), strlen(REQUEST("GET_PARAMETER")));
            if (k == 30)
                adds("$\x09\0\2ab\r\n", 8); /* an unknown channel */
            if (k == 40)
                adds(REQUEST("RECORD"), strlen(REQUEST("RECORD")));
        }
        says(REQUEST("TEARDOWN"));
        says("OPTIONS * RTSP/1.0\r\nCSeq: 99\r\n\r\n");
        assert_int_equal(serve_client(), ERR_IO_CLOSED);
        assert_int_equal(count_responses("RTSP/1.0 200 OK"), 8);
        assert_int_equal(count_responses("RTSP/1.0"), 8);
        assert_int_equal(count_responses("CSeq: 99"), 1);
        assert_string_equal(env_published(env)->stream, VHOST "/live/s");
        assert_int_equal(env_published(env)->begun, 1);
        seen = check_stream(&reader);
        assert_in_range(seen.video, 49, 50);
        assert_int_equal(seen.keys, 5);
        assert_in_range(seen.audio, 48, 50);
        live_reader_close(&reader);
        (void)live_source_unref(src);
        sender_free(&video);
        sender_free(&audio);
        end();
    }
}

/* The client closes after any byte: the session ends cleanly and leaks nothing. */
static void test_cut_at_every_byte(void **state)
{
    size_t whole = SIZE_MAX;

    (void)state;
    for (size_t cut = 1; cut < whole; cut += cut < 1200 ? 7 : 61) {
        struct sender video;

        begin(CONF(""));
        says_nothing_yet(0);
        sender_new(&video, AV_H264, 0, 96);
        announces_at(URL, SDP);
        says(SETUP("streamid=0", "0-1"));
        says(REQUEST("RECORD"));
        for (unsigned k = 0; k < 3; k++)
            sends(&video, k);
        says(REQUEST("TEARDOWN"));
        whole = cl.size;
        cl.size = cut;
        for (unsigned k = 0; k < cl.n_turns; k++)
            cl.turns[k] = cl.turns[k] > cut ? cut : cl.turns[k];
        assert_int_equal(serve_client(), ERR_IO_CLOSED);
        sender_free(&video);
        end();
    }
}

/* The client is rejected with this status. */
static void test_refused(void **state)
{
    static const struct {
        const char *name, *conf, *responses;
    } rows[] = {
        { "an address", CONF("security { enabled on; deny publish all; }"), "RTSP/1.0 403" },
        { "RTSP is off", "listen 1935; vhost " VHOST " { }", "RTSP/1.0 404" },
        { "no login", "listen 1935; vhost " VHOST " { rtsp { enabled on; auth { enabled on; "
          "user u p; } } }", "RTSP/1.0 401" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        begin(rows[i].conf);
        says_nothing_yet(0);
        announces_at(URL, SDP);
        assert_int_equal(serve_client(), ERR_IO_CLOSED);
        assert_non_null(strstr(cl.responses, rows[i].responses));
        assert_int_equal(env_published(env)->begun, 0);
        end();
    }
}

/* The stream has a publisher: 406. */
static void test_busy(void **state)
{
    struct live_publisher other = { .ip = "192.0.2.1", .active_at = co_clock() };
    struct live_reader reader;
    struct live_source *src;

    (void)state;
    begin(CONF("publish { takeover off; }"));
    src = watched(&reader);
    assert_ok(live_source_begin(src, &other, &(struct live_takeover){ LIVE_TAKEOVER_OFF, 0, 0 }));
    says_nothing_yet(0);
    announces_at(URL, SDP);
    assert_int_equal(serve_client(), ERR_IO_CLOSED);
    assert_non_null(strstr(cl.responses, "RTSP/1.0 406"));
    live_source_end(src, &other);
    live_reader_close(&reader);
    (void)live_source_unref(src);
    end();
}

/* A player that announces its stream is no longer a player. */
static void test_player_becomes_publisher(void **state)
{
    struct live_reader reader;
    struct live_source *src;

    (void)state;
    begin("listen 1935; rtsp_server { describe_wait 0; } vhost " VHOST " { rtsp { enabled on; } }");
    src = watched(&reader);
    says_nothing_yet(0);
    says("DESCRIBE " URL " RTSP/1.0\r\nCSeq: 1\r\n\r\n");
    announces_at(URL, SDP);
    assert_int_equal(serve_client(), ERR_IO_CLOSED);
    assert_non_null(strstr(cl.responses, "RTSP/1.0 404"));
    assert_non_null(strstr(cl.responses, "RTSP/1.0 200"));
    assert_int_equal(env_published(env)->begun, 1);
    live_reader_close(&reader);
    (void)live_source_unref(src);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_answers), TEST(test_records), TEST(test_cut_at_every_byte), TEST(test_refused),
        TEST(test_busy), TEST(test_player_becomes_publisher),
    };
    const struct log_setup quiet = { .min = LOG_NONE };
    err_t err = co_init();

    assert(!err);
    log_init(&quiet);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
