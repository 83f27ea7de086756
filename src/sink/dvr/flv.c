/* SPDX-License-Identifier: MIT */
/* flv.c - recordings as FLV: the tags unchanged, after the server's own metadata. The metadata has
 * space for the list of key frames, which is written when the file is complete (key_list.h), so the
 * file is never copied and can be played at any time.
 */
#include "format/flv/flv.h"
#include "proto/rtmp/amf0.h"
#include "sink/dvr/stream.h"

#include <string.h>
#include <unistd.h>

enum { METADATA_MAX = 256 * 1024 };

static void put_head(struct wr *w, const struct flv_tag *tag)
{
    uint8_t head[FLV_TAG_HEADER];

    flv_tag_build(head, tag);
    wr_bytes(w, head, sizeof(head));
}

static void put_tag(struct wr *w, const struct flv_message *m, int64_t ms)
{
    struct flv_tag tag = { .type = m->type, .size = flv_message_size(m), .time = (uint32_t)ms };

    put_head(w, &tag);
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

    ms = ms > 0 ? ms : 0;
    /* the following key frames are in other blocks */
    if (pkt->kind == AV_VIDEO && pkt->key && !s->has_key) {
        s->has_key = true;
        s->key_frame = (struct flv_key){ blocks_len(&s->block), (uint32_t)ms };
    }
    put_packet(&s->block.w, pkt, ms);
}

/* Copies the publisher's metadata into a new object, except its list of key frames, which refers to
 * another file. */
static void read_metadata(struct amf *amf, struct amf_value *meta, const struct av_packet *pkt)
{
    struct rd r = rd_init(pkt->data, pkt->size);
    struct amf_value name, his;
    err_t err = amf0_read(amf, &r, &name);

    if (!err)
        err = amf0_read(amf, &r, &his);
    if (!err && amf_has_members(&his)) {
        meta->type = his.type == AMF_ECMA_ARRAY ? AMF_ECMA_ARRAY : AMF_OBJECT;
        for (const struct amf_member *m = his.first; m && !err; m = m->next) {
            if (strcmp(m->key, "keyframes") != 0)
                err = amf_set(amf, meta, m->key, m->key_size, &m->value);
        }
    }
    if (err)
        *meta = amf_object();
    err_free(&err); /* continues with the server's metadata only */
}

/* Finds the position of the number of a key in the tag. */
static size_t number_at(const struct wr *w, const char *key)
{
    uint8_t text[32] = { 0, (uint8_t)strlen(key) };
    const uint8_t *at;

    memcpy(text + 2, key, strlen(key));
    at = memmem(w->buf, w->len, text, 2 + strlen(key));
    return at ? (size_t)(at - w->buf) + 2 + strlen(key) + 1 : 0;
}

/* Returns the number of key frames to reserve space for. If the length of the file is unknown, it
 * is enough for two hours with one key frame per second. */
static size_t keys_max(const struct dvr_stream *s)
{
    int64_t seconds = s->set->duration / CO_SECONDS(1);

    if (s->set->plan == CONF_DVR_SEGMENT && seconds < FLV_KEYS_MAX / 2)
        return (size_t)seconds * 3 / 2 + 16;
    return FLV_KEYS_MAX;
}

/* Writes the tag, with a gap after the metadata if that ends as expected. */
static void put_metadata_tag(struct dvr_stream *s, const struct wr *meta)
{
    struct dvr_file *f = s->file;
    struct flv_tag tag = { .type = FLV_DATA, .size = (uint32_t)meta->len };
    size_t max = keys_max(s);

    if (meta->len >= FLV_KEYS_SWITCH &&
        memcmp(meta->buf + meta->len - FLV_KEYS_SWITCH, flv_keys_undefined, FLV_KEYS_SWITCH) == 0) {
        f->gap = flv_key_list_room(max);
        f->gap_at = s->header.len + FLV_TAG_HEADER + meta->len;
        f->keys_at = f->gap_at - FLV_KEYS_SWITCH;
        flv_key_list_init(&f->keys, max);
        tag.size += (uint32_t)f->gap;
    }
    put_head(&s->header, &tag);
    wr_bytes(&s->header, meta->buf, meta->len);
    wr_u32(&s->header, tag.size + FLV_TAG_HEADER);
}

static void put_metadata(struct dvr_stream *s, const struct av_packet *from)
{
    struct amf_value meta = amf_object(), zero = amf_number(0);
    struct amf_value by = amf_text(s->dvrs->sink.env->signature), keys = { .type = AMF_UNDEFINED };
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
    if (!err)
        err = amf_set(&amf, &meta, "keyframes", 9, &keys);
    err_free(&err);
    amf0_string(&w, "onMetaData");
    amf0_write(&w, &meta);
    amf_free(&amf);
    if (!w.bad) {
        size_t at = s->header.len + FLV_TAG_HEADER;
        size_t duration = number_at(&w, "duration"), size = number_at(&w, "filesize");

        s->file->duration_at = duration ? at + duration : 0;
        s->file->size_at = size ? at + size : 0;
        put_metadata_tag(s, &w);
    }
    wr_free(&w);
}

void dvr_flv_begin(struct dvr_stream *s)
{
    const struct av_packet *v[LIVE_CONFIGS], *meta = NULL;
    size_t n = live_reader_configs(&s->reader, v, LIVE_CONFIGS);
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

/* ------------------------------------------------------------ on a helper thread */

static bool put_at(const struct dvr_file *f, uint64_t at, const void *data, size_t size)
{
    return at > 0 && at + size <= f->good && pwrite(f->fd, data, size, (off_t)at) == (ssize_t)size;
}

static void put_number(const struct dvr_file *f, uint64_t at, double v)
{
    uint64_t bits;
    uint8_t bytes[8];

    memcpy(&bits, &v, sizeof(bits));
    for (int i = 7; i >= 0; i--, bits >>= 8)
        bytes[i] = (uint8_t)bits;
    (void)put_at(f, at, bytes, sizeof(bytes));
}

/* Writes the list, and last the bytes that make it a part of the metadata. On a full disk there is
 * no list. */
static void put_keys(const struct dvr_file *f)
{
    size_t room = f->gap + FLV_KEYS_SWITCH;
    struct wr w;

    wr_init(&w, room);
    if (flv_key_list_write(&f->keys, &w) &&
        put_at(f, f->keys_at + FLV_KEYS_SWITCH, w.buf + FLV_KEYS_SWITCH, w.len - FLV_KEYS_SWITCH))
        (void)put_at(f, f->keys_at, w.buf, FLV_KEYS_SWITCH);
    wr_free(&w);
}

void dvr_flv_finish(struct dvr_file *f)
{
    put_number(f, f->duration_at, (double)(f->newest - f->begin) / AV_CLOCK);
    put_number(f, f->size_at, (double)f->good);
    if (f->keys_at)
        put_keys(f);
}
