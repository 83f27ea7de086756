/* SPDX-License-Identifier: MIT */
/* agree.c - what an offer and we agree on: sections, BUNDLE, ICE, DTLS, extensions. RFC 8829,
 * section 5.3.1. Codecs are chosen in choose.c. */
#include "proto/sdp/agree.h"

#include "proto/sdp/choose.h"
#include "proto/sdp/words.h"

#include <stdio.h>

/* RFC 8839, section 5.4. */
enum { UFRAG_MIN = 4, PWD_MIN = 22, EXT_ID_MAX = 14 };

static bool copy(char *out, size_t room, const char *text)
{
    size_t n = strlen(text);

    if (n >= room)
        return false;
    memcpy(out, text, n + 1);
    return true;
}

/* ---- places */

static bool is_secure(const char *proto)
{
    static const char *const names[] = { "UDP/TLS/RTP/SAVPF", "TCP/TLS/RTP/SAVPF",
                                         "TCP/DTLS/RTP/SAVPF", "UDP/TLS/RTP/SAVP",
                                         "TCP/TLS/RTP/SAVP", "TCP/DTLS/RTP/SAVP" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcasecmp(proto, names[i]) == 0)
            return true;
    }
    return false;
}

static bool is_usable(const struct sdp_section *s, bool publish)
{
    return (s->kind == SDP_VIDEO || s->kind == SDP_AUDIO) && (s->port != 0 || s->bundle_only) &&
           is_secure(s->proto) && s->n_types > 0 &&
           (s->direction == SDP_SENDRECV ||
            s->direction == (publish ? SDP_SENDONLY : SDP_RECVONLY));
}

static err_t place_all(struct sdp_agreed *out, const struct sdp_offer *o)
{
    out->n = o->n;
    for (unsigned i = 0; i < o->n; i++) {
        const struct sdp_section *s = &o->sections[i];
        struct sdp_place *p = &out->places[i];

        p->kind = s->kind;
        p->bundled = s->bundled;
        p->type = s->n_types > 0 ? s->types[0].type : 0;
        if (!copy(p->mid, sizeof(p->mid), s->mid) || !copy(p->proto, sizeof(p->proto), s->proto) ||
            !copy(p->media, sizeof(p->media), s->media))
            return err_new(ERR_RTC_SDP, "a mid, media or protocol of section %u is too long", i);
    }
    return NULL;
}

/* ---- a track */

static void take_sources(struct sdp_track *t, const struct sdp_section *s)
{
    for (unsigned i = 0; i < s->n_rids; i++) {
        if (copy(t->rids[t->n_rids], sizeof(t->rids[0]), s->rids[i]))
            t->n_rids++;
    }
    if (t->n_rids > 0) /* sources are known by their rid alone */
        return;
    if (s->rtx[0] != 0) {
        t->ssrc = s->rtx[0];
        t->rtx_ssrc = s->rtx[1];
    } else if (s->n_ssrcs > 0) {
        t->ssrc = s->ssrcs[0];
    }
}

/* What the offer has and is of use in that direction; ids that fit the short form alone. */
static void take_extensions(struct sdp_track *t, const struct sdp_section *s,
                            const struct sdp_wish *w)
{
    for (int e = 0; e < SDP_EXTS; e++) {
        if (s->ext[e] <= EXT_ID_MAX)
            t->ext[e] = s->ext[e];
    }
    if (!w->publish)
        t->ext[SDP_EXT_RID] = t->ext[SDP_EXT_RRID] = 0;
    if (!(t->feedback & SDP_FB_TWCC))
        t->ext[SDP_EXT_TWCC] = 0;
    if (!w->playout_delay)
        t->ext[SDP_EXT_PLAYOUT_DELAY] = 0;
}

static err_t take(struct sdp_agreed *out, unsigned at, const struct sdp_section *s,
                  const struct sdp_wish *w)
{
    unsigned kind = s->kind == SDP_VIDEO ? AV_VIDEO : AV_AUDIO;
    struct sdp_track *t = &out->tracks[kind];
    err_t err = sdp_choose(t, s, w);

    if (err && w->none[kind] && err_code(err) == ERR_RTC_NEGOTIATE) {
        err_free(&err); /* it would be inactive anyway */
        return NULL;
    }
    if (err)
        return err;
    if (!s->rtcp_mux)
        return err_new(ERR_RTC_SDP, "section %u has no a=rtcp-mux", at);
    t->on = !w->none[kind];
    memcpy(t->mid, out->places[at].mid, sizeof(t->mid));
    take_extensions(t, s, w);
    if (w->publish)
        take_sources(t, s);
    out->places[at].taken = true;
    out->places[at].track = (uint8_t)kind;
    return NULL;
}

/* The first of each kind that can be; others are rejected. */
static err_t take_tracks(struct sdp_agreed *out, const struct sdp_offer *o,
                         const struct sdp_wish *w)
{
    bool tried[SDP_TRACKS] = { false };
    unsigned taken = 0;
    err_t err = NULL;

    for (unsigned i = 0; i < o->n && !err; i++) {
        const struct sdp_section *s = &o->sections[i];
        unsigned kind = s->kind == SDP_VIDEO ? AV_VIDEO : AV_AUDIO;

        if (!is_usable(s, w->publish) || tried[kind])
            continue;
        tried[kind] = true;
        err = take(out, i, s, w);
        taken += out->places[i].taken;
    }
    if (!err && taken == 0)
        err = err_new(ERR_RTC_SDP, "no section that %s", w->publish ? "sends" : "receives");
    return err;
}

/* ---- the transport that all of them share */

/* RFC 8843, section 7.3: all that is used is in one group; one alone needs none. */
static err_t check_bundle(const struct sdp_agreed *out)
{
    unsigned taken = 0, bundled = 0;

    for (unsigned i = 0; i < out->n; i++) {
        taken += out->places[i].taken;
        bundled += out->places[i].taken && out->places[i].bundled;
    }
    return taken > 1 && bundled < taken ? err_new(ERR_RTC_SDP, "sections are not all in BUNDLE")
                                        : NULL;
}

/* Of the first section that is taken and has it; else of any: of the one that the group is named
 * by, if that is rejected. */
static const char *of_transport(const struct sdp_agreed *out, const struct sdp_offer *o,
                                const char *(*get)(const struct sdp_section *s))
{
    for (int taken = 1; taken >= 0; taken--) {
        for (unsigned i = 0; i < o->n; i++) {
            const char *text = get(&o->sections[i]);

            if (text[0] && out->places[i].taken == taken)
                return text;
        }
    }
    return "";
}

static const char *get_ufrag(const struct sdp_section *s) { return s->ufrag; }
static const char *get_pwd(const struct sdp_section *s) { return s->pwd; }
static const char *get_fingerprint(const struct sdp_section *s) { return s->fingerprint; }

static err_t take_ice(struct sdp_agreed *out, const struct sdp_offer *o)
{
    const char *ufrag = of_transport(out, o, get_ufrag), *pwd = of_transport(out, o, get_pwd);

    if (strlen(ufrag) < UFRAG_MIN || strchr(ufrag, ':') ||
        !copy(out->peer_ufrag, sizeof(out->peer_ufrag), ufrag))
        return err_new(ERR_RTC_SDP, "a=ice-ufrag is missing or wrong");
    if (strlen(pwd) < PWD_MIN || !copy(out->peer_pwd, sizeof(out->peer_pwd), pwd))
        return err_new(ERR_RTC_SDP, "a=ice-pwd is missing or wrong");
    return NULL;
}

static err_t take_dtls(struct sdp_agreed *out, const struct sdp_offer *o, bool active)
{
    const char *fingerprint = of_transport(out, o, get_fingerprint);
    enum sdp_setup setup = SDP_SETUP_NONE;

    for (unsigned i = 0; i < o->n && setup == SDP_SETUP_NONE; i++) {
        if (out->places[i].taken)
            setup = o->sections[i].setup;
    }
    if (!dtls_fingerprint_parse(&out->fingerprint, fingerprint, strlen(fingerprint)))
        return err_new(ERR_RTC_SDP, "a=fingerprint is missing, wrong, or of another digest than "
                       "sha-256, sha-384, sha-512");
    if (setup == SDP_HOLDCONN)
        return err_new(ERR_RTC_SDP, "a=setup:holdconn");
    out->active = setup == SDP_PASSIVE || (setup == SDP_ACTPASS && active);
    return NULL;
}

err_t sdp_agree(struct sdp_agreed *out, const struct sdp_offer *o, const struct sdp_wish *wish)
{
    err_t err;

    memset(out, 0, sizeof(*out));
    out->publish = wish->publish;
    out->mixed = o->mixed;
    err = place_all(out, o);
    if (!err)
        err = take_tracks(out, o, wish);
    if (!err)
        err = check_bundle(out);
    if (!err)
        err = take_ice(out, o);
    if (!err)
        err = take_dtls(out, o, wish->dtls_active);
    return err;
}
