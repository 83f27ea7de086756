/* SPDX-License-Identifier: MIT */
/* test_rtmp_client.c - the client against servers with different habits, in memory. */
#include "io_mem.h"
#include "proto/rtmp/client.h"
#include "proto/rtmp/command.h"
#include "proto/rtmp/handshake.h"
#include "proto/rtmp/reply.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages of a server in one step of its script; numbers are transactions. */
enum step {
    END, CONNECT_OK, CONNECT_ERROR, BW_DONE, RESULT_2, RESULT_3, ERROR_2, ERROR_3, STREAM_2,
    STREAM_4, FC_PUBLISH, PUBLISH_START, PUBLISH_BAD, PUBLISH_ERROR_5, PLAY_RESET, PLAY_START,
    PLAY_NOT_FOUND, MEDIA, EVENT, WINDOW, CHUNK_SIZE, NOT_ASKED, GARBAGE,
};

static void say(struct wr *body, enum step step)
{
    switch (step) {
    case CONNECT_OK:
        rtmp_reply_connect(body, 1, 0, false, NULL);
        break;
    case CONNECT_ERROR:
        rtmp_reply_error(body, 1, RTMP_CONNECT_REJECTED, NULL);
        break;
    case BW_DONE:
        rtmp_reply_bw_done(body);
        break;
    case RESULT_2:
    case RESULT_3:
        rtmp_reply_result(body, step == RESULT_2 ? 2 : 3);
        break;
    case ERROR_2:
    case ERROR_3:
        rtmp_reply_error(body, step == ERROR_2 ? 2 : 3, RTMP_PUBLISH_DENIED, NULL);
        break;
    case STREAM_2:
    case STREAM_4:
        rtmp_reply_number(body, step == STREAM_2 ? 2 : 4, 7);
        break;
    case FC_PUBLISH:
        rtmp_reply_fc(body, RTMP_PUBLISH_START);
        break;
    case PUBLISH_ERROR_5:
        rtmp_reply_error(body, 5, RTMP_PUBLISH_BAD_NAME, NULL);
        break;
    case PUBLISH_START:
        rtmp_reply_status(body, RTMP_PUBLISH_START, NULL, NULL);
        break;
    case PUBLISH_BAD:
        rtmp_reply_status(body, RTMP_PUBLISH_BAD_NAME, NULL, NULL);
        break;
    case PLAY_RESET:
        rtmp_reply_status(body, RTMP_PLAY_RESET, NULL, NULL);
        break;
    case PLAY_START:
        rtmp_reply_status(body, RTMP_PLAY_START, NULL, NULL);
        break;
    case PLAY_NOT_FOUND:
        rtmp_reply_status(body, RTMP_PLAY_NOT_FOUND, NULL, NULL);
        break;
    case NOT_ASKED:
        rtmp_reply_result(body, 99);
        break;
    case GARBAGE:
        wr_u8(body, 0x7f);
        break;
    default:
        wr_bytes(body, "media", 5);
    }
}

static void put_step(struct rtmp_conn *server, struct wr *w, enum step step)
{
    struct wr body;

    switch (step) {
    case EVENT:
        rtmp_conn_put_event(server, w, RTMP_STREAM_BEGIN, 1, 0);
        return;
    case WINDOW:
        rtmp_conn_put_u32(server, w, RTMP_WINDOW_ACK_SIZE, 2500000);
        rtmp_conn_put_bandwidth(server, w, 2500000, RTMP_LIMIT_DYNAMIC);
        return;
    case CHUNK_SIZE:
        rtmp_conn_put_chunk_size(server, w, 4096);
        return;
    default:
        wr_init(&body, 4096);
        say(&body, step);
        rtmp_conn_put(server, w, step == MEDIA ? RTMP_AUDIO : RTMP_COMMAND, 0, &body);
        wr_free(&body);
    }
}

enum deed { PUBLISH, PLAY };

static const struct {
    const char *name;
    enum deed deed;
    enum step steps[16];
    enum err_code code;
} rows[] = {
    { "full publish", PUBLISH, { WINDOW, CHUNK_SIZE, CONNECT_OK, BW_DONE, RESULT_2, FC_PUBLISH,
      RESULT_3, STREAM_4, EVENT, PUBLISH_START }, ERR_OK },
    { "least publish", PUBLISH, { CONNECT_OK, STREAM_4, PUBLISH_START }, ERR_OK },
    { "errors for FMLE's calls", PUBLISH, { CONNECT_OK, ERROR_2, ERROR_3, STREAM_4, PUBLISH_START },
      ERR_OK },
    { "late answers", PUBLISH, { CONNECT_OK, STREAM_4, RESULT_2, ERROR_3, PUBLISH_START }, ERR_OK },
    { "connect is refused", PUBLISH, { WINDOW, CONNECT_ERROR }, ERR_RTMP_REJECTED },
    { "busy", PUBLISH, { CONNECT_OK, STREAM_4, PUBLISH_BAD }, ERR_RTMP_REJECTED },
    { "busy, by _error", PUBLISH, { CONNECT_OK, STREAM_4, PUBLISH_ERROR_5 }, ERR_RTMP_REJECTED },
    { "never asked", PUBLISH, { CONNECT_OK, NOT_ASKED }, ERR_RTMP_NO_REQUEST },
    { "answer before the question", PUBLISH, { STREAM_2 }, ERR_RTMP_NO_REQUEST },
    { "no amf", PUBLISH, { CONNECT_OK, GARBAGE }, ERR_AMF0 },
    { "ends", PUBLISH, { CONNECT_OK, STREAM_4 }, ERR_IO_CLOSED },
    { "full play", PLAY, { WINDOW, CONNECT_OK, BW_DONE, STREAM_2, EVENT, PLAY_RESET, PLAY_START,
      MEDIA }, ERR_OK },
    { "play without a word", PLAY, { CONNECT_OK, STREAM_2, MEDIA }, ERR_OK },
    { "media before it is asked for", PLAY, { CONNECT_OK, MEDIA, STREAM_2, PLAY_START, MEDIA },
      ERR_OK },
    { "no such stream", PLAY, { CONNECT_OK, STREAM_2, PLAY_NOT_FOUND }, ERR_RTMP_REJECTED },
};

static err_t talk(struct rtmp_conn *c, enum deed deed, uint32_t *stream_id)
{
    struct rtmp_url url;
    err_t err = rtmp_url_parse(&url, "rtmp://ip/live/key?token=x");

    if (!err)
        err = rtmp_client_connect(c, &url, NULL);
    if (!err && deed == PUBLISH)
        err = rtmp_client_publish(c, &url, stream_id);
    else if (!err)
        err = rtmp_client_play(c, &url, RTMP_PLAY_ANY, stream_id);
    if (!err && deed == PUBLISH)
        err = rtmp_client_unpublish(c, &url, *stream_id);
    rtmp_url_free(&url);
    return err;
}

/* Names of the client's commands after its handshake. */
static void commands(const struct io_mem *io, char *out, size_t size)
{
    size_t skip = RTMP_HANDSHAKE_C0C1 + RTMP_HANDSHAKE_PART, at = 0;
    struct rtmp_command cmd;
    struct rtmp_msg m;
    struct rtmp_in in;

    rtmp_in_init(&in, &rtmp_in_heap);
    assert_ok(rtmp_in_feed(&in, io->out + skip, io->out_size - skip));
    while (rtmp_in_next(&in, &m)) {
        if (m.type == RTMP_COMMAND) {
            assert_ok(rtmp_command_parse(&cmd, &m));
            at += (size_t)snprintf(out + at, size - at, "%s %g %s/%u|", cmd.name, cmd.transaction,
                                   rtmp_command_string(&cmd, 1, "-"), m.stream_id);
            rtmp_command_free(&cmd);
        }
        rtmp_in_heap.release(m.payload);
    }
    rtmp_in_fini(&in);
}

static void run_row(size_t i, struct wr *server, size_t size, size_t piece, enum err_code code)
{
    uint8_t *out = malloc(1 << 16);
    uint32_t stream_id = 0;
    char said[512] = "";
    struct rtmp_conn c;
    struct rtmp_msg m;
    struct io_mem io;

    io_mem_init(&io, server->buf, size);
    io.piece = piece;
    io.out = out;
    io.out_cap = 1 << 16;
    rtmp_conn_init(&c, &io.io, &rtmp_in_heap);
    assert_err(talk(&c, rows[i].deed, &stream_id), code);
    if (!code && rows[i].deed == PLAY) {
        assert_int_equal(stream_id, 7);
        assert_ok(rtmp_conn_read(&c, &m));
        assert_int_equal(m.type, RTMP_AUDIO); /* nothing was lost */
        rtmp_conn_release(&c, &m);
    }
    if (!code) {
        commands(&io, said, sizeof(said));
        assert_string_equal(said, rows[i].deed == PLAY ?
                            "connect 1 -/0|createStream 2 -/0|play 3 key?token=x/7|" :
                            "connect 1 -/0|releaseStream 2 key?token=x/0|FCPublish 3 key?token=x/0|"
                            "createStream 4 -/0|publish 5 key?token=x/7|"
                            "FCUnpublish 6 key?token=x/0|deleteStream 7 -/0|");
    }
    rtmp_conn_fini(&c);
    free(out);
}

static void test_servers(void **state)
{
    uint8_t c0c1[RTMP_HANDSHAKE_C0C1] = { 3 }, s0s1s2[RTMP_HANDSHAKE_S0S1S2];

    (void)state;
    assert_ok(rtmp_handshake_s0s1s2(c0c1, s0s1s2, NULL));
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmp_conn server = { .out_chunk_size = RTMP_CHUNK_SIZE };
        struct wr w;

        wr_init(&w, 1 << 20);
        wr_bytes(&w, s0s1s2, sizeof(s0s1s2));
        for (const enum step *s = rows[i].steps; *s != END; s++)
            put_step(&server, &w, *s);
        assert_ok(wr_err(&w, rows[i].name));
        run_row(i, &w, w.len, 0, rows[i].code);
        run_row(i, &w, w.len, 1, rows[i].code);
        if (rows[i].code == ERR_OK && rows[i].deed == PUBLISH) {
            for (size_t cut = sizeof(s0s1s2); cut < w.len; cut++)
                run_row(i, &w, cut, 0, ERR_IO_CLOSED);
        }
        wr_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_servers) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
