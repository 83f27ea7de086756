/* SPDX-License-Identifier: MIT */
/* test_rtsp_conn.c - RTSP sessions with the server over a memory io, cut at every byte. */
#include "base/log.h"
#include "co/net/io.h"
#include "env.h"
#include "io_mem.h"
#include "live_media.h"
#include "rtp_media.h"
#include "serve/rtsp/rtsp.h"

#include <assert.h>
#include <stdio.h>

#define CONF "listen 1935; vhost __defaultVhost__ { rtsp { enabled on; } }"
#define URL "rtsp://h/live/s"

static struct session_env *env;
static struct live_source *src;

/* ---- a stream of H.264 and AAC */

static void push_all(void)
{
    static uint8_t buf[MEDIA_FRAME_MAX];

    for (unsigned i = 0; i < 20; i++) {
        struct frame f = media_make(AV_H264, i, 3000, buf);

        push(src, &f);
        f = media_make(AV_AAC, i, 200, buf);
        push(src, &f);
    }
}

static void begin(const char *conf)
{
    static const struct live_settings set = { .queue_length = 1000000, .max_bytes = 1 << 20,
                                              .gop_cache = true };
    struct frame config;

    env = env_new(conf);
    src = live_registry_get(env->streams, "__defaultVhost__/live/s", &set);
    me = (struct live_publisher){ .ip = "192.0.2.1" };
    assert_ok(live_source_begin(src, &me, &rule));
    config = media_config_of(AV_H264);
    push(src, &config);
    config = media_config_of(AV_AAC);
    push(src, &config);
    push_all();
}

static void end(void)
{
    live_source_end(src, &me);
    src = live_source_unref(src);
    env_free(&env);
}

/* ---- requests and responses */

struct responses {
    char *text;
    size_t size;
};

static struct responses serve_client(const char *requests, size_t size, size_t piece)
{
    struct responses h;
    struct io_mem m;
    err_t err;

    io_mem_init(&m, requests, size);
    m.piece = piece;
    m.out_cap = 1 << 20;
    m.out = calloc(1, m.out_cap + 1);
    assert_non_null(m.out);
    err = rtsp_conn_run(env, &m.io, "127.0.0.1");
    assert_non_null(err);
    err_free(&err);
    h.text = (char *)m.out;
    h.size = m.out_size;
    return h;
}

static struct responses request(const char *requests)
{
    return serve_client(requests, strlen(requests), 0);
}

#define SETUP_VIDEO "SETUP " URL "/trackID=0 RTSP/1.0\r\nCSeq: 3\r\n" \
                    "Transport: RTP/AVP/TCP;unicast;interleaved=4-5\r\n\r\n"

/* Copies the session id from the responses; 16 characters. */
static void session_id(const struct responses *h, char id[17])
{
    const char *at = strstr(h->text, "Session: ");

    assert_non_null(at);
    memcpy(id, at + 9, 16);
    id[16] = '\0';
}

/* ---- tests */

static void test_answers(void **state)
{
    static const struct {
        const char *requests, *responses[4];
    } rows[] = {
        { "OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n",
          { "RTSP/1.0 200 OK\r\n", "CSeq: 1\r\n", "Public: OPTIONS, DESCRIBE", "TEARDOWN" } },
        { "OPTIONS * RTSP/1.0\r\n\r\n", { "RTSP/1.0 400" } },
        { "DESCRIBE " URL " RTSP/1.0\nCSeq:2\n\n",
          { "200 OK", "Content-Base: " URL "/\r\n", "m=video 0 RTP/AVP 96\r\n",
            "a=control:trackID=1\r\n" } },
        { "DESCRIBE " URL "?token=1 RTSP/1.0\r\ncseq: 2\r\n\r\n",
          { "Content-Base: " URL "/\r\n", "profile-level-id=64000C", "m=audio 0 RTP/AVP 97" } },
        { "DESCRIBE rtsp://h/ RTSP/1.0\r\nCSeq: 2\r\n\r\n", { "RTSP/1.0 403" } },
        { "DESCRIBE " URL " RTSP/2.0\r\nCSeq: 2\r\n\r\n", { "RTSP/1.0 505" } },
        { "WHAT " URL " RTSP/1.0\r\nCSeq: 2\r\n\r\n", { "RTSP/1.0 501", "Public: " } },
        { "PLAY " URL " RTSP/1.0\r\nCSeq: 2\r\n\r\n", { "RTSP/1.0 454" } },
        { "GET_PARAMETER " URL " RTSP/1.0\r\nCSeq: 2\r\n\r\n", { "RTSP/1.0 200" } },
        { "GET_PARAMETER " URL " RTSP/1.0\r\nCSeq: 2\r\nContent-Length: 6\r\n\r\nvolume",
          { "RTSP/1.0 451" } },
        { SETUP_VIDEO, { "200 OK", "Session: ", ";timeout=60", "interleaved=0-1" } },
        { "SETUP " URL "/trackID=2 RTSP/1.0\r\nCSeq: 3\r\nTransport: RTP/AVP/TCP\r\n\r\n",
          { "RTSP/1.0 404" } },
        { "SETUP " URL "/trackID=0 RTSP/1.0\r\nCSeq: 3\r\nTransport: RAW/RAW/UDP\r\n\r\n",
          { "RTSP/1.0 461" } },
        { "$\x01\x00\x04 12341234", { "" } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct responses h;

        begin(CONF);
        h = request(rows[i].requests);
        for (size_t k = 0; k < COUNT(rows[i].responses) && rows[i].responses[k]; k++) {
            if (!strstr(h.text, rows[i].responses[k]))
                fail_msg("%s\nwants %s, got\n%s", rows[i].requests, rows[i].responses[k], h.text);
        }
        free(h.text);
        end();
    }
}

/* A client may close after any byte, and its bytes arrive in any pieces. */
static void test_cut_at_every_byte(void **state)
{
    static const char requests[] = "OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n"
                               "DESCRIBE " URL " RTSP/1.0\r\nCSeq: 2\r\n\r\n" SETUP_VIDEO
                               "TEARDOWN " URL " RTSP/1.0\r\nCSeq: 4\r\n\r\n";

    (void)state;
    begin(CONF);
    for (size_t size = 0; size < sizeof(requests); size++) {
        struct responses h = serve_client(requests, size, 0);

        free(h.text);
        h = serve_client(requests, size, 1 + size % 3);
        free(h.text);
    }
    end();
}

/* Two connections cannot share a session: it belongs to the connection that created it. */
static void test_foreign_session(void **state)
{
    char id[17], requests[300];
    struct responses h;

    (void)state;
    begin(CONF);
    h = request(SETUP_VIDEO);
    session_id(&h, id);
    free(h.text);
    (void)snprintf(requests, sizeof(requests), "PLAY " URL " RTSP/1.0\r\nCSeq: 4\r\nSession: %s\r\n\r\n",
                   id);
    h = request(requests);
    assert_non_null(strstr(h.text, "RTSP/1.0 454"));
    free(h.text);
    end();
}

/* A client that requires certain channels gets them, with RTCP on the next channel. */
static void test_channels_of_the_client(void **state)
{
    static const struct {
        const char *offer, *agreed;
    } rows[] = {
        { "interleaved=4-5", "interleaved=4-5" },
        { "interleaved=7-9", "interleaved=7-8" },
        { "interleaved=254-255", "interleaved=254-255" },
        { "interleaved=255-256", "RTSP/1.0 461" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char requests[300];
        struct responses h;

        begin("listen 1935; rtsp_server { channels client; } "
              "vhost __defaultVhost__ { rtsp { enabled on; } }");
        (void)snprintf(requests, sizeof(requests), "SETUP " URL "/trackID=0 RTSP/1.0\r\nCSeq: 3\r\n"
                       "Transport: RTP/AVP/TCP;unicast;%s\r\n\r\n", rows[i].offer);
        h = request(requests);
        if (!strstr(h.text, rows[i].agreed))
            fail_msg("%s: wants %s, got\n%s", rows[i].offer, rows[i].agreed, h.text);
        free(h.text);
        end();
    }
}

/* User "u" has the password "p". */
static void test_login(void **state)
{
    static const struct {
        const char *login, *responses[3];
    } rows[] = {
        { "", { "RTSP/1.0 401", "WWW-Authenticate: Digest realm=\"cams\", nonce=\"",
                "WWW-Authenticate: Basic realm=\"cams\"\r\n" } },
        { "Authorization: Basic dTpw\r\n", { "RTSP/1.0 200", "m=video" } },
        { "Authorization: Bearer x\r\n", { "RTSP/1.0 401" } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char requests[300];
        struct responses h;

        begin("listen 1935; vhost __defaultVhost__ { rtsp { enabled on; auth { enabled on; "
              "realm cams; user u p; } } }");
        (void)snprintf(requests, sizeof(requests), "DESCRIBE " URL " RTSP/1.0\r\nCSeq: 1\r\n%s\r\n",
                       rows[i].login);
        h = request(requests);
        for (size_t k = 0; k < COUNT(rows[i].responses) && rows[i].responses[k]; k++) {
            if (!strstr(h.text, rows[i].responses[k]))
                fail_msg("%s\nwants %s, got\n%s", requests, rows[i].responses[k], h.text);
        }
        free(h.text);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_answers), TEST(test_cut_at_every_byte), TEST(test_foreign_session),
        TEST(test_login), TEST(test_channels_of_the_client),
    };
    const struct log_setup quiet = { .min = LOG_NONE };
    err_t err = co_init();

    assert(!err);
    log_init(&quiet);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
