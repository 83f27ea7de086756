/* SPDX-License-Identifier: MIT */
/* resource.c - what is asked of a session later: its end (DELETE), candidates or a restart of ICE
 * (PATCH), RFC 9725 sections 4.2 and 4.3; and its status (GET). */
#include "base/jput.h"
#include "base/log.h"
#include "base/must.h"
#include "base/random_id.h"
#include "serve/rtc/impl.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESTARTS = 5 }; /* of ICE, in a second */

/* ---- which session */

/* By the name that its first answer gave it; NULL: it is gone. Strangers may ask as often as they
 * like: it is a look into a table. */
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
    p->ice.nominated = false; /* media stay where they are until it nominates again */
    random_id(p->etag, 8);
    rtc_table_name(&s->table, &p->name, p, p->ice.ufrag);
}

static void answer_restart(struct rtc_service *s, struct rtc_ask *ask)
{
    struct sdp_candidate candidates[SDP_CANDIDATES_MAX];
    struct sdp_answer ours = { .candidates = candidates,
                               .n_candidates = rtc_candidates(s, ask, candidates) };
    struct rtc_peer *p = find(s, ask->session); /* that may have yielded */
    struct wr w;

    if (!p) {
        ask->status = 404;
        return;
    }
    restart(s, p, &ask->fragment);
    wr_init(&w, RTC_ANSWER_MAX);
    ours.ufrag = p->ice.ufrag;
    ours.pwd = p->ice.pwd;
    sdp_fragment_write(&w, &p->agreed, &ours);
    ask->status = 200;
    ask->answer = (char *)w.buf;
    ask->answer_size = w.len;
    (void)snprintf(ask->etag, sizeof(ask->etag), "%s", p->etag);
    log_trace("RTC: session %s restarts ICE as %s:%s", p->ufrag, p->ice.ufrag, p->ice.peer_ufrag);
}

static void patch(struct rtc_service *s, struct rtc_ask *ask, struct rtc_peer *p)
{
    const char *ufrag = ask->fragment.ufrag;

    if (*ask->etag && strcmp(ask->etag, p->etag) != 0 && strcmp(ask->etag, "*") != 0)
        ask->status = 412;
    else if (!*ufrag || strcmp(ufrag, p->ice.peer_ufrag) == 0)
        ask->status = 204; /* candidates: it is its checks that we wait for */
    else if (!rtc_rate_take(&p->restarts, RESTARTS, co_now()))
        ask->status = 503;
    else
        answer_restart(s, ask);
}

/* ---- GET */

/* What its client cannot know: the server's part. */
static void answer_status(struct rtc_ask *ask, const struct rtc_peer *p)
{
    struct rtc_client_stat info;
    struct jput j = { 0 };
    struct wr w;

    if (!rtc_client_detail.read(&p->base.session, &info)) {
        ask->status = 404;
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
    ask->status = 200;
    ask->answer = (char *)w.buf;
    ask->answer_size = w.len;
}

/* ---- */

void rtc_resource(struct rtc_service *s, struct rtc_ask *ask)
{
    struct rtc_peer *p = find(s, ask->session);

    if (p && !is_its(p, ask->token)) {
        ask->status = 403;
        ask->text = must_dup("the token is not that of this session");
    } else if (ask->kind == RTC_ASK_RESTART && p) {
        patch(s, ask, p);
    } else if (ask->kind == RTC_ASK_STATUS && p) {
        answer_status(ask, p);
    } else if (ask->kind != RTC_ASK_DELETE) {
        ask->status = 404;
    } else {
        ask->status = 200;
        if (p)
            datagram_client_close(&p->base, err_new(ERR_RTC_GONE, "%s asked for it by DELETE",
                                                    p->base.ip));
    }
}
