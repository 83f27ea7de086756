/* SPDX-License-Identifier: MIT */
/* ws.c - WebSocket: the handshake's response, and frames in both directions. */
#include "proto/http/ws.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

enum { FIN = 0x80, RESERVED = 0x70, OP = 0x0f, MASKED = 0x80, SIZE = 0x7f, CONTROL = 8 };

bool http_ws_accept(const char *key, char out[HTTP_WS_KEY_SIZE])
{
    static const char magic[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* RFC 6455 1.3 */
    char text[24 + sizeof(magic)];
    unsigned char sum[SHA_DIGEST_LENGTH];

    if (strlen(key) != 24)
        return false;
    (void)snprintf(text, sizeof(text), "%s%s", key, magic);
    if (!SHA1((const unsigned char *)text, strlen(text), sum))
        return false;
    (void)EVP_EncodeBlock((unsigned char *)out, sum, sizeof(sum));
    return true;
}

size_t http_ws_head_size(uint64_t size, bool masked)
{
    return (size < 126 ? 2u : size < 65536 ? 4u : 10u) + (masked ? 4u : 0u);
}

size_t http_ws_head(uint8_t out[HTTP_WS_HEAD_MAX], enum http_ws_op op, uint64_t size,
                    const uint8_t mask[4])
{
    size_t n = 2, wide = size < 126 ? 0 : size < 65536 ? 2 : 8;

    out[0] = (uint8_t)(FIN | op);
    out[1] = (uint8_t)((mask ? MASKED : 0) | (wide == 0 ? (uint8_t)size : wide == 2 ? 126 : 127));
    for (size_t i = 0; i < wide; i++)
        out[n++] = (uint8_t)(size >> 8 * (wide - 1 - i));
    if (mask) {
        memcpy(out + n, mask, 4);
        n += 4;
    }
    return n;
}

void http_ws_mask(uint8_t *p, size_t size, const uint8_t mask[4], uint64_t at)
{
    for (size_t i = 0; i < size; i++)
        p[i] ^= mask[(at + i) & 3];
}

void http_ws_in_init(struct http_ws_in *in, bool from_client, uint64_t max_size)
{
    *in = (struct http_ws_in){ .from_client = from_client, .max_size = max_size };
}

/* Returns the size of the head, as far as the bytes received tell. */
static size_t head_needs(const struct http_ws_in *in)
{
    uint8_t second = in->head[1];
    size_t n = 2;

    if (in->head_size < 2)
        return 2;
    n += (second & SIZE) == 126 ? 2 : (second & SIZE) == 127 ? 8 : 0;
    return n + (second & MASKED ? 4 : 0);
}

static err_t check_head(const struct http_ws_in *in)
{
    bool masked = in->head[1] & MASKED;
    bool control = in->op & CONTROL;

    if (in->head[0] & RESERVED)
        return err_new(ERR_HTTP, "WebSocket: reserved bits are set");
    if (in->op > HTTP_WS_PONG || (in->op > HTTP_WS_BINARY && in->op < HTTP_WS_CLOSE))
        return err_new(ERR_HTTP, "WebSocket: frame with opcode %u", in->op);
    if (masked != in->from_client)
        return err_new(ERR_HTTP, "WebSocket: frame is%s masked", masked ? "" : " not");
    if (control && (!in->fin || in->size > HTTP_WS_CONTROL_MAX))
        return err_new(ERR_HTTP, "WebSocket: fragmented or too large control frame");
    if (!control && (in->op == HTTP_WS_CONTINUE) != in->fragmented)
        return err_new(ERR_HTTP, "WebSocket: fragment out of order");
    if (in->size >> 63)
        return err_new(ERR_HTTP, "WebSocket: frame size of 64 bits");
    if (in->size > in->max_size)
        return err_new(ERR_TOO_LARGE, "WebSocket: frame of %llu bytes",
                       (unsigned long long)in->size);
    return NULL;
}

static err_t begin_payload(struct http_ws_in *in)
{
    size_t wide = (in->head[1] & SIZE) == 126 ? 2 : (in->head[1] & SIZE) == 127 ? 8 : 0;
    err_t err;

    in->fin = in->head[0] & FIN;
    in->op = in->head[0] & OP;
    in->size = in->head[1] & SIZE;
    in->at = 0;
    if (wide)
        in->size = 0;
    for (size_t i = 0; i < wide; i++)
        in->size = in->size << 8 | in->head[2 + i];
    if (in->head[1] & MASKED)
        memcpy(in->mask, in->head + in->head_size - 4, 4);
    err = check_head(in);
    if (err)
        return err;
    if (!(in->op & CONTROL))
        in->fragmented = !in->fin;
    in->head_size = 0;
    in->in_payload = true;
    return NULL;
}

err_t http_ws_feed(struct http_ws_in *in, uint8_t *data, size_t size,
                   const struct http_ws_handler *h, void *arg)
{
    err_t err = NULL;

    while (!err && size > 0) {
        uint64_t left = in->size - in->at;
        size_t n = left < size ? (size_t)left : size;

        if (!in->in_payload) {
            in->head[in->head_size++] = *data++;
            size--;
            if (in->head_size < head_needs(in))
                continue;
            err = begin_payload(in);
            if (err || in->size > 0)
                continue;
            n = 0;
        }
        if (in->from_client)
            http_ws_mask(data, n, in->mask, in->at);
        in->at += n;
        in->in_payload = in->at < in->size;
        err = h->payload(arg, in, data, n, !in->in_payload);
        data += n;
        size -= n;
    }
    return err;
}
