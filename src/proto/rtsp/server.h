/* SPDX-License-Identifier: MIT */
/* server.h - what a server's connection allows, and what it remembers: RFC 2326 appendix A.2. No
 * I/O.
 *
 * For each request: rtsp_server_check() says by which status it is refused, if at all, and which
 * session it means. What it is about (the stream, its tracks, who asks) is the caller's: it does
 * that, then tells what was done. Which method may come in which state is a table.
 */
#ifndef PROTO_RTSP_SERVER_H
#define PROTO_RTSP_SERVER_H

#include "proto/rtsp/session.h"

enum { RTSP_SESSIONS_MAX = 4 };

struct rtsp_server_rules {
    unsigned methods;        /* those that it has: RTSP_BIT() */
    struct rtsp_transport_rules transports;
    bool own_channels;       /* players get channels 2n and 2n + 1 for track n, whatever they ask,
                              * so that all of them are sent the same bytes; else the one that they
                              * ask for, and the next one */
    int timeout;             /* seconds, as told to clients */
    const char *name;        /* Server:, or NULL */
};

struct rtsp_server { /* of a connection; starts as zeros but for the rules */
    const struct rtsp_server_rules *rules;
    struct rtsp_session *sessions;
    unsigned n_sessions;
    bool announced;          /* a description came: tracks that are set up are a publisher's */
};

void rtsp_server_fini(struct rtsp_server *s);

/* 0: it may be done, *session is the one that it means, or NULL where there is none (yet). Else the
 * status to answer. It is a sign of life of that session. */
int rtsp_server_check(struct rtsp_server *s, const struct rtsp_message *req, co_usec now,
                      struct rtsp_session **session);

/* SETUP of that track, which the caller knows to be there: *session becomes the new one if there
 * was none, and `t` what was agreed on, to which the caller adds ports and addresses of its own. On
 * a status that is not 0 nothing has changed. */
int rtsp_server_setup(struct rtsp_server *s, const struct rtsp_message *req, unsigned track,
                      co_usec now, struct rtsp_session **session, struct rtsp_transport *t);
/* ANNOUNCE was accepted. */
void rtsp_server_announced(struct rtsp_server *s);
/* PLAY, PAUSE or RECORD was accepted. */
void rtsp_session_did(struct rtsp_session *session, enum rtsp_method method);
/* TEARDOWN of a track (-1: of all), of a session that may be NULL. True: the session has ended and
 * is no more. */
bool rtsp_server_teardown(struct rtsp_server *s, struct rtsp_session *session, int track);

/* The begin of an answer: status, CSeq, Server, Session, and what some statuses have to tell: which
 * methods there are, which are allowed now, what is not supported. */
void rtsp_server_put(const struct rtsp_server *s, struct wr *w, int status,
                     const struct rtsp_message *req, const struct rtsp_session *session);

#endif
