/* SPDX-License-Identifier: MIT */
/* agree.c - negotiation with a WebRTC client: codecs, sections, BUNDLE, ICE, DTLS, extensions. RFC
 * 8829, section 5.3.1.
 */
#include "proto/sdp/agree.h"

#include "proto/sdp/tokens.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- choosing one payload type of a section: the codec by our order or by the stream, then the
 * best type of this codec. RFC 6184 section 8.2, RFC 7587 section 7, RFC 4588 section 8. */

enum { ORDER_MAX = 5, NO = -1, VIDEO_CLOCK = 90000, G711_CLOCK = 8000 };

static const enum av_codec order[SDP_TRACKS][ORDER_MAX] = {
    [AV_VIDEO] = { AV_H264, AV_H265, AV_AV1, AV_VP9, AV_VP8 },
    [AV_AUDIO] = { AV_OPUS, AV_G711U, AV_G711A },
};

static uint32_t clock_of(enum av_codec codec)
{
    uint32_t clock = av_codec_row(codec)->rtp.clock;

    if (av_codec_row(codec)->kind == AV_VIDEO)
        return VIDEO_CLOCK;
    return clock ? clock : G711_CLOCK;
}

static bool is_of(const struct sdp_type *t, enum av_codec codec)
{
    const struct av_codec_row *row = av_codec_row(codec);

    if (!t->name[0])
        return row->rtp.fixed && row->rtp.type == t->type;
    if (t->clock != clock_of(codec) || (row->kind == AV_AUDIO && t->channels > 2))
        return false;
    for (int i = 0; i < 2; i++) {
        if (row->rtp.names[i] && strcasecmp(row->rtp.names[i], t->name) == 0)
            return true;
    }
    return !row->rtp.names[0] && strcasecmp(row->name, t->name) == 0;
}

/* ---- choosing among several types of a codec: the one with the highest score, and the first of
 * equals */

enum h264_class { H264_ANY, H264_CONSTRAINED, H264_BASELINE, H264_MAIN, H264_HIGH, H264_CLASSES };

/* RFC 6184, table 5; constraint_set1: a Main decoder can decode it too. */
static enum h264_class class_of(unsigned idc, unsigned constraints)
{
    switch (idc) {
    case 0x42:
        return constraints & 0x40 ? H264_CONSTRAINED : H264_BASELINE;
    case 0x4d:
        return constraints & 0x80 ? H264_CONSTRAINED : H264_MAIN;
    case 0x64:
        return H264_HIGH;
    default:
        return H264_ANY;
    }
}

static int score_h264(const struct sdp_type *t, const struct sdp_spec *w)
{
    /* Score by the stream's profile and the type's profile. */
    static const uint8_t likes[H264_CLASSES][H264_CLASSES] = {
        [H264_ANY] = { [H264_CONSTRAINED] = 4, [H264_BASELINE] = 3 },
        [H264_CONSTRAINED] = { 0, 4, 3, 2, 1 },
        [H264_BASELINE] = { 0, 3, 4, 2, 1 },
        [H264_MAIN] = { 0, 2, 1, 4, 3 },
        [H264_HIGH] = { 0, 2, 1, 3, 4 },
    };
    const char *mode = sdp_param(t->fmtp, "packetization-mode");
    const char *profile = sdp_param(t->fmtp, "profile-level-id");
    const char *levels = sdp_param(t->fmtp, "level-asymmetry-allowed");
    unsigned long id = profile ? strtoul(profile, NULL, 16) : 0x42e01f;
    enum h264_class stream = w->profile[0] ? class_of(w->profile[0], w->profile[1]) : H264_ANY;
    enum h264_class type = class_of(id >> 16 & 0xff, id >> 8 & 0xff);

    if (mode && mode[0] != '0' && mode[0] != '1')
        return NO; /* interleaved mode is not supported */
    return (mode && mode[0] == '1' ? 100 : 0) + likes[stream][type] * 10 +
           (levels && levels[0] == '1');
}

/* A missing parameter has the default value, which all support. */
static bool has_value(const struct sdp_type *t, const char *name, const char *value)
{
    const char *given = sdp_param(t->fmtp, name);

    return !given || strncasecmp(given, value, strlen(value)) == 0;
}

static int score_of(const struct sdp_type *t, enum av_codec codec, const struct sdp_spec *w)
{
    if (!is_of(t, codec) || strlen(t->fmtp) >= SDP_FMTP_MAX)
        return NO;
    switch (codec) {
    case AV_H264:
        return score_h264(t, w);
    case AV_H265:
        return has_value(t, "tx-mode", "SRST") ? has_value(t, "profile-id", "1") : NO;
    case AV_AV1:
        return has_value(t, "profile", "0");
    case AV_VP9:
        return has_value(t, "profile-id", "0");
    default:
        return 0;
    }
}

static const struct sdp_type *best_of(const struct sdp_section *s, enum av_codec codec,
                                      const struct sdp_spec *w)
{
    const struct sdp_type *best = NULL;
    int most = NO;

    for (unsigned i = 0; i < s->n_types; i++) {
        int score = score_of(&s->types[i], codec, w);

        if (score > most) {
            most = score;
            best = &s->types[i];
        }
    }
    return best;
}

/* ---- properties of the chosen type */

static unsigned feedback_of(const struct sdp_type *t, const struct sdp_spec *w)
{
    unsigned fb = t->feedback;

    if (!w->nack)
        fb &= ~(unsigned)SDP_FB_NACK;
    if (!w->twcc)
        fb &= ~(unsigned)SDP_FB_TWCC;
    if (!w->publish || fb & SDP_FB_TWCC)
        fb &= ~(unsigned)SDP_FB_REMB;
    if (w->publish) /* the sender has its own sender reports */
        fb &= ~(unsigned)SDP_FB_RRTR;
    return fb;
}

static uint8_t rtx_of(const struct sdp_section *s, const struct sdp_type *t)
{
    for (unsigned i = 0; i < s->n_types; i++) {
        if (s->types[i].apt == t->type && strcasecmp(s->types[i].name, "rtx") == 0)
            return s->types[i].type;
    }
    return 0;
}

static bool is_one(const char *fmtp, const char *name)
{
    const char *value = sdp_param(fmtp, name);

    return value && value[0] == '1';
}

static void add_param(char fmtp[SDP_FMTP_MAX], const char *name)
{
    size_t n = strlen(fmtp);

    if (!sdp_param(fmtp, name) && n + strlen(name) + sizeof(";=1") <= SDP_FMTP_MAX)
        (void)snprintf(fmtp + n, SDP_FMTP_MAX - n, "%s%s=1", n ? ";" : "", name);
}

/* Announces stereo Opus, because browsers mix it down otherwise. */
static void choose_stereo(struct sdp_track *t, const struct sdp_spec *w)
{
    t->stereo = is_one(t->fmtp, "stereo") || is_one(t->fmtp, "sprop-stereo") ||
                (!w->publish && w->channels == 2);
    if (!t->fmtp[0])
        (void)snprintf(t->fmtp, sizeof(t->fmtp), "minptime=10;useinbandfec=1");
    if (t->stereo) {
        add_param(t->fmtp, "stereo");
        add_param(t->fmtp, "sprop-stereo");
    }
}

static void set_type(struct sdp_track *t, const struct sdp_section *s, const struct sdp_type *type,
                     enum av_codec codec, const struct sdp_spec *w)
{
    const char *mode = sdp_param(type->fmtp, "packetization-mode");

    t->codec = codec;
    t->type = type->type;
    t->clock = clock_of(codec);
    t->channels = codec == AV_OPUS ? 2 : av_codec_row(codec)->kind == AV_AUDIO;
    t->feedback = feedback_of(type, w);
    t->rtx_type = t->feedback & SDP_FB_NACK && !w->no_rtx ? rtx_of(s, type) : 0;
    t->mode = codec == AV_H264 && mode && mode[0] == '1';
    (void)snprintf(t->fmtp, sizeof(t->fmtp), "%s", type->fmtp);
    if (codec == AV_OPUS)
        choose_stereo(t, w);
}

/* ---- error if no type fits */

struct list {
    char text[200];
    size_t n;
};

static void add_name(struct list *l, const char *name)
{
    int more;

    if (!name[0] || strstr(l->text, name) || l->n >= sizeof(l->text))
        return;
    more = snprintf(l->text + l->n, sizeof(l->text) - l->n, "%s%s", l->n ? ", " : "", name);
    l->n += more > 0 ? (size_t)more : 0;
}

static err_t none_fits(const struct sdp_section *s, enum av_codec wanted, const struct sdp_spec *w)
{
    unsigned kind = s->kind == SDP_VIDEO ? AV_VIDEO : AV_AUDIO;
    struct list theirs = { .text = "" }, ours = { .text = "" };

    for (unsigned i = 0; i < s->n_types; i++)
        add_name(&theirs, s->types[i].name);
    for (int i = 0; i < ORDER_MAX && !wanted; i++)
        add_name(&ours, order[kind][i] ? av_codec_name(order[kind][i]) : "");
    if (wanted)
        add_name(&ours, av_codec_name(wanted));
    return err_new(ERR_RTC_NEGOTIATE, "%s: %s %s, the offer has %s", s->media,
                   w->publish ? "we accept" : "the stream has", ours.text,
                   theirs.text[0] ? theirs.text : "none");
}

/* Chooses a payload type and sets the fields that depend on it. ERR_RTC_NEGOTIATE: none fits; the
 * text names the codecs of both sides. */
static err_t sdp_choose(struct sdp_track *t, const struct sdp_section *s, const struct sdp_spec *w)
{
    unsigned kind = s->kind == SDP_VIDEO ? AV_VIDEO : AV_AUDIO;
    enum av_codec wanted = w->none[kind] ? AV_CODEC_NONE : w->codec[kind];

    for (int i = 0; i < ORDER_MAX && order[kind][i]; i++) {
        const struct sdp_type *type;

        if (wanted && wanted != order[kind][i])
            continue;
        type = best_of(s, order[kind][i], w);
        if (type) {
            set_type(t, s, type, order[kind][i], w);
            return NULL;
        }
    }
    return none_fits(s, wanted, w);
}

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

/* ---- sections */

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

static err_t copy_sections(struct sdp_agreed *out, const struct sdp_offer *o)
{
    out->n = o->n;
    for (unsigned i = 0; i < o->n; i++) {
        const struct sdp_section *s = &o->sections[i];
        struct sdp_answer_section *p = &out->sections[i];

        p->kind = s->kind;
        p->bundled = s->bundled;
        p->type = s->n_types > 0 ? s->types[0].type : 0;
        if (!copy(p->mid, sizeof(p->mid), s->mid) || !copy(p->proto, sizeof(p->proto), s->proto) ||
            !copy(p->media, sizeof(p->media), s->media))
            return err_new(ERR_RTC_SDP, "a mid, media or protocol of section %u is too long", i);
    }
    return NULL;
}

/* ---- tracks */

static void take_sources(struct sdp_track *t, const struct sdp_section *s)
{
    for (unsigned i = 0; i < s->n_rids; i++) {
        if (copy(t->rids[t->n_rids], sizeof(t->rids[0]), s->rids[i]))
            t->n_rids++;
    }
    if (t->n_rids > 0) /* simulcast sources are identified only by their rid */
        return;
    if (s->rtx[0] != 0) {
        t->ssrc = s->rtx[0];
        t->rtx_ssrc = s->rtx[1];
    } else if (s->n_ssrcs > 0) {
        t->ssrc = s->ssrcs[0];
    }
}

/* Accepts the offered extensions that are useful in this direction and whose ids fit the one-byte
 * header. */
static void take_extensions(struct sdp_track *t, const struct sdp_section *s,
                            const struct sdp_spec *w)
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
                  const struct sdp_spec *w)
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
    memcpy(t->mid, out->sections[at].mid, sizeof(t->mid));
    take_extensions(t, s, w);
    if (w->publish)
        take_sources(t, s);
    out->sections[at].taken = true;
    out->sections[at].track = (uint8_t)kind;
    return NULL;
}

/* Accepts the first possible section of each kind; the others are rejected. */
static err_t take_tracks(struct sdp_agreed *out, const struct sdp_offer *o,
                         const struct sdp_spec *w)
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
        taken += out->sections[i].taken;
    }
    if (!err && taken == 0)
        err = err_new(ERR_RTC_SDP, "no section that %s", w->publish ? "sends" : "receives");
    return err;
}

/* ---- the common transport */

/* RFC 8843, section 7.3: all accepted sections must be in one group; a single one needs none. */
static err_t check_bundle(const struct sdp_agreed *out)
{
    unsigned taken = 0, bundled = 0;

    for (unsigned i = 0; i < out->n; i++) {
        taken += out->sections[i].taken;
        bundled += out->sections[i].taken && out->sections[i].bundled;
    }
    return taken > 1 && bundled < taken ? err_new(ERR_RTC_SDP, "sections are not all in BUNDLE")
                                        : NULL;
}

/* Returns the attribute of the first accepted section that has it; otherwise of any section,
 * because the section that the group is named after may be rejected. */
static const char *of_transport(const struct sdp_agreed *out, const struct sdp_offer *o,
                                const char *(*get)(const struct sdp_section *s))
{
    for (int taken = 1; taken >= 0; taken--) {
        for (unsigned i = 0; i < o->n; i++) {
            const char *text = get(&o->sections[i]);

            if (text[0] && out->sections[i].taken == taken)
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
        return err_new(ERR_RTC_SDP, "a=ice-ufrag is missing or invalid");
    if (strlen(pwd) < PWD_MIN || !copy(out->peer_pwd, sizeof(out->peer_pwd), pwd))
        return err_new(ERR_RTC_SDP, "a=ice-pwd is missing or invalid");
    return NULL;
}

static err_t take_dtls(struct sdp_agreed *out, const struct sdp_offer *o, bool active)
{
    const char *fingerprint = of_transport(out, o, get_fingerprint);
    enum sdp_setup setup = SDP_SETUP_NONE;

    for (unsigned i = 0; i < o->n && setup == SDP_SETUP_NONE; i++) {
        if (out->sections[i].taken)
            setup = o->sections[i].setup;
    }
    if (!dtls_fingerprint_parse(&out->fingerprint, fingerprint, strlen(fingerprint)))
        return err_new(ERR_RTC_SDP, "a=fingerprint is missing, invalid, or its digest is not "
                       "sha-256, sha-384 or sha-512");
    if (setup == SDP_HOLDCONN)
        return err_new(ERR_RTC_SDP, "a=setup:holdconn");
    out->active = setup == SDP_PASSIVE || (setup == SDP_ACTPASS && active);
    return NULL;
}

err_t sdp_agree(struct sdp_agreed *out, const struct sdp_offer *o, const struct sdp_spec *spec)
{
    err_t err;

    memset(out, 0, sizeof(*out));
    out->publish = spec->publish;
    out->mixed = o->mixed;
    err = copy_sections(out, o);
    if (!err)
        err = take_tracks(out, o, spec);
    if (!err)
        err = check_bundle(out);
    if (!err)
        err = take_ice(out, o);
    if (!err)
        err = take_dtls(out, o, spec->dtls_active);
    return err;
}
