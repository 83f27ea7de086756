/* SPDX-License-Identifier: MIT */
/* rtp_info.h - the field RTP-Info: the start of each track's media (RFC 2326 section 12.33). */
#ifndef PROTO_RTSP_RTP_INFO_H
#define PROTO_RTSP_RTP_INFO_H

#include "base/wr.h"

#include <stdbool.h>
#include <stdint.h>

enum { RTSP_RTP_INFO_MAX = 16 };

struct rtsp_rtp_info {
    const char *url;  /* URL of the track, in the parsed text; url_size bytes, not terminated */
    size_t url_size;
    bool has_seq, has_time;
    uint16_t seq;     /* sequence number of the first packet */
    uint32_t time;    /* RTP timestamp of the beginning of Range */
};

/* Parses the field's entries; returns their number. Cameras omit numbers, or the quotes around a
 * URL that contains commas. An invalid number counts as missing. */
size_t rtsp_rtp_info_parse(const char *text, struct rtsp_rtp_info out[RTSP_RTP_INFO_MAX]);
/* Writes all entries as the value of one field. */
void rtsp_rtp_info_put(struct wr *w, const struct rtsp_rtp_info *entries, size_t n);

#endif
