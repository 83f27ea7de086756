/* SPDX-License-Identifier: MIT */
/* conn_out.c - one RTMP connection over a pipe: writing. */
#include "proto/rtmp/conn.h"

enum { IOVECS = 32 };

static struct rtmp_msg control(uint8_t type, const uint8_t *bytes, size_t size)
{
    return (struct rtmp_msg){ .type = type, .csid = RTMP_CSID_CONTROL, .size = (uint32_t)size,
                              .payload = (uint8_t *)(uintptr_t)bytes };
}

static size_t put_be32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * (3 - i));
    return 4;
}

static size_t event_bytes(uint8_t *p, uint16_t id, uint32_t value, uint32_t more)
{
    size_t n = 2;

    p[0] = (uint8_t)(id >> 8);
    p[1] = (uint8_t)id;
    n += put_be32(p + n, value);
    if (id == RTMP_SET_BUFFER_LENGTH)
        n += put_be32(p + n, more);
    return n;
}

void rtmp_conn_put(struct rtmp_conn *c, struct wr *out, uint8_t type, uint32_t stream_id,
                   const struct wr *body)
{
    struct rtmp_msg msg = { .type = type, .csid = rtmp_out_csid(type), .stream_id = stream_id,
                            .size = (uint32_t)body->len, .payload = body->buf };

    if (stream_id && msg.csid == RTMP_CSID_COMMAND)
        msg.csid = RTMP_CSID_STREAM;
    if (body->bad && !out->bad)
        out->bad = body->bad;
    rtmp_out_put(out, &msg, c->out_chunk_size);
}

void rtmp_conn_put_u32(struct rtmp_conn *c, struct wr *out, uint8_t type, uint32_t value)
{
    uint8_t bytes[4];
    struct rtmp_msg msg = control(type, bytes, put_be32(bytes, value));

    rtmp_out_put(out, &msg, c->out_chunk_size);
}

void rtmp_conn_put_bandwidth(struct rtmp_conn *c, struct wr *out, uint32_t window,
                             enum rtmp_limit limit)
{
    uint8_t bytes[5] = { 0, 0, 0, 0, (uint8_t)limit };
    struct rtmp_msg msg = control(RTMP_SET_PEER_BANDWIDTH, bytes, sizeof(bytes));

    put_be32(bytes, window);
    rtmp_out_put(out, &msg, c->out_chunk_size);
}

void rtmp_conn_put_event(struct rtmp_conn *c, struct wr *out, uint16_t id, uint32_t value,
                         uint32_t more)
{
    uint8_t bytes[10];
    struct rtmp_msg msg = control(RTMP_USER_CONTROL, bytes, event_bytes(bytes, id, value, more));

    rtmp_out_put(out, &msg, c->out_chunk_size);
}

void rtmp_conn_put_chunk_size(struct rtmp_conn *c, struct wr *out, uint32_t size)
{
    rtmp_conn_put_u32(c, out, RTMP_SET_CHUNK_SIZE, size);
    c->out_chunk_size = size;
}

err_t rtmp_conn_send_all(struct rtmp_conn *c, struct wr *out)
{
    err_t err = wr_err(out, "messages to send");

    if (!err && out->len > 0)
        err = io_write(c->io, out->buf, out->len);
    wr_free(out);
    return err;
}

bool rtmp_conn_owes(struct rtmp_conn *c)
{
    return c->pong || rtmp_in_ack_due(&c->in);
}

err_t rtmp_conn_flush(struct rtmp_conn *c)
{
    uint8_t out[2 * (RTMP_OUT_FIRST + 10)], bytes[10];
    struct rtmp_msg msg;
    uint32_t sequence;
    size_t n = 0;

    if (rtmp_in_take_ack(&c->in, &sequence)) {
        msg = control(RTMP_ACK, bytes, put_be32(bytes, sequence));
        n += rtmp_out_render(out + n, &msg, c->out_chunk_size);
    }
    if (c->pong) {
        msg = control(RTMP_USER_CONTROL, bytes,
                      event_bytes(bytes, RTMP_PING_RESPONSE, c->ping, 0));
        n += rtmp_out_render(out + n, &msg, c->out_chunk_size);
        c->pong = false;
    }
    return n ? io_write(c->io, out, n) : NULL;
}
