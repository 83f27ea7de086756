/* SPDX-License-Identifier: MIT */
/* request.c - what a client says: bodies of commands [RTMP 7.2]. */
#include "proto/rtmp/request.h"

#include "proto/rtmp/command.h"

/* [RTMP 7.2.1.1]: everything that there was, with seeking. */
enum { CAPABILITIES = 239, ALL_AUDIO = 0x0fff, ALL_VIDEO = 0x00fc, CAN_SEEK = 1 };

static void begin(struct wr *w, const char *name, double transaction)
{
    amf0_string(w, name);
    amf0_number(w, transaction);
}

static void put_text(struct wr *w, const char *key, const char *text)
{
    if (text)
        amf0_set_string(w, key, text);
}

static void put_enhanced(struct wr *w)
{
    static const char *const codes[] = { "av01", "vp09", "vp08", "hvc1", "avc1", "Opus", "fLaC",
                                        "ac-3", "ec-3", ".mp3", "mp4a" };

    amf0_key(w, "fourCcList");
    amf0_strict_begin(w, sizeof(codes) / sizeof(codes[0]));
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        amf0_string(w, codes[i]);
    amf0_set_number(w, "capsEx", RTMP_CAPS_MULTITRACK | RTMP_CAPS_MODEX | RTMP_CAPS_NANO);
}

void rtmp_request_connect(struct wr *w, double transaction, const struct rtmp_request_connect *r)
{
    begin(w, "connect", transaction);
    amf0_object_begin(w);
    amf0_set_string(w, "app", r->app);
    put_text(w, "flashVer", r->flash_ver);
    put_text(w, "swfUrl", r->swf_url);
    amf0_set_string(w, "tcUrl", r->tc_url);
    amf0_set_boolean(w, "fpad", false);
    amf0_set_number(w, "capabilities", CAPABILITIES);
    amf0_set_number(w, "audioCodecs", ALL_AUDIO);
    amf0_set_number(w, "videoCodecs", ALL_VIDEO);
    amf0_set_number(w, "videoFunction", CAN_SEEK);
    put_text(w, "pageUrl", r->page_url);
    amf0_set_number(w, "objectEncoding", 0);
    if (r->enhanced)
        put_enhanced(w);
    amf0_end(w);
    if (r->extra)
        amf0_write(w, r->extra);
}

void rtmp_request_call(struct wr *w, const char *command, double transaction, const char *name)
{
    begin(w, command, transaction);
    amf0_null(w);
    if (name)
        amf0_string(w, name);
}

void rtmp_request_publish(struct wr *w, double transaction, const char *name, const char *type)
{
    rtmp_request_call(w, "publish", transaction, name);
    amf0_string(w, type);
}

void rtmp_request_play(struct wr *w, double transaction, const char *name, double start)
{
    rtmp_request_call(w, "play", transaction, name);
    amf0_number(w, start);
}

void rtmp_request_delete_stream(struct wr *w, double transaction, uint32_t stream_id)
{
    rtmp_request_call(w, "deleteStream", transaction, NULL);
    amf0_number(w, stream_id);
}
