/* SPDX-License-Identifier: MIT */
/* rtp_info.h - RTP-Info: where the media of each track begins: RFC 2326 section 12.33. */
#ifndef PROTO_RTSP_RTP_INFO_H
#define PROTO_RTSP_RTP_INFO_H

#include "base/wr.h"

#include <stdbool.h>
#include <stdint.h>

enum { RTSP_RTP_INFO_MAX = 16 };

struct rtsp_rtp_info {
    const char *url;  /* of the track; in the text that was read, `url_size` bytes, no 0 behind */
    size_t url_size;
    bool has_seq, has_time;
    uint16_t seq;     /* of its first packet */
    uint32_t time;    /* RTP's, of the begin of Range */
};

/* Entries of the field; gives how many. Cameras leave out numbers, or the quotes around a url with
 * commas. A number that is none is not there. */
size_t rtsp_rtp_info_parse(const char *text, struct rtsp_rtp_info out[RTSP_RTP_INFO_MAX]);
/* All entries as the value of one field. */
void rtsp_rtp_info_put(struct wr *w, const struct rtsp_rtp_info *entries, size_t n);

#endif
