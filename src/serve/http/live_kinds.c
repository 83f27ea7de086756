/* SPDX-License-Identifier: MIT */
/* live_kinds.c - the formats of live streams over HTTP. */
#include "format/flv/flv.h"
#include "proto/http/ws.h"
#include "serve/http/live.h"
#include "wire/audio.h"
#include "wire/flv.h"
#include "wire/fmp4.h"
#include "wire/ts.h"

static void flv_params(const struct http_live_tracks *p, uint32_t param[LIVE_PARAMS])
{
    if (p->drop)
        param[FLV_WIRE_LEAVE_OUT] = (p->audio ? 0u : FLV_WIRE_NO_AUDIO) |
                                    (p->video ? 0u : FLV_WIRE_NO_VIDEO);
    if (p->no_opus)
        param[FLV_WIRE_LEAVE_OUT] |= FLV_WIRE_NO_OPUS;
}

static size_t flv_head(const struct http_live_tracks *p, uint8_t *out)
{
    flv_file_build(out, p->audio, p->video);
    return FLV_FILE_HEADER + FLV_TAG_TRAILER;
}

static const struct http_live_kind flv = {
    .end = ".flv", .type = "video/x-flv", .client = CLIENTS_FLV_PLAY, .wire = &flv_wire,
    .ws = &flv_wire_ws, .announces = true, .params = flv_params, .head = flv_head,
};

static void fmp4_params(const struct http_live_tracks *p, uint32_t param[LIVE_PARAMS])
{
    param[FMP4_WIRE_LEAVE_OUT] = (p->audio ? 0u : FLV_WIRE_NO_AUDIO) |
                                 (p->video ? 0u : FLV_WIRE_NO_VIDEO);
}

/* A track that arrives late is announced inside the stream, so its head announces nothing. */
static const struct http_live_kind fmp4 = {
    .end = ".mp4", .type = "video/mp4", .client = CLIENTS_MP4_PLAY, .wire = &fmp4_wire,
    .ws = &fmp4_wire_ws, .waits = true, .params = fmp4_params, .other_end = ".flv",
};

static size_t mp3_head(const struct http_live_tracks *p, uint8_t *out)
{
    (void)p;
    audio_wire_id3(out);
    return AUDIO_WIRE_ID3;
}

static const struct http_live_kind ts = {
    .end = ".ts", .type = "video/mp2t", .client = CLIENTS_FLV_PLAY, .wire = &ts_wire,
};
static const struct http_live_kind aac = {
    .end = ".aac", .type = "audio/aac", .client = CLIENTS_FLV_PLAY, .wire = &aac_wire,
};
static const struct http_live_kind mp3 = {
    .end = ".mp3", .type = "audio/mpeg", .client = CLIENTS_FLV_PLAY, .wire = &mp3_wire,
    .head = mp3_head,
};

const struct http_live_kind *const http_live_kinds[] = { &flv, &fmp4, &ts, &aac, &mp3,
                                                         NULL };
