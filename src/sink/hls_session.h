/* SPDX-License-Identifier: MIT */
/* hls_session.h - who plays HLS: sessions by the id in their urls.
 *
 * With hls_ctx, who asks for a playlist first gets a list of one list, whose url has an id: that
 * is a session, which can be counted and ended, until nothing was asked by it for long.
 */
#ifndef SINK_HLS_SESSION_H
#define SINK_HLS_SESSION_H

#include "sink/hls.h"

enum { HLS_SESSION_ID = 8 };

struct hls_session {
    struct hls_session *next;
    char id[HLS_SESSION_ID + 1];
    char *stream;          /* path of the playlist's url: "/live/s.m3u8" */
    char *url, *ip;        /* as it was asked for, with its parameters; of the client */
    co_usec began_at, asked_at;
    uint64_t bytes, requests;
    co_usec patience;      /* how long it may ask nothing */
    bool kicked;           /* it gets nothing more */
};

/* Walk over those that play: NULL gives the first. Not across a yield. */
struct hls_session *hls_session_next(struct hls *h, const struct hls_session *s);
struct hls_session *hls_session_find(struct hls *h, const char *id);
void hls_session_kick(struct hls *h, struct hls_session *s);
unsigned hls_players(struct hls *h); /* sessions that play */

/* For hls_http.c. Its id is that of the coroutine that calls. NULL: there are too many. */
struct hls_session *hls_session_new(struct hls *h, const char *stream, const char *url,
                                    const char *ip, co_usec patience);
void hls_session_asked(struct hls *h, struct hls_session *s, size_t bytes);
struct hls_sessions *hls_sessions_new(void);
void hls_sessions_free(struct hls *h);

#endif
