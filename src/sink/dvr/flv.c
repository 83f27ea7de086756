/* SPDX-License-Identifier: MIT */
/* flv.c - a recording as FLV: the tags as they came, behind a metadata of our own. */
#include "format/flv/flv.h"
#include "proto/rtmp/amf0.h"
#include "sink/dvr/stream.h"

#include <string.h>

enum { CONFIGS = 24, METADATA_MAX = 256 * 1024 };

static void put_tag(struct wr *w, const struct flv_message *m, int64_t ms)
{
    struct flv_tag tag = { .type = m->type, .size = flv_message_size(m), .time = (uint32_t)ms };
    uint8_t head[FLV_TAG_HEADER];

    flv_tag_build(head, &tag);
    wr_bytes(w, head, sizeof(head));
    wr_bytes(w, m->head, m->head_size);
    wr_bytes(w, m->rest, m->rest_size);
    wr_u32(w, tag.size + FLV_TAG_HEADER);
}

static void put_packet(struct wr *w, const struct av_packet *pkt, int64_t ms)
{
    struct flv_message m;

    flv_message_build_tag(&m, pkt);
    if (m.type)
        put_tag(w, &m, ms);
}

void dvr_flv_packet(struct dvr_stream *s, const struct av_packet *pkt, int64_t dts)
{
    int64_t ms = (dts - (s->keep_time ? 0 : s->file->begin)) / AV_MS(1);

    put_packet(&s->block.w, pkt, ms > 0 ? ms : 0);
}

/* The publisher's metadata, into an object of ours. */
static void read_metadata(struct amf *amf, struct amf_value *meta, const struct av_packet *pkt)
{
    struct rd r = rd_init(pkt->data, pkt->size);
    struct amf_value name;
    err_t err = amf0_read(amf, &r, &name);

    if (!err)
        err = amf0_read(amf, &r, meta);
    if (err || !amf_has_members(meta))
        *meta = amf_object();
    err_free(&err); /* then there is only ours */
}

/* Where in the tag's bytes the number of that key is. */
static size_t place_of(const struct wr *w, const char *key)
{
    uint8_t text[32] = { 0, (uint8_t)strlen(key) };
    const uint8_t *at;

    memcpy(text + 2, key, strlen(key));
    at = memmem(w->buf, w->len, text, 2 + strlen(key));
    return at ? (size_t)(at - w->buf) + 2 + strlen(key) + 1 : 0;
}

static void put_metadata(struct dvr_stream *s, const struct av_packet *from)
{
    struct amf_value meta = amf_object(), zero = amf_number(0);
    struct amf_value by = amf_text(s->dvrs->env->signature);
    struct amf amf;
    struct wr w;
    err_t err;

    amf_init(&amf, METADATA_MAX * 2);
    wr_init(&w, METADATA_MAX);
    if (from)
        read_metadata(&amf, &meta, from);
    err = amf_set(&amf, &meta, "duration", 8, &zero);
    if (!err)
        err = amf_set(&amf, &meta, "filesize", 8, &zero);
    if (!err)
        err = amf_set(&amf, &meta, "server", 6, &by);
    err_free(&err);
    amf0_string(&w, "onMetaData");
    amf0_write(&w, &meta);
    amf_free(&amf);
    if (!w.bad) {
        size_t at = s->header.len + FLV_TAG_HEADER;
        size_t duration = place_of(&w, "duration"), size = place_of(&w, "filesize");

        s->file->duration_at = duration ? at + duration : 0;
        s->file->size_at = size ? at + size : 0;
        put_tag(&s->header,
                &(struct flv_message){ .type = FLV_DATA, .rest = w.buf,
                                       .rest_size = (uint32_t)w.len }, 0);
    }
    wr_free(&w);
}

void dvr_flv_begin(struct dvr_stream *s)
{
    const struct av_packet *v[CONFIGS], *meta = NULL;
    size_t n = live_reader_configs(&s->reader, v, CONFIGS);
    uint8_t head[FLV_FILE_HEADER + FLV_TAG_TRAILER];

    flv_file_build(head, true, true);
    wr_bytes(&s->header, head, sizeof(head));
    for (size_t i = 0; i < n; i++) {
        if (v[i]->kind == AV_DATA && v[i]->origin == FLV_DATA)
            meta = v[i];
    }
    put_metadata(s, meta);
    for (size_t i = 0; i < n; i++) {
        if (v[i]->kind != AV_DATA)
            put_packet(&s->header, v[i], 0);
    }
}
