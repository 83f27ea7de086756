/* SPDX-License-Identifier: MIT */
/* protocols.h - lists of all client protocols, types of clients, log lines and secrets. A line here
 * adds a protocol to all code that walks the list. Its rows are conf_protocol_ID in
 * conf/protocol/ID.c (conf/protocol.h) and protocol_ID in serve/ID/protocol.c (serve/protocol.h).
 */
#ifndef CONF_PROTOCOLS_H
#define CONF_PROTOCOLS_H

/* XX(ID, id): protocols with the blocks id_server { } and vhost { id { } }, parsed into
 * struct conf_ID_server and struct conf_vhost_ID. */
#define PROTOCOL_SERVER_LIST(XX) \
    XX(RTSP, rtsp) \
    XX(SRT, srt)   \
    XX(RTMFP, rtmfp) \
    XX(RTC, rtc)

/* XX(ID, id): all protocols. The blocks of the first two have other names. */
#define PROTOCOL_LIST(XX) \
    XX(RTMP, rtmp) \
    XX(HTTP, http) \
    PROTOCOL_SERVER_LIST(XX)

/* Types of clients, XX(ID, "name", "text", flags): CLIENTS_ID, its name in the API (as in SRS), and
 * its text in the log. */
#define PROTOCOL_CLIENT_LIST(XX) \
    XX(RTMP_PLAY, "rtmp-play", "RTMP player", 0) \
    XX(FLV_PLAY, "flv-play", "HTTP player", 0) \
    XX(MP4_PLAY, "mp4-play", "MP4 player", 0) \
    XX(HLS_PLAY, "hls-play", "HLS player", 0) \
    XX(DASH_PLAY, "dash-play", "DASH player", 0) \
    XX(FLASH_PUBLISH, "flash-publish", "RTMP publisher", CLIENTS_PUBLISHES) \
    XX(FMLE_PUBLISH, "fmle-publish", "RTMP publisher", CLIENTS_PUBLISHES) \
    XX(HAIVISION_PUBLISH, "haivision-publish", "RTMP publisher", CLIENTS_PUBLISHES) \
    XX(RTSP_PLAY, "rtsp-play", "RTSP player", 0) \
    XX(RTSP_PUBLISH, "rtsp-publish", "RTSP publisher", CLIENTS_PUBLISHES) \
    XX(RTSP_VOD, "rtsp-vod", "RTSP player", CLIENTS_FILE) \
    XX(RTMP_VOD, "rtmp-vod", "RTMP player", CLIENTS_FILE) \
    XX(FLV_VOD, "flv-vod", "HTTP player", CLIENTS_FILE) \
    XX(SRT_PLAY, "srt-play", "SRT player", 0) \
    XX(SRT_PUBLISH, "srt-publish", "SRT publisher", CLIENTS_PUBLISHES) \
    XX(RTC_PLAY, "rtc-play", "WebRTC player", 0) \
    XX(RTC_PUBLISH, "rtc-publish", "WebRTC publisher", CLIENTS_PUBLISHES) \
    XX(RTMFP_PLAY, "rtmfp-play", "RTMFP player", 0) \
    XX(RTMFP_PUBLISH, "rtmfp-publish", "RTMFP publisher", CLIENTS_PUBLISHES) \
    XX(FORWARD, "forward", "forward", 0)

/* Statistics lines of the log, XX(ID, "text"): SAMPLED_ID, and the beginning of the line. */
#define PROTOCOL_SAMPLED_LIST(XX) \
    XX(PLAY, "-> PLA") \
    XX(PUBLISH, "<- CPB") \
    XX(FORWARD, "<- FWR") \
    XX(HTTP, "-> HTS") \
    XX(HLS, "-> HLS") \
    XX(DASH, "-> DASH") \
    XX(ENCODER, "-> ENC") \
    XX(INGEST, "-> IGS") \
    XX(EXEC, "-> EXE") \
    XX(SRT_PLAY, "-> SRT_PLA") \
    XX(SRT_PUBLISH, "<- SRT_CPB") \
    XX(RTC_PLAY, "-> RTC") \
    XX(RTC_PUBLISH, "<- RTC") \
    XX(RTMFP_PLAY, "-> RTMFP_PLA") \
    XX(RTMFP_PUBLISH, "<- RTMFP_CPB")

/* Secrets that untrusted clients may guess, XX(ID, "text"): GUARD_ID, for session/guard.h. */
#define PROTOCOL_SECRET_LIST(XX) \
    XX(API, "API passwords") \
    XX(RTSP, "RTSP passwords") \
    XX(SRT, "SRT passphrases") \
    XX(KEY, "stream keys")

#define XX(ID, id) PROTOCOL_##ID,
enum protocol_id { PROTOCOL_LIST(XX) PROTOCOLS };
#undef XX

#endif
