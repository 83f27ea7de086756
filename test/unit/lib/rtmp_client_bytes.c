/* SPDX-License-Identifier: MIT */
/* rtmp_client_bytes.c - builds the bytes that an RTMP client sends: for tests over a memory io. */
#include "rtmp_client_bytes.h"

void client_handshake(struct wr *out)
{
    uint8_t zeros[1536] = { 0 };

    wr_u8(out, 3);
    wr_bytes(out, zeros, sizeof(zeros)); /* C1 of the simple handshake */
    wr_bytes(out, zeros, sizeof(zeros)); /* C2 */
}

void client_message(struct wr *out, uint8_t type, uint32_t stream_id, uint32_t ms,
                                  const void *payload, size_t size)
{
    struct rtmp_msg msg = { .type = type, .csid = rtmp_out_csid(type), .stream_id = stream_id,
                            .time = ms, .size = (uint32_t)size,
                            .payload = (uint8_t *)(uintptr_t)payload };

    rtmp_out_put(out, &msg, CLIENT_CHUNK);
}

void client_command(struct wr *out, uint32_t stream_id, struct wr *body)
{
    client_message(out, RTMP_COMMAND, stream_id, 0, body->buf, body->len);
    wr_free(body);
}

void client_connect(struct wr *out, const char *tc_url)
{
    struct wr body;

    wr_init(&body, 4096);
    amf0_string(&body, "connect");
    amf0_number(&body, 1);
    amf0_object_begin(&body);
    amf0_set_string(&body, "app", "live");
    amf0_set_string(&body, "tcUrl", tc_url);
    amf0_end(&body);
    client_command(out, 0, &body);
}

void client_call(struct wr *out, uint32_t stream_id, const char *name,
                               double transaction, const char *arg)
{
    struct wr body;

    wr_init(&body, 4096);
    amf0_string(&body, name);
    amf0_number(&body, transaction);
    amf0_null(&body);
    if (arg)
        amf0_string(&body, arg);
    client_command(out, stream_id, &body);
}

static void client_metadata(struct wr *out)
{
    struct wr body;

    wr_init(&body, 4096);
    amf0_string(&body, "@setDataFrame");
    amf0_string(&body, "onMetaData");
    amf0_ecma_begin(&body, 1);
    amf0_set_number(&body, "width", 1280);
    amf0_end(&body);
    client_message(out, RTMP_DATA, 1, 0, body.buf, body.len);
    wr_free(&body);
}

static void client_video(struct wr *out, uint32_t ms, bool key, size_t size)
{
    uint8_t body[4000] = { 0 };

    body[0] = key ? 0x17 : 0x27;
    body[1] = 1;
    client_message(out, RTMP_VIDEO, 1, ms, body, size);
}

void client_publish(struct wr *out, const char *stream)
{
    client_handshake(out);
    client_connect(out, "rtmp://127.0.0.1/live");
    client_call(out, 0, "releaseStream", 2, stream);
    client_call(out, 0, "FCPublish", 3, stream);
    client_call(out, 0, "createStream", 4, NULL);
    client_call(out, 1, "publish", 5, stream);
}

void client_media(struct wr *out)
{
    client_metadata(out);
    client_message(out, RTMP_VIDEO, 1, 0, "\x17\x00\x00\x00\x00\x01\x42\xc0\x1e\xff\xe1\x00", 12);
    client_message(out, RTMP_AUDIO, 1, 0, "\xaf\x00\x12\x10", 4);
    client_video(out, 0, true, 700);
    client_message(out, RTMP_AUDIO, 1, 10, "\xaf\x01zzzz", 6);
    client_video(out, 40, false, 200);
}
