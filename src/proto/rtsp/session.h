/* SPDX-License-Identifier: MIT */
/* session.h - one session of a server: its tracks and its state (RFC 2326 sections 3.4, 12.37,
 * A.2). No I/O.
 */
#ifndef PROTO_RTSP_SESSION_H
#define PROTO_RTSP_SESSION_H

#include "co/co.h"
#include "proto/rtsp/message.h"
#include "proto/rtsp/transport.h"

enum { RTSP_TRACKS_MAX = 16, RTSP_SESSION_ID = 16, RTSP_SESSION_ID_MAX = 128 };

enum rtsp_state { RTSP_INIT, RTSP_READY, RTSP_PLAYING, RTSP_RECORDING };

struct rtsp_track {
    char *url;               /* as the client sent it; NULL: not set up */
    struct rtsp_pair pair;   /* channels, or ports of the client */
};

struct rtsp_session { /* owned by its connection (server.h) */
    struct rtsp_session *next;
    char id[RTSP_SESSION_ID + 1]; /* only letters and digits, because some clients fail on a dash */
    enum rtsp_state state;
    bool record;             /* the client publishes */
    enum rtsp_lower lower;   /* transport of all tracks */
    co_usec last_seen;       /* time of the last sign of life */
    struct rtsp_track tracks[RTSP_TRACKS_MAX];
    uint8_t order[RTSP_TRACKS_MAX]; /* tracks in the order of their SETUP */
    unsigned n_tracks;       /* number of tracks in `order` */
};

/* Over datagrams a session ends without a sign of life for the announced timeout plus this, because
 * clients are late. Over a connection a player need not send anything: some do so once in 70
 * seconds, or never. */
#define RTSP_SESSION_GRACE CO_SECONDS(15)

/* Parses "12345678;timeout=60" of a response: the id, and the timeout in seconds or 0. Returns
 * false if the id is missing or longer than RTSP_SESSION_ID_MAX. */
bool rtsp_session_parse(const char *value, char id[RTSP_SESSION_ID_MAX + 1], int *timeout);

#endif
