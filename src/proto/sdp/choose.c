/* SPDX-License-Identifier: MIT */
/* choose.c - one payload type of a section: the codec by our order or by what the stream has, then
 * the best type of that codec. RFC 6184 section 8.2, RFC 7587 section 7, RFC 4588 section 8. */
#include "proto/sdp/choose.h"

#include "proto/sdp/words.h"

#include <stdio.h>
#include <stdlib.h>

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

/* ---- which of several types of a codec: the one with the highest score, of those the first */

enum h264_class { H264_ANY, H264_CONSTRAINED, H264_BASELINE, H264_MAIN, H264_HIGH, H264_CLASSES };

/* RFC 6184, table 5; constraint_set1: what a decoder of Main can as well. */
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

static int score_h264(const struct sdp_type *t, const struct sdp_wish *w)
{
    /* By what the stream is, and what the type says. */
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
        return NO; /* interleaved */
    return (mode && mode[0] == '1' ? 100 : 0) + likes[stream][type] * 10 +
           (levels && levels[0] == '1');
}

/* What is not said is the value that all have. */
static bool says(const struct sdp_type *t, const char *name, const char *value)
{
    const char *said = sdp_param(t->fmtp, name);

    return !said || strncasecmp(said, value, strlen(value)) == 0;
}

static int score_of(const struct sdp_type *t, enum av_codec codec, const struct sdp_wish *w)
{
    if (!is_of(t, codec) || strlen(t->fmtp) >= SDP_FMTP_MAX)
        return NO;
    switch (codec) {
    case AV_H264:
        return score_h264(t, w);
    case AV_H265:
        return says(t, "tx-mode", "SRST") ? says(t, "profile-id", "1") : NO;
    case AV_AV1:
        return says(t, "profile", "0");
    case AV_VP9:
        return says(t, "profile-id", "0");
    default:
        return 0;
    }
}

static const struct sdp_type *best_of(const struct sdp_section *s, enum av_codec codec,
                                      const struct sdp_wish *w)
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

/* ---- what is of that type */

static unsigned feedback_of(const struct sdp_type *t, const struct sdp_wish *w)
{
    unsigned fb = t->feedback;

    if (!w->nack)
        fb &= ~(unsigned)SDP_FB_NACK;
    if (!w->twcc)
        fb &= ~(unsigned)SDP_FB_TWCC;
    if (!w->publish || fb & SDP_FB_TWCC)
        fb &= ~(unsigned)SDP_FB_REMB;
    if (w->publish) /* who sends knows it by reports */
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
    const char *said = sdp_param(fmtp, name);

    return said && said[0] == '1';
}

static void add_param(char fmtp[SDP_FMTP_MAX], const char *name)
{
    size_t n = strlen(fmtp);

    if (!sdp_param(fmtp, name) && n + strlen(name) + sizeof(";=1") <= SDP_FMTP_MAX)
        (void)snprintf(fmtp + n, SDP_FMTP_MAX - n, "%s%s=1", n ? ";" : "", name);
}

/* What of Opus is stereo is said, or browsers mix it down. */
static void choose_stereo(struct sdp_track *t, const struct sdp_wish *w)
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
                     enum av_codec codec, const struct sdp_wish *w)
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

/* ---- none fits */

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

static err_t none_fits(const struct sdp_section *s, enum av_codec wanted, const struct sdp_wish *w)
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
                   w->publish ? "we take" : "there is", ours.text,
                   theirs.text[0] ? theirs.text : "none");
}

err_t sdp_choose(struct sdp_track *t, const struct sdp_section *s, const struct sdp_wish *w)
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
