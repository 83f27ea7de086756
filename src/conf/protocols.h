/* SPDX-License-Identifier: MIT */
/* protocols.h - the list of all protocols that clients connect with. One line here adds a protocol
 * to every list that walks them: its row of directives and endpoints is conf_protocol_ID in
 * conf/protocol/ID.c (conf/protocol.h).
 */
#ifndef CONF_PROTOCOLS_H
#define CONF_PROTOCOLS_H

/* XX(ID, id): protocols with the blocks id_server { } and vhost { id { } }, which are
 * struct conf_ID_server and struct conf_vhost_ID. */
#define PROTOCOL_SERVER_LIST(XX) \
    XX(RTSP, rtsp) \
    XX(SRT, srt)   \
    XX(RTMFP, rtmfp) \
    XX(RTC, rtc)

/* The same of all of them. The first two have blocks of other names. */
#define PROTOCOL_LIST(XX) \
    XX(RTMP, rtmp) \
    XX(HTTP, http) \
    PROTOCOL_SERVER_LIST(XX)

#define XX(ID, id) PROTOCOL_##ID,
enum protocol_id { PROTOCOL_LIST(XX) PROTOCOLS };
#undef XX

#endif
