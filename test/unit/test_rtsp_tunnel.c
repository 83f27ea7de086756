/* SPDX-License-Identifier: MIT */
/* test_rtsp_tunnel.c - RTSP inside of HTTP, in pieces of any size. */
#include "base/wr.h"
#include "proto/rtsp/tunnel.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void requests(void **state)
{
    static const char type[] = "application/x-rtsp-tunnelled";
    static const struct {
        const char *name;
        struct rtsp_tunnel_head h;
        enum rtsp_tunnel want;
    } rows[] = {
        { "FFmpeg, GET", { "GET", "5d7c2d1a", type, NULL, NULL, NULL }, RTSP_TUNNEL_DOWN },
        { "FFmpeg, POST", { "POST", "5d7c2d1a", NULL, type, NULL, NULL }, RTSP_TUNNEL_UP },
        { "live555, POST", { "POST", "x", type, type, NULL, NULL }, RTSP_TUNNEL_UP },
        { "no Accept", { "GET", "x", NULL, NULL, NULL, NULL }, RTSP_TUNNEL_DOWN },
        { "anything", { "GET", "x", "*/*", NULL, NULL, NULL }, RTSP_TUNNEL_DOWN },
        { "one of several", { "GET", "x", "text/html, APPLICATION/x-rtsp-tunnelled;q=1", NULL, NULL,
                              NULL }, RTSP_TUNNEL_DOWN },
        { "something else", { "GET", "x", "text/html", NULL, NULL, NULL }, RTSP_TUNNEL_NONE },
        { "a POST of something else", { "POST", "x", NULL, "text/html", NULL, NULL },
          RTSP_TUNNEL_NONE },
        { "another method", { "PUT", "x", type, type, NULL, NULL }, RTSP_TUNNEL_NONE },
        { "no cookie", { "GET", NULL, type, NULL, NULL, NULL }, RTSP_TUNNEL_NONE },
        { "an empty cookie", { "GET", "", type, NULL, NULL, NULL }, RTSP_TUNNEL_NONE },
        { "a cookie with a space", { "GET", "a b", type, NULL, NULL, NULL }, RTSP_TUNNEL_NONE },
        { "a cookie of 64",
          { "GET", "0123456789012345678901234567890123456789012345678901234567890123", type, NULL,
            NULL, NULL }, RTSP_TUNNEL_DOWN },
        { "a cookie of 65",
          { "GET", "01234567890123456789012345678901234567890123456789012345678901234", type, NULL,
            NULL, NULL }, RTSP_TUNNEL_NONE },
        { "WebSocket", { "GET", NULL, NULL, NULL, "websocket", "rtsp.onvif.org" }, RTSP_TUNNEL_WS },
        { "WebSocket of several", { "GET", NULL, NULL, NULL, "WebSocket", "a, rtsp.onvif.org" },
          RTSP_TUNNEL_WS },
        { "another WebSocket", { "GET", NULL, NULL, NULL, "websocket", "flv" }, RTSP_TUNNEL_NONE },
        { "a WebSocket of nothing", { "GET", NULL, NULL, NULL, "websocket", NULL },
          RTSP_TUNNEL_NONE },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        assert_int_equal(rtsp_tunnel_of(&rows[i].h), rows[i].want);
    }
}

static err_t decode(const char *in, size_t size, size_t piece, struct wr *out)
{
    struct rtsp_base64 b = { 0 };
    uint8_t *copy = malloc(size + 1);
    err_t err = NULL;

    memcpy(copy, in, size);
    for (size_t at = 0; at < size && !err; at += piece) {
        size_t n;

        err = rtsp_base64_feed(&b, copy + at, size - at < piece ? size - at : piece, &n);
        wr_bytes(out, copy + at, n);
    }
    free(copy);
    return err;
}

static void base64(void **state)
{
    static const struct {
        const char *in, *out;
        enum err_code code;
    } rows[] = {
        { "T1BUSU9OUw==", "OPTIONS", ERR_OK },
        { "T1BUSU9OUw", "OPTIONS", ERR_OK },
        { "T1BU\r\nSU9O\r\nUw==\r\n", "OPTIONS", ERR_OK },
        { "T1BUSU9OUw==T1BUSU9OUw==", "OPTIONSOPTIONS", ERR_OK },   /* a pad in the middle */
        { "T1BUSU9OUw=T1BUSU9OUw=", "OPTIONSOPTIONS", ERR_OK },     /* and a short one */
        { "QQ==QUI=QUJD", "AABABC", ERR_OK },
        { "==QUJD", "ABC", ERR_OK },
        { "", "", ERR_OK },
        { "A=", "", ERR_RTSP },
        { "QUJDA=", "ABC", ERR_RTSP },
        { "QUJD!", "ABC", ERR_RTSP },
        { "QUJ-", "AB", ERR_RTSP },
        { "$\1", "", ERR_RTSP },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t piece = 1; piece < 30; piece++) {
            struct wr w;

            wr_init(&w, 1000);
            assert_err(decode(rows[i].in, strlen(rows[i].in), piece, &w), rows[i].code);
            wr_u8(&w, 0);
            if (!rows[i].code)
                assert_string_equal((char *)w.buf, rows[i].out);
            wr_free(&w);
        }
    }
}

static void base64_of_nothing(void **state)
{
    static const char units[] = { '=', ' ', '\n' };

    (void)state;
    for (size_t i = 0; i < COUNT(units); i++) {
        char text[5000];
        struct wr w;

        wr_init(&w, 10);
        memset(text, units[i], sizeof(text));
        assert_err(decode(text, sizeof(text), 1000, &w), ERR_RTSP);
        wr_free(&w);
    }
}

/* Frames of a client, masked with zeros unless a mask is given. */
static const struct {
    const char *name, *in;
    size_t size;
    const char *out, *reply;
    bool closed;
    enum err_code code;
} frames[] = {
#define IN(text) text, sizeof(text) - 1
    { "a message", IN("\x82\x83\0\0\0\0abc"), "abc", "", false, ERR_OK },
    { "masked", IN("\x82\x83\x20\x20\x20\x20" "ABC"), "abc", "", false, ERR_OK },
    { "in fragments", IN("\x02\x81\0\0\0\0a\x00\x81\0\0\0\0b\x80\x81\0\0\0\0c"), "abc", "", false,
      ERR_OK },
    { "a ping between", IN("\x02\x81\0\0\0\0a\x89\x82\0\0\0\0hi\x80\x81\0\0\0\0b"), "ab",
      "\x8a\x02hi", false, ERR_OK },
    { "an empty ping", IN("\x89\x80\0\0\0\0\x82\x81\0\0\0\0a"), "a", "\x8a", false, ERR_OK },
    { "a pong", IN("\x8a\x81\0\0\0\0x\x82\x81\0\0\0\0a"), "a", "", false, ERR_OK },
    { "a close", IN("\x82\x81\0\0\0\0a\x88\x82\0\0\0\0\x03\xe8\x82\x81\0\0\0\0b"), "a",
      "\x88\x02\x03\xe8", true, ERR_OK },
    { "text", IN("\x81\x81\0\0\0\0a"), "", "", false, ERR_RTSP },
    { "not masked", IN("\x82\x01" "a"), "", "", false, ERR_HTTP },
    { "too large", IN("\x82\xfe\x20\x00\0\0\0\0"), "", "", false, ERR_TOO_LARGE },
};

static void websocket(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(frames); i++) {
        for (size_t piece = 1; piece < 20; piece++) {
            uint8_t copy[100];
            struct wr out, reply;
            struct rtsp_ws ws;
            err_t err = NULL;

            wr_init(&out, 1000);
            wr_init(&reply, 1000);
            rtsp_ws_init(&ws, true, 1000);
            memcpy(copy, frames[i].in, frames[i].size);
            for (size_t at = 0; at < frames[i].size && !err; at += piece) {
                size_t left = frames[i].size - at, n;

                err = rtsp_ws_feed(&ws, copy + at, left < piece ? left : piece, &n, &reply);
                wr_bytes(&out, copy + at, n);
            }
            assert_err(err, frames[i].code);
            assert_int_equal(ws.closed, frames[i].closed);
            wr_u8(&out, 0);
            wr_u8(&reply, 0);
            assert_string_equal((char *)out.buf, frames[i].out);
            assert_string_equal((char *)reply.buf, frames[i].reply);
            wr_free(&out);
            wr_free(&reply);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(requests), TEST(base64), TEST(base64_of_nothing), TEST(websocket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
