/* SPDX-License-Identifier: MIT */
/* server.h - server side of RTSP: checks requests and keeps the sessions of a connection (RFC 2326
 * appendix A.2). No I/O.
 *
 * For each request, rtsp_server_check() returns the status to refuse it with, if any, and finds its
 * session. The caller handles what the request is about (the stream, its tracks, authorization),
 * then reports what was done. A table decides which method is allowed in which state.
 */
#ifndef PROTO_RTSP_SERVER_H
#define PROTO_RTSP_SERVER_H

#include "proto/rtsp/session.h"

enum { RTSP_SESSIONS_MAX = 4 };

struct rtsp_server_rules {
    unsigned methods;        /* supported methods, as RTSP_BIT() */
    struct rtsp_transport_rules transports;
    bool own_channels;       /* players get channels 2n and 2n + 1 for track n regardless of their
                              * request, so that all players get the same bytes; otherwise they get
                              * the requested channel and the next one */
    int timeout;             /* seconds, as announced to clients */
    const char *name;        /* value of Server:, or NULL */
};

struct rtsp_server { /* state of a connection; zeroed at start, except the rules */
    const struct rtsp_server_rules *rules;
    struct rtsp_session *sessions;
    unsigned n_sessions;
    bool announced; /* ANNOUNCE was accepted: tracks that are set up belong to a publisher */
};

void rtsp_server_fini(struct rtsp_server *s);

/* Returns 0 if the request is allowed, with its session in *session, or NULL if there is none
 * (yet); otherwise the status to respond with. Counts as a sign of life of the session. */
int rtsp_server_check(struct rtsp_server *s, const struct rtsp_message *req, co_usec now,
                      struct rtsp_session **session);

/* Handles SETUP of a track that the caller knows to exist. Creates the session if needed, and
 * stores the agreed transport in `t`, to which the caller adds its ports and addresses. A non-zero
 * status means that nothing changed. */
int rtsp_server_setup(struct rtsp_server *s, const struct rtsp_message *req, unsigned track,
                      co_usec now, struct rtsp_session **session, struct rtsp_transport *t);
/* ANNOUNCE was accepted. */
void rtsp_server_announced(struct rtsp_server *s);
/* PLAY, PAUSE or RECORD was accepted. */
void rtsp_session_accepted(struct rtsp_session *session, enum rtsp_method method);
/* TEARDOWN of a track (-1: all tracks) of a session, which may be NULL. Returns true if the session
 * has ended and was freed. */
bool rtsp_server_teardown(struct rtsp_server *s, struct rtsp_session *session, int track);

/* Writes the start of a response: status, CSeq, Server, Session, and the fields that some statuses
 * require: supported methods, methods allowed now, unsupported features. */
void rtsp_server_put(const struct rtsp_server *s, struct wr *w, int status,
                     const struct rtsp_message *req, const struct rtsp_session *session);

#endif
