/* SPDX-License-Identifier: MIT */
/* media.c - an FLV file as all publishers share it. */
#include "tools/load/media.h"

#include "format/flv/flv.h"
#include "tools/load/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 30, CATCH_UP = 16 };

/* Where the first NAL unit's length stands, if a marker can go before it. */
static uint8_t marker_place(const struct flv_body *b, const uint8_t *data, size_t size)
{
    size_t left = size - b->payload;
    const uint8_t *p = data + b->payload;

    if (!av_codec_row(b->codec)->nalu || left < 5)
        return 0;
    if (b->packet != FLV_PACKET_CODED && b->packet != FLV_PACKET_CODED_X)
        return 0;
    /* lengths of 4 bytes are what encoders write: their first byte is 0 below 16 MB */
    return p[0] == 0 && b->payload <= 8 ? (uint8_t)b->payload : 0;
}

static err_t describe(struct load_message *msg, bool *head)
{
    struct flv_body b = { .codec = AV_CODEC_NONE };
    err_t err;

    *head = msg->type != FLV_AUDIO && msg->type != FLV_VIDEO;
    if (*head || msg->size == 0)
        return NULL;
    err = msg->type == FLV_VIDEO ? flv_video_parse(&b, msg->data, msg->size)
                                 : flv_audio_parse(&b, msg->data, msg->size);
    if (err)
        return err;
    *head = b.config;
    msg->key = b.key;
    msg->codec = (uint8_t)b.codec;
    msg->marker = marker_place(&b, msg->data, msg->size);
    return NULL;
}

static err_t add(struct load_media *m, const struct load_message *msg, bool head)
{
    if (!head) {
        m->messages[m->count++] = *msg;
        m->bytes += msg->size;
        return NULL;
    }
    if (m->count > 0) /* the configuration of the first turn is that of all */
        return NULL;
    if (m->head_count == sizeof(m->heads) / sizeof(m->heads[0]))
        return err_new(ERR_TOO_MANY, "configurations before the first frame");
    m->heads[m->head_count++] = *msg;
    return NULL;
}

static err_t parse_tags(struct load_media *m, struct rd *r)
{
    while (rd_left(r) >= FLV_TAG_HEADER) {
        struct load_message msg = { 0 };
        struct flv_tag tag;
        bool head = false;
        err_t err;

        err = flv_tag_parse(&tag, r);
        if (err)
            return err;
        msg.data = rd_take(r, tag.size);
        (void)rd_u32(r);
        if (r->bad)
            break; /* a file cut off in a tag: what is before it is whole */
        msg.size = tag.size;
        msg.type = tag.type;
        msg.time = tag.time;
        err = describe(&msg, &head);
        if (!err && msg.size > 0)
            err = add(m, &msg, head);
        if (err)
            return err_wrap(err, "tag at %u ms", tag.time);
    }
    return NULL;
}

static size_t count_tags(struct rd r)
{
    size_t n = 0;

    for (; rd_left(&r) >= FLV_TAG_HEADER; n++) {
        (void)rd_u8(&r);
        (void)rd_take(&r, rd_u24(&r) + FLV_TAG_HEADER - 4);
        (void)rd_u32(&r);
    }
    return n;
}

/* Times from 0, and a period that leaves as much between the last and the first message of each
 * kind as there is between others of that kind. */
static void set_times(struct load_media *m)
{
    uint32_t first = m->messages[0].time;
    uint32_t last[AV_KINDS] = { 0 }, from[AV_KINDS] = { 0 }, n[AV_KINDS] = { 0 };

    for (size_t i = 0; i < m->count; i++) {
        struct load_message *msg = &m->messages[i];
        enum av_kind kind = msg->type == FLV_VIDEO ? AV_VIDEO : AV_AUDIO;

        msg->time = msg->time > first ? msg->time - first : 0;
        if (i > 0 && msg->time < m->messages[i - 1].time)
            msg->time = m->messages[i - 1].time; /* sent in the order of the file */
        if (n[kind]++ == 0)
            from[kind] = msg->time;
        last[kind] = msg->time;
    }
    for (int k = 0; k < AV_KINDS; k++) {
        uint32_t span = last[k] - from[k];
        uint32_t end = n[k] > 1 ? span + (span + (n[k] - 1) / 2) / (n[k] - 1) : 0;

        m->period = end > m->period ? end : m->period;
    }
    if (m->period <= m->messages[m->count - 1].time)
        m->period = m->messages[m->count - 1].time + 1;
}

err_t load_media_parse(struct load_media *m, uint8_t *file, size_t size)
{
    struct rd r = rd_init(file, size);
    err_t err;

    *m = (struct load_media){ .file = NULL };
    err = flv_file_parse(&r);
    if (err)
        return err;
    m->messages = calloc(count_tags(r) + 1, sizeof(*m->messages));
    if (!m->messages)
        return err_new(ERR_NO_MEMORY, "the messages of a file of %zu bytes", size);
    err = parse_tags(m, &r);
    if (!err && m->count == 0)
        err = err_new(ERR_MALFORMED, "no audio and no video");
    if (err) {
        load_media_free(m);
        return err;
    }
    m->file = file;
    set_times(m);
    return NULL;
}

err_t load_file_read(uint8_t **out, size_t *size, const char *path)
{
    err_t err = NULL;
    long n = -1;
    FILE *f = fopen(path, "rb");

    *out = NULL;
    if (!f)
        return err_sys(ERR_SYSTEM, "open %s", path);
    if (fseek(f, 0, SEEK_END) == 0)
        n = ftell(f);
    rewind(f);
    *size = n < 0 ? 0 : (size_t)n;
    if (n < 0 || n > FILE_MAX)
        err = err_new(ERR_TOO_LARGE, "no file, or over %d MB", FILE_MAX >> 20);
    else if (!(*out = malloc(*size + 1)) || fread(*out, 1, *size, f) != *size)
        err = err_sys(ERR_SYSTEM, "read");
    (void)fclose(f);
    if (!err)
        return NULL;
    free(*out);
    *out = NULL;
    return err_wrap(err, "%s", path);
}

err_t load_media_load(struct load_media *m, const char *path)
{
    uint8_t *file;
    size_t size;
    err_t err = load_file_read(&file, &size, path);

    if (err)
        return err;
    err = load_media_parse(m, file, size);
    if (err)
        free(file);
    return err ? err_wrap(err, "%s", path) : NULL;
}

void load_media_free(struct load_media *m)
{
    free(m->messages);
    free(m->file);
    *m = (struct load_media){ .file = NULL };
}

void load_play_begin(struct load_play *p, const struct load_media *m, unsigned seed)
{
    size_t keys = 0, pick;

    *p = (struct load_play){ 0 };
    for (size_t i = 0; i < m->count; i++)
        keys += m->messages[i].key;
    pick = keys ? seed % keys : 0;
    for (size_t i = 0; keys && i < m->count; i++) {
        if (m->messages[i].key && pick-- == 0) {
            p->at = i;
            break;
        }
    }
    p->base = 0 - (uint64_t)m->messages[p->at].time; /* wraps to 0 when the time is added */
}

const struct load_message *load_play_next(struct load_play *p, const struct load_media *m,
                                          uint64_t *time)
{
    const struct load_message *msg;

    if (p->at == m->count) {
        p->at = 0;
        p->base += m->period;
    }
    msg = &m->messages[p->at++];
    *time = p->base + msg->time;
    return msg;
}

size_t load_media_extra(uint8_t out[LOAD_MARKER_SIZE], const struct load_message *msg,
                        uint32_t *number)
{
    static const uint8_t set_data_frame[] = "\x02\x00\x0d@setDataFrame";
    struct load_marker m = { .time = 0 };

    if (msg->type == FLV_DATA && msg->size > 3 && msg->data[3] == 'o') {
        memcpy(out, set_data_frame, sizeof(set_data_frame) - 1);
        return sizeof(set_data_frame) - 1;
    }
    if (!msg->marker || !number)
        return 0;
    m.number = (*number)++;
    m.time = load_wall();
    return load_marker_build(out, msg->codec, &m);
}

/* ------------------------------------------------------------ a publisher */

static err_t wait_due(struct io *io, co_usec due, unsigned sent, err_t (*hear)(void *arg),
                      void *arg)
{
    co_usec now = co_clock();

    if (now >= due && sent % CATCH_UP == 0)
        co_yield();
    do {
        err_t err = io_readable(io) ? hear(arg) : NULL;

        if (err)
            return err;
        if (now < due && io_wait(io, false, due - now) == CO_STOPPED)
            return err_new(ERR_STOPPED, "publisher");
        now = co_clock();
    } while (now < due);
    return co_check();
}

err_t load_publish(struct load_client *c, const struct load_media *m, err_t (*hear)(void *arg),
                   err_t (*send)(void *arg, const struct load_message *msg, uint64_t time),
                   void *arg)
{
    co_usec from = co_clock();
    struct load_play play;
    err_t err = NULL;

    c->alive = true;
    c->mark_at = from;
    load_hist_add(&c->run->stat.first_byte, from - c->began); /* the first that we may send */
    co_stack_trim();
    load_play_begin(&play, m, (unsigned)rand());
    for (unsigned i = 0; !err && !load_is_over(c); i++) {
        uint64_t time;
        const struct load_message *msg = load_play_next(&play, m, &time);
        co_usec due = from + CO_MS(time);

        err = wait_due(c->talk.io, due, i, hear, arg);
        if (err)
            break;
        load_hist_add(&c->run->stat.lag, co_clock() - due);
        err = send(arg, msg, time);
    }
    return err;
}
