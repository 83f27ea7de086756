/* SPDX-License-Identifier: MIT */
/* session.h - one session of a server: which tracks are set up, and what it does: RFC 2326 sections
 * 3.4, 12.37, A.2. No I/O. */
#ifndef PROTO_RTSP_SESSION_H
#define PROTO_RTSP_SESSION_H

#include "co/co.h"
#include "proto/rtsp/message.h"
#include "proto/rtsp/transport.h"

enum { RTSP_TRACKS_MAX = 16, RTSP_SESSION_ID = 16, RTSP_SESSION_ID_MAX = 128 };

enum rtsp_state { RTSP_INIT, RTSP_READY, RTSP_PLAYING, RTSP_RECORDING };

struct rtsp_track {
    char *url;               /* as the client named it; NULL: not set up */
    struct rtsp_pair pair;   /* channels, or ports of the client */
};

struct rtsp_session { /* owned by its connection (server.h) */
    struct rtsp_session *next;
    char id[RTSP_SESSION_ID + 1]; /* letters and digits: a dash confuses some */
    enum rtsp_state state;
    bool record;             /* its client publishes */
    enum rtsp_lower lower;   /* of all its tracks */
    co_usec heard;           /* when it last gave a sign of life */
    struct rtsp_track tracks[RTSP_TRACKS_MAX];
    uint8_t order[RTSP_TRACKS_MAX]; /* tracks as they were set up */
    unsigned n_tracks;       /* that are */
};

/* Over datagrams it ends when it gave no sign of life for the time that clients are told and some
 * more, since they are late. Over a connection a player need not speak at all: some do so once in
 * 70 seconds, or never. */
#define RTSP_SESSION_GRACE CO_SECONDS(15)

/* "12345678;timeout=60" of an answer: the id, and the time in seconds or 0. False: it has no id, or
 * one of over RTSP_SESSION_ID_MAX bytes. */
bool rtsp_session_parse(const char *value, char id[RTSP_SESSION_ID_MAX + 1], int *timeout);

#endif
