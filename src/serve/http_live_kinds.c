/* SPDX-License-Identifier: MIT */
/* http_live_kinds.c - what live streams can be played as. */
#include "format/flv.h"
#include "proto/http/ws.h"
#include "serve/flv_wire.h"
#include "serve/http_live.h"

static void flv_params(const struct http_live_promise *p, uint32_t param[LIVE_PARAMS])
{
    if (p->drop)
        param[FLV_WIRE_LEAVE_OUT] = (p->audio ? 0u : FLV_WIRE_NO_AUDIO) |
                                    (p->video ? 0u : FLV_WIRE_NO_VIDEO);
}

static size_t flv_head(const struct http_live_promise *p, uint8_t *out)
{
    flv_file_build(out, p->audio, p->video);
    return FLV_FILE_HEADER + FLV_TAG_TRAILER;
}

static const struct http_live_kind flv = {
    .end = ".flv", .type = "video/x-flv", .wire = &flv_wire, .ws = &flv_wire_ws, .promises = true,
    .params = flv_params, .head = flv_head,
};

const struct http_live_kind *const http_live_kinds[] = { &flv, NULL };
