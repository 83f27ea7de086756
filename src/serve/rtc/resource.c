/* SPDX-License-Identifier: MIT */
/* resource.c - later requests for a session: DELETE; PATCH with candidates or an ICE restart, RFC
 * 9725 sections 4.2 and 4.3; GET of its status. */
#include "base/jput.h"
#include "base/log.h"
#include "base/must.h"
#include "base/random_id.h"
#include "serve/rtc/impl.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESTARTS = 5 }; /* ICE restarts per second */

/* ---- lookup */

/* Finds a session by the name in its Location; NULL: ended. Untrusted clients may call this at any
 * rate: it is one table lookup. */
static struct rtc_peer *find(const struct rtc_service *s, const char *session)
{
    struct rtc_peer *p = rtc_table_named(&s->table, RTC_NAME_LOCATION, session,
                                         strcspn(session, ":"));

    return p && p->base.state != DATAGRAM_ADMITTING && p->base.state != DATAGRAM_ENDING ? p : NULL;
}

static bool is_its(const struct rtc_peer *p, const char *token)
{
    return strlen(token) == RTC_TOKEN && CRYPTO_memcmp(p->token, token, RTC_TOKEN) == 0;
}

/* ---- PATCH */

static void restart(struct rtc_service *s, struct rtc_peer *p, const struct sdp_fragment *f)
{
    rtc_table_unname(&s->table, &p->name);
    rtc_new_ufrag(s, &p->ice);
    (void)snprintf(p->ice.peer_ufrag, sizeof(p->ice.peer_ufrag), "%s", f->ufrag);
    (void)snprintf(p->agreed.peer_ufrag, sizeof(p->agreed.peer_ufrag), "%s", f->ufrag);
    (void)snprintf(p->agreed.peer_pwd, sizeof(p->agreed.peer_pwd), "%s", f->pwd);
    p->ice.nominated = false; /* media keep their path until the client nominates again */
    random_id(p->etag, 8);
    rtc_table_name(&s->table, &p->name, p, p->ice.ufrag);
}

static void answer_restart(struct rtc_service *s, struct rtc_request *req)
{
    struct sdp_candidate candidates[SDP_CANDIDATES_MAX];
    struct sdp_answer ours = { .candidates = candidates,
                               .n_candidates = rtc_candidates(s, req, candidates) };
    struct rtc_peer *p = find(s, req->session); /* the code before may have yielded */
    struct wr w;

    if (!p) {
        req->status = 404;
        return;
    }
    restart(s, p, &req->fragment);
    wr_init(&w, RTC_ANSWER_MAX);
    ours.ufrag = p->ice.ufrag;
    ours.pwd = p->ice.pwd;
    sdp_fragment_write(&w, &p->agreed, &ours);
    req->status = 200;
    req->answer = (char *)w.buf;
    req->answer_size = w.len;
    (void)snprintf(req->etag, sizeof(req->etag), "%s", p->etag);
    log_trace("RTC: session %s restarts ICE as %s:%s", p->ufrag, p->ice.ufrag, p->ice.peer_ufrag);
}

static void patch(struct rtc_service *s, struct rtc_request *req, struct rtc_peer *p)
{
    const char *ufrag = req->fragment.ufrag;

    if (*req->etag && strcmp(req->etag, p->etag) != 0 && strcmp(req->etag, "*") != 0)
        req->status = 412;
    else if (!*ufrag || strcmp(ufrag, p->ice.peer_ufrag) == 0)
        req->status = 204; /* candidates: we only wait for the client's checks */
    else if (!rtc_rate_take(&p->restarts, RESTARTS, co_now()))
        req->status = 503;
    else
        answer_restart(s, req);
}

/* ---- GET */

/* Writes the status that a client cannot know: the server's side. */
static void answer_status(struct rtc_request *req, const struct rtc_peer *p)
{
    struct rtc_client_stat info;
    struct jput j = { 0 };
    struct wr w;

    if (!rtc_client_detail.read(&p->base.session, &info)) {
        req->status = 404;
        return;
    }
    wr_init(&w, RTC_ANSWER_MAX);
    j.w = &w;
    jput_open(&j, NULL, '{');
    jput_text(&j, "state", info.state);
    jput_text(&j, "video", info.video);
    jput_text(&j, "audio", info.audio);
    if (*info.video_left_out)
        jput_text(&j, "video_left_out", info.video_left_out);
    jput_close(&j, '}');
    req->status = 200;
    req->answer = (char *)w.buf;
    req->answer_size = w.len;
}

/* ---- */

void rtc_resource(struct rtc_service *s, struct rtc_request *req)
{
    struct rtc_peer *p = find(s, req->session);

    if (p && !is_its(p, req->token)) {
        req->status = 403;
        req->text = must_dup("the token is not that of this session");
    } else if (req->kind == RTC_REQUEST_RESTART && p) {
        patch(s, req, p);
    } else if (req->kind == RTC_REQUEST_STATUS && p) {
        answer_status(req, p);
    } else if (req->kind != RTC_REQUEST_DELETE) {
        req->status = 404;
    } else {
        req->status = 200;
        if (p)
            datagram_client_close(&p->base, err_new(ERR_RTC_GONE, "%s asked for it by DELETE",
                                                    p->base.ip));
    }
}
