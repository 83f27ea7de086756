/* SPDX-License-Identifier: MIT */
/* server.c - server side of RTSP: checks requests and keeps the sessions of a connection. */
#include "proto/rtsp/server.h"

#include "base/must.h"
#include "base/random_id.h"

#include <stdlib.h>
#include <string.h>

#define IN(state) (1u << (state))
#define ANY (IN(RTSP_INIT) | IN(RTSP_READY) | IN(RTSP_PLAYING) | IN(RTSP_RECORDING))

/* States in which each method is allowed, for a player and for a publisher; 0: never. Without a
 * session the state is RTSP_INIT. A request that needs no session may name an unknown one. */
static const struct {
    unsigned player, publisher;
    bool needs_session;
} rows[RTSP_OTHER] = {
    [RTSP_OPTIONS] = { ANY, ANY, false },
    [RTSP_DESCRIBE] = { ANY, 0, false },
    [RTSP_ANNOUNCE] = { IN(RTSP_INIT), 0, false },
    [RTSP_SETUP] = { IN(RTSP_INIT) | IN(RTSP_READY), IN(RTSP_INIT) | IN(RTSP_READY), false },
    [RTSP_PLAY] = { IN(RTSP_READY) | IN(RTSP_PLAYING), 0, true },
    [RTSP_RECORD] = { 0, IN(RTSP_READY) | IN(RTSP_RECORDING), true },
    [RTSP_PAUSE] = { IN(RTSP_READY) | IN(RTSP_PLAYING), IN(RTSP_READY) | IN(RTSP_RECORDING), true },
    [RTSP_GET_PARAMETER] = { ANY, ANY, false },
    [RTSP_SET_PARAMETER] = { ANY, ANY, false },
    [RTSP_TEARDOWN] = { ANY, ANY, true },
};

static void free_session(struct rtsp_session *session)
{
    for (unsigned i = 0; i < RTSP_TRACKS_MAX; i++)
        free(session->tracks[i].url);
    free(session);
}

void rtsp_server_fini(struct rtsp_server *s)
{
    while (s->sessions) {
        struct rtsp_session *next = s->sessions->next;

        free_session(s->sessions);
        s->sessions = next;
    }
    s->n_sessions = 0;
    s->announced = false;
}

static struct rtsp_session *session_of(const struct rtsp_server *s, const char *id)
{
    struct rtsp_session *session = s->sessions;

    while (session && strcmp(session->id, id) != 0)
        session = session->next;
    return session;
}

/* ---- finding the session */

/* A publisher has one session; TEARDOWN without a session id means the existing one. */
static struct rtsp_session *unnamed(const struct rtsp_server *s, enum rtsp_method method)
{
    bool one = method == RTSP_TEARDOWN || (method == RTSP_SETUP && s->announced);

    return one ? s->sessions : NULL;
}

/* Returns false if the request names an unknown session or lacks a required one. */
static bool find_session(const struct rtsp_server *s, const struct rtsp_message *req,
                         struct rtsp_session **out)
{
    const char *value = rtsp_message_field(req, "Session");
    char id[RTSP_SESSION_ID_MAX + 1];
    bool needs = rows[req->method].needs_session;
    int timeout;

    if (!value || !*value) {
        *out = unnamed(s, req->method);
        return *out || !needs || (req->method == RTSP_TEARDOWN && s->announced);
    }
    *out = rtsp_session_parse(value, id, &timeout) ? session_of(s, id) : NULL;
    return *out || (!needs && req->method != RTSP_SETUP);
}

static unsigned states_of(const struct rtsp_server *s, const struct rtsp_session *session,
                          enum rtsp_method method)
{
    bool record = session ? session->record : s->announced;

    return record ? rows[method].publisher : rows[method].player;
}

int rtsp_server_check(struct rtsp_server *s, const struct rtsp_message *req, co_usec now,
                      struct rtsp_session **session)
{
    enum rtsp_state state;

    *session = NULL;
    if (req->wrong)
        return req->wrong;
    if (req->method == RTSP_OTHER || !(s->rules->methods & RTSP_BIT(req->method)))
        return 501;
    if (rtsp_message_field(req, "Require") || rtsp_message_field(req, "Proxy-Require"))
        return 551; /* none of the optional features is supported */
    if (!find_session(s, req, session))
        return 454;
    if (*session)
        (*session)->last_seen = now;
    state = *session ? (*session)->state : RTSP_INIT;
    if (req->method == RTSP_ANNOUNCE && s->sessions)
        return 455; /* it already plays */
    return states_of(s, *session, req->method) & IN(state) ? 0 : 455;
}

/* ---- SETUP */

/* Checks whether another track of the session uses one of these channels. */
static bool in_use(const struct rtsp_session *session, unsigned track, struct rtsp_pair p)
{
    for (unsigned i = 0; session && i < RTSP_TRACKS_MAX; i++) {
        const struct rtsp_track *t = &session->tracks[i];

        if (t->url && i != track && (t->pair.rtp == p.rtp || t->pair.rtp == p.rtcp ||
                                     t->pair.rtcp == p.rtp || t->pair.rtcp == p.rtcp))
            return true;
    }
    return false;
}

/* Chooses the requested channels, otherwise those of the track's number, otherwise the first free
 * ones. */
static bool choose_channels(const struct rtsp_server *s, const struct rtsp_session *session,
                            unsigned track, struct rtsp_pair *p)
{
    struct rtsp_pair own = { (int)track * 2, (int)track * 2 + 1 };

    if (s->rules->own_channels && !s->announced) {
        *p = own;
        return true;
    }
    if (p->rtp >= 0 && !s->announced) /* for players, RTCP uses the channel after RTP's */
        p->rtcp = p->rtp + 1;
    if (p->rtp >= 0)
        return p->rtp != p->rtcp && p->rtcp <= 255 && !in_use(session, track, *p);
    *p = own;
    for (int c = 0; in_use(session, track, *p) && c < 256; c += 2)
        *p = (struct rtsp_pair){ c, c + 1 };
    return true;
}

/* Chooses a transport among all those offered. */
static int agree(const struct rtsp_server *s, const struct rtsp_message *req,
                 const struct rtsp_session *session, unsigned track, struct rtsp_transport *out)
{
    struct rtsp_transport offers[RTSP_OFFERS_MAX];
    struct rtsp_transport_rules rules = s->rules->transports;
    const struct rtsp_transport *best;
    const char *value = rtsp_message_field(req, "Transport");
    size_t n = 0;

    if (!value)
        return 400;
    for (unsigned from = 0; (value = rtsp_message_next(req, "Transport", &from));)
        rtsp_transport_parse(value, offers, &n);
    if (session && session->n_tracks > 0) { /* all tracks use the same transport */
        rules.tcp &= session->lower == RTSP_TCP;
        rules.udp &= session->lower == RTSP_UDP;
        rules.multicast &= session->lower == RTSP_MULTICAST;
    }
    rules.multicast &= !s->announced;
    best = rtsp_transport_choose(offers, n, &rules);
    if (!best || (best->record && !s->announced))
        return best ? 455 : 461;
    *out = rtsp_transport_none; /* a destination in the request is ignored */
    out->lower = best->lower;
    out->secure = best->secure;
    out->record = best->record;
    if (best->lower == RTSP_UDP)
        out->client_port = best->client_port;
    if (best->lower != RTSP_TCP)
        return 0;
    out->channels = best->channels;
    return choose_channels(s, session, track, &out->channels) ? 0 : 461;
}

static struct rtsp_session *add_session(struct rtsp_server *s)
{
    struct rtsp_session *session = must(calloc(1, sizeof(*session)));

    random_id(session->id, RTSP_SESSION_ID);
    session->record = s->announced;
    session->next = s->sessions;
    s->sessions = session;
    s->n_sessions++;
    return session;
}

int rtsp_server_setup(struct rtsp_server *s, const struct rtsp_message *req, unsigned track,
                      co_usec now, struct rtsp_session **session, struct rtsp_transport *t)
{
    struct rtsp_track *to;
    int status;

    if (track >= RTSP_TRACKS_MAX)
        return 404;
    status = agree(s, req, *session, track, t);
    if (status)
        return status;
    if (!*session && s->n_sessions >= RTSP_SESSIONS_MAX)
        return 453;
    if (!*session)
        *session = add_session(s);
    to = &(*session)->tracks[track];
    if (!to->url)
        (*session)->order[(*session)->n_tracks++] = (uint8_t)track;
    free(to->url);
    to->url = must_dup(req->url);
    to->pair = t->lower == RTSP_TCP ? t->channels : t->client_port;
    (*session)->lower = t->lower;
    (*session)->state = RTSP_READY;
    (*session)->last_seen = now;
    return 0;
}

/* ---- state changes */

void rtsp_server_announced(struct rtsp_server *s)
{
    s->announced = true;
}

void rtsp_session_accepted(struct rtsp_session *session, enum rtsp_method method)
{
    if (method == RTSP_PAUSE) {
        session->state = RTSP_READY;
        return;
    }
    session->state = method == RTSP_RECORD ? RTSP_RECORDING : RTSP_PLAYING;
}

static void drop_track(struct rtsp_session *session, unsigned track)
{
    unsigned n = 0;

    free(session->tracks[track].url);
    session->tracks[track].url = NULL;
    for (unsigned i = 0; i < session->n_tracks; i++) {
        if (session->order[i] != track)
            session->order[n++] = session->order[i];
    }
    session->n_tracks = n;
}

bool rtsp_server_teardown(struct rtsp_server *s, struct rtsp_session *session, int track)
{
    struct rtsp_session **at = &s->sessions;

    if (session && track >= 0 && track < RTSP_TRACKS_MAX && session->tracks[track].url &&
        session->n_tracks > 1) {
        drop_track(session, (unsigned)track);
        return false;
    }
    if (!session || session->record)
        s->announced = false;
    while (*at && *at != session)
        at = &(*at)->next;
    if (!*at)
        return true;
    *at = session->next;
    s->n_sessions--;
    free_session(session);
    return true;
}

/* ---- responses */

static void put_unsupported(struct wr *w, const struct rtsp_message *req)
{
    static const char *const names[] = { "Require", "Proxy-Require" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value;

        for (unsigned from = 0; (value = rtsp_message_next(req, names[i], &from));)
            rtsp_put_field(w, "Unsupported", value);
    }
}

static void put_allow(const struct rtsp_server *s, struct wr *w,
                      const struct rtsp_session *session)
{
    enum rtsp_state state = session ? session->state : RTSP_INIT;
    unsigned set = 0;

    for (int m = 0; m < RTSP_OTHER; m++) {
        if (states_of(s, session, (enum rtsp_method)m) & IN(state) &&
            (session || !rows[m].needs_session))
            set |= RTSP_BIT(m);
    }
    rtsp_put_name(w, "Allow");
    rtsp_methods_put(w, set & s->rules->methods);
    rtsp_put_line_end(w);
}

void rtsp_server_put(const struct rtsp_server *s, struct wr *w, int status,
                     const struct rtsp_message *req, const struct rtsp_session *session)
{
    rtsp_put_status(w, status, req->cseq);
    if (s->rules->name)
        rtsp_put_field(w, "Server", s->rules->name);
    if (session)
        rtsp_put_format(w, "Session", "%s;timeout=%d", session->id, s->rules->timeout);
    if (status == 501 || (status == 200 && req->method == RTSP_OPTIONS)) {
        rtsp_put_name(w, "Public");
        rtsp_methods_put(w, s->rules->methods);
        rtsp_put_line_end(w);
    }
    if (status == 455)
        put_allow(s, w, session);
    if (status == 551)
        put_unsupported(w, req);
}
