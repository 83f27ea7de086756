/* SPDX-License-Identifier: MIT */
/* flv_tags.c - the tags of an FLV file, with few and small reads. */
#include "format/demux/flv_impl.h"

#include <string.h>

enum {
    BODY_BEGIN = 64, /* first bytes, usually enough to identify a body */
    LOOK_BACK = 64,  /* most tags between two audio tags */
};

void demux_flv_tags(struct flv_tags *t, const struct demux_input *in, int64_t at, int64_t end)
{
    t->in = in;
    t->at = at;
    t->end = end;
    t->have_at = 0;
    t->have = 0;
}

/* Gives bytes at an offset, at most FLV_TAGS_BUFFER, all within the file. */
static enum demux_status look(struct flv_tags *t, int64_t at, size_t size, const uint8_t **out)
{
    int64_t most = t->end - at;
    enum demux_status st;

    if (at < t->have_at || at + (int64_t)size > t->have_at + (int64_t)t->have) {
        t->have = 0;
        st = t->in->read(t->in, at, t->buf,
                        most < FLV_TAGS_BUFFER ? (size_t)most : FLV_TAGS_BUFFER);
        if (st != DEMUX_OK)
            return st;
        t->have_at = at;
        t->have = most < FLV_TAGS_BUFFER ? (size_t)most : FLV_TAGS_BUFFER;
    }
    *out = t->buf + (at - t->have_at);
    return DEMUX_OK;
}

static bool is_type(uint8_t type)
{
    return type == FLV_AUDIO || type == FLV_VIDEO || type == FLV_DATA || type == FLV_DATA_AMF3;
}

/* Parses the first bytes of a body. For a body with many tracks they give only its kind. */
static bool parse(struct flv_body *b, const struct flv_seen *seen, const uint8_t *data, size_t n)
{
    err_t err = seen->track == DEMUX_VIDEO ? flv_video_parse(b, data, n)
                                           : flv_audio_parse(b, data, n);
    bool fine = !err || (n < seen->tag.size && b->codec != AV_CODEC_NONE &&
                         (b->multitrack == FLV_MANY_TRACKS || b->multitrack == FLV_MANY_CODECS));

    err_free(&err);
    return fine;
}

static bool is_media(const struct flv_body *b)
{
    return b->packet != FLV_PACKET_COMMAND && b->packet != FLV_PACKET_END;
}

static enum demux_status describe(struct flv_tags *t, struct flv_seen *seen)
{
    static const size_t begins[] = { BODY_BEGIN, FLV_TAGS_BUFFER };
    enum demux_status st = DEMUX_OK;
    bool fine = false;

    for (size_t i = 0; st == DEMUX_OK && !fine && i < 2; i++) {
        size_t n = seen->tag.size < begins[i] ? seen->tag.size : begins[i];
        const uint8_t *data;

        st = look(t, seen->body, n, &data);
        fine = st == DEMUX_OK && parse(&seen->says, seen, data, n);
    }
    seen->unknown = fine && seen->says.codec == AV_CODEC_NONE && !seen->says.extra &&
                    is_media(&seen->says);
    seen->media = fine && seen->says.codec != AV_CODEC_NONE && is_media(&seen->says);
    return st;
}

enum demux_status demux_flv_next(struct flv_tags *t, struct flv_seen *out)
{
    const uint8_t *head;
    struct rd r;
    enum demux_status st;
    err_t err;

    if (t->end - t->at < FLV_TAG_HEADER)
        return DEMUX_END;
    st = look(t, t->at, FLV_TAG_HEADER, &head);
    if (st != DEMUX_OK)
        return st;
    *out = (struct flv_seen){ .at = t->at, .body = t->at + FLV_TAG_HEADER };
    r = rd_init(head, FLV_TAG_HEADER);
    err = flv_tag_parse(&out->tag, &r);
    err_free(&err); /* the bytes are in the file */
    if (!is_type(out->tag.type) || out->tag.size > t->end - out->body)
        return DEMUX_END;
    /* PreviousTagSize is ignored, because some writers get it wrong. */
    t->at = out->body + out->tag.size + FLV_TAG_TRAILER;
    if (t->at > t->end)
        t->at = t->end;
    if (out->tag.size == 0 || (out->tag.type != FLV_AUDIO && out->tag.type != FLV_VIDEO))
        return DEMUX_OK;
    out->track = out->tag.type == FLV_VIDEO ? DEMUX_VIDEO : DEMUX_AUDIO;
    return describe(t, out);
}

/* Gives the tag whose PreviousTagSize is just before `at`; DEMUX_END: it is not consistent. */
static enum demux_status before(const struct demux_input *in, int64_t begin, int64_t at,
                                struct flv_seen *out)
{
    uint8_t size[FLV_TAG_TRAILER];
    struct flv_tags t;
    enum demux_status st;
    struct rd r;
    uint32_t n;

    if (at - begin < FLV_TAG_HEADER + FLV_TAG_TRAILER)
        return DEMUX_END;
    st = in->read(in, at - FLV_TAG_TRAILER, size, sizeof(size));
    if (st != DEMUX_OK)
        return st;
    r = rd_init(size, sizeof(size));
    n = rd_u32(&r);
    if (n < FLV_TAG_HEADER || n > at - begin - FLV_TAG_TRAILER)
        return DEMUX_END;
    demux_flv_tags(&t, in, at - FLV_TAG_TRAILER - n, at);
    st = demux_flv_next(&t, out);
    return st == DEMUX_OK && t.at != at ? DEMUX_END : st;
}

enum demux_status demux_flv_audio_before(const struct demux_input *in, int64_t begin, int64_t at,
                                         uint32_t *time)
{
    struct flv_seen seen = { .at = at };
    enum demux_status st = DEMUX_OK;

    for (unsigned i = 0; i < LOOK_BACK && st == DEMUX_OK; i++) {
        st = before(in, begin, seen.at, &seen);
        if (st == DEMUX_OK && seen.media && seen.track == DEMUX_AUDIO && !seen.says.config &&
            !seen.says.extra) {
            *time = seen.tag.time;
            return DEMUX_OK;
        }
    }
    return st == DEMUX_OK ? DEMUX_END : st;
}
