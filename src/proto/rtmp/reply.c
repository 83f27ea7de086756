/* SPDX-License-Identifier: MIT */
/* reply.c - bodies of the command and data messages that servers and clients send. */
#include "proto/rtmp/reply.h"

#include "proto/rtmp/command.h"

/* Old clients check these three. */
#define FMS_VERSION "FMS/3,5,3,888"
#define CLIENT_ID "ASAICiss"

enum { CAPABILITIES = 127 };

static const struct {
    const char *level, *code, *description;
} rows[] = {
    [RTMP_CONNECT_SUCCESS] = { "status", "NetConnection.Connect.Success", "Connection succeeded" },
    [RTMP_CONNECT_REJECTED] = { "error", "NetConnection.Connect.Rejected", "Connection rejected" },
    [RTMP_CONNECT_CLOSED] = { "status", "NetConnection.Connect.Closed", "Connection closed" },
    [RTMP_CONNECT_INVALID_APP] = { "error", "NetConnection.Connect.InvalidApp", "No such app" },
    [RTMP_PUBLISH_START] = { "status", "NetStream.Publish.Start", "Started publishing stream." },
    [RTMP_PUBLISH_BAD_NAME] = { "error", "NetStream.Publish.BadName",
                                "Stream is already published." },
    [RTMP_PUBLISH_DENIED] = { "error", "NetStream.Publish.Denied", "Publishing is denied." },
    [RTMP_PUBLISH_IDLE] = { "status", "NetStream.Publish.Idle", "No client plays the stream." },
    [RTMP_UNPUBLISH_SUCCESS] = { "status", "NetStream.Unpublish.Success",
                                 "Stream is now unpublished" },
    [RTMP_PLAY_RESET] = { "status", "NetStream.Play.Reset", "Playing and resetting stream." },
    [RTMP_PLAY_START] = { "status", "NetStream.Play.Start", "Started playing stream." },
    [RTMP_PLAY_STOP] = { "status", "NetStream.Play.Stop", "Stopped playing stream." },
    [RTMP_PLAY_NOT_FOUND] = { "error", "NetStream.Play.StreamNotFound", "No such stream." },
    [RTMP_PLAY_FAILED] = { "error", "NetStream.Play.Failed", "Playing is denied." },
    [RTMP_PLAY_PUBLISH_NOTIFY] = { "status", "NetStream.Play.PublishNotify",
                                   "Stream is now published." },
    [RTMP_PLAY_UNPUBLISH_NOTIFY] = { "status", "NetStream.Play.UnpublishNotify",
                                     "Stream is now unpublished." },
    [RTMP_PAUSE_NOTIFY] = { "status", "NetStream.Pause.Notify", "Paused stream." },
    [RTMP_UNPAUSE_NOTIFY] = { "status", "NetStream.Unpause.Notify", "Unpaused stream." },
    [RTMP_SEEK_NOTIFY] = { "status", "NetStream.Seek.Notify", "Seek of a live stream ignored." },
    [RTMP_SEEK_FAILED] = { "error", "NetStream.Seek.Failed", "No such time." },
};

static void begin(struct wr *w, const char *name, double transaction)
{
    amf0_string(w, name);
    amf0_number(w, transaction);
}

/* Appends the members that all status objects have. */
static void put_status(struct wr *w, enum rtmp_status status, const char *description)
{
    amf0_set_string(w, "level", rows[status].level);
    amf0_set_string(w, "code", rows[status].code);
    amf0_set_string(w, "description", description ? description : rows[status].description);
}

/* [E-RTMP v2] "*": we forward all codecs, including unknown ones. */
static void put_enhanced(struct wr *w)
{
    static const char *const maps[] = { "videoFourCcInfoMap", "audioFourCcInfoMap" };

    amf0_set_number(w, "capsEx", RTMP_CAPS_MULTITRACK | RTMP_CAPS_MODEX | RTMP_CAPS_NANO);
    for (int i = 0; i < 2; i++) {
        amf0_key(w, maps[i]);
        amf0_object_begin(w);
        amf0_set_number(w, "*", RTMP_FOURCC_CAN_FORWARD);
        amf0_end(w);
    }
    amf0_key(w, "fourCcList");
    amf0_strict_begin(w, 1);
    amf0_string(w, "*");
}

static void put_server(struct wr *w, const struct rtmp_reply_server *server)
{
    amf0_key(w, "data");
    amf0_object_begin(w);
    amf0_set_string(w, "srs_sig", "SRS");
    amf0_set_string(w, "srs_server", server->signature);
    amf0_set_string(w, "srs_version", server->version);
    amf0_set_number(w, "srs_pid", server->pid);
    amf0_set_string(w, "srs_id", server->id);
    amf0_end(w);
}

void rtmp_reply_connect(struct wr *w, double transaction, double object_encoding, bool enhanced,
                        const struct rtmp_reply_server *server)
{
    begin(w, "_result", transaction);
    amf0_object_begin(w);
    amf0_set_string(w, "fmsVer", FMS_VERSION);
    amf0_set_number(w, "capabilities", CAPABILITIES);
    amf0_set_number(w, "mode", 1);
    if (enhanced)
        put_enhanced(w);
    amf0_end(w);
    amf0_object_begin(w);
    put_status(w, RTMP_CONNECT_SUCCESS, NULL);
    amf0_set_number(w, "objectEncoding", object_encoding);
    if (server)
        put_server(w, server);
    amf0_end(w);
}

void rtmp_reply_error(struct wr *w, double transaction, enum rtmp_status status,
                      const char *description)
{
    begin(w, "_error", transaction);
    amf0_null(w);
    amf0_object_begin(w);
    put_status(w, status, description);
    amf0_end(w);
}

void rtmp_reply_result(struct wr *w, double transaction)
{
    begin(w, "_result", transaction);
    amf0_null(w);
    amf0_undefined(w);
}

void rtmp_reply_number(struct wr *w, double transaction, double number)
{
    begin(w, "_result", transaction);
    amf0_null(w);
    amf0_number(w, number);
}

void rtmp_reply_status(struct wr *w, enum rtmp_status status, const char *description,
                       const char *details)
{
    begin(w, "onStatus", 0);
    amf0_null(w);
    amf0_object_begin(w);
    put_status(w, status, description);
    if (details)
        amf0_set_string(w, "details", details);
    amf0_set_string(w, "clientid", CLIENT_ID);
    amf0_end(w);
}

void rtmp_reply_fc(struct wr *w, enum rtmp_status status)
{
    begin(w, status == RTMP_UNPUBLISH_SUCCESS ? "onFCUnpublish" : "onFCPublish", 0);
    amf0_null(w);
    amf0_object_begin(w);
    amf0_set_string(w, "code", rows[status].code);
    amf0_set_string(w, "description", rows[status].description);
    amf0_end(w);
}

void rtmp_reply_bw_done(struct wr *w)
{
    begin(w, "onBWDone", 0);
    amf0_null(w);
}

void rtmp_reply_complete(struct wr *w, double seconds, double bytes)
{
    amf0_string(w, "onPlayStatus");
    amf0_object_begin(w);
    amf0_set_string(w, "level", "status");
    amf0_set_string(w, "code", "NetStream.Play.Complete");
    amf0_set_number(w, "duration", seconds);
    amf0_set_number(w, "bytes", bytes);
    amf0_end(w);
}

void rtmp_reply_sample_access(struct wr *w, bool audio, bool video)
{
    amf0_string(w, "|RtmpSampleAccess");
    amf0_boolean(w, audio);
    amf0_boolean(w, video);
}

/* ---- bodies of a client's commands [RTMP 7.2] */

/* [RTMP 7.2.1.1]: all codecs, with seeking. */
enum { CLIENT_CAPABILITIES = 239, ALL_AUDIO = 0x0fff, ALL_VIDEO = 0x00fc, CAN_SEEK = 1 };

static void put_text(struct wr *w, const char *key, const char *text)
{
    if (text)
        amf0_set_string(w, key, text);
}

static void put_known(struct wr *w)
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
    amf0_set_number(w, "capabilities", CLIENT_CAPABILITIES);
    amf0_set_number(w, "audioCodecs", ALL_AUDIO);
    amf0_set_number(w, "videoCodecs", ALL_VIDEO);
    amf0_set_number(w, "videoFunction", CAN_SEEK);
    put_text(w, "pageUrl", r->page_url);
    amf0_set_number(w, "objectEncoding", 0);
    if (r->enhanced)
        put_known(w);
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
