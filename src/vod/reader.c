/* SPDX-License-Identifier: MIT */
/* reader.c - the packets of a file, one after the other.
 *
 * Some seconds at once are read by a helper thread into one piece of memory, and are packets when
 * their time has come. Nothing of it is shared: who publishes a file makes its stream anew anyway.
 */
#include "vod/reader.h"

#include "base/mem.h"
#include "base/must.h"
#include "vod/store.h"
#include "vod/wires.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 512 * 1024 };

/* What a helper thread is asked for, and gives. */
struct piece {
    struct vod_disk *disk;
    struct vod_index *index;
    int64_t size;           /* of the file */
    enum vod_way way;
    demux_place place;
    unsigned begin, end;    /* samples of the group; what is asked for begins there */
    struct demux_group *group;
    uint8_t *data;          /* of these */
    enum demux_status status;
    const char *why;
};

struct vod_reader {
    struct vod_file *file;
    bool begun;             /* the metadata are told, */
    unsigned configured;    /* and the configuration of so many tracks */
    struct piece *now;      /* NULL: none yet */
    unsigned next;          /* of its samples */
    size_t at;              /* in its data */
};

struct vod_reader *vod_reader_new(struct vod_file *file)
{
    struct vod_reader *r = must(calloc(1, sizeof(*r)));

    r->file = vod_file_ref(file);
    return r;
}

static void drop(void *arg)
{
    struct piece *p = arg;

    if (!p)
        return;
    vod_disk_unref(p->disk);
    vod_index_unref(p->index);
    free(p->group);
    free(p->data);
    free(p);
}

void vod_reader_free(struct vod_reader *r)
{
    if (!r)
        return;
    drop(r->now);
    (void)vod_file_unref(r->file);
    free(r);
}

/* ---- on a helper thread */

static enum demux_status read_samples(struct piece *p, const struct demux_input *in)
{
    size_t size = 0, at = 0;

    for (p->end = p->begin; p->end < p->group->n; p->end++) {
        if (size > 0 && size + p->group->v[p->end].size > PIECE)
            break;
        size += p->group->v[p->end].size;
    }
    p->data = size > 0 ? mem_try(size) : NULL;
    if (size > 0 && !p->data)
        return DEMUX_NO_MEMORY;
    for (unsigned i = p->begin; i < p->end; i++) {
        const struct demux_sample *s = &p->group->v[i];
        ssize_t n = in->read(in, s->at, p->data + at, s->size);

        if (n != (ssize_t)s->size)
            return n < 0 ? DEMUX_IO : DEMUX_BROKEN;
        at += s->size;
    }
    return DEMUX_OK;
}

static void read_piece(void *arg)
{
    struct piece *p = arg;
    uint64_t bytes = 0;
    struct vod_input in;

    vod_input_init(&in, p->disk->fd, p->size, p->way, true, &bytes);
    p->status = DEMUX_OK;
    p->why = "it is cut there";
    if (!p->group)
        p->status = demux_group(&p->group, p->index->demux, &in.in, p->place, &p->why);
    if (p->status == DEMUX_OK)
        p->status = read_samples(p, &in.in);
}

/* ---- here */

static struct piece *new_piece(const struct vod_file *f)
{
    struct piece *p = must(calloc(1, sizeof(*p)));

    p->disk = vod_disk_ref(f->disk);
    p->index = vod_index_ref(f->index);
    p->size = f->size;
    p->way = f->way;
    return p;
}

/* What comes behind this one, or first; NULL: nothing does. */
static struct piece *behind(const struct vod_reader *r)
{
    struct piece *now = r->now, *p;

    if (now && now->end == now->group->n && now->group->last)
        return NULL;
    p = new_piece(r->file);
    if (!now) {
        p->place = demux_seek(p->index->demux, 0);
    } else if (now->end < now->group->n) {
        p->group = now->group;
        now->group = NULL;
        p->begin = now->end;
    } else {
        p->place = now->group->next;
    }
    return p;
}

static err_t error_of(const struct vod_reader *r, const struct piece *p)
{
    const char *name = vod_file_name(r->file);

    switch (p->status) {
    case DEMUX_OK:
        return NULL;
    case DEMUX_NO_MEMORY:
        return err_new(ERR_NO_MEMORY, "%s", name);
    case DEMUX_IO:
    case DEMUX_AGAIN:
        return err_new(ERR_SYSTEM, "%s cannot be read", name);
    default:
        return err_new(ERR_UNSUPPORTED, "%s: %s", name, p->why);
    }
}

/* *more: there is one with samples. */
static err_t read_more(struct vod_reader *r, bool *more)
{
    const struct vod_task task = { .device = r->file->device, .due = co_now() + VOD_DISK_TIME };
    err_t err = NULL;

    *more = true;
    do {
        struct piece *p = behind(r);

        if (!p) {
            *more = false;
            return NULL;
        }
        drop(r->now);
        r->now = NULL;
        err = vod_task_run(&task, read_piece, p, drop);
        if (err)
            return err_wrap(err, "reading %s", vod_file_name(r->file));
        r->now = p;
        err = error_of(r, p);
    } while (!err && r->now->begin == r->now->end);
    if (!err) {
        r->next = r->now->begin;
        r->at = 0;
    }
    return err;
}

/* ---- packets */

static err_t config_packet(const struct vod_reader *r, unsigned track, struct av_packet **out)
{
    const struct demux_track *t = &vod_file_info(r->file)->tracks[track];
    struct demux_sample s = { .track = (uint8_t)track, .config = true };
    struct av_packet *pkt;

    *out = NULL;
    if (t->codec == AV_CODEC_NONE || !t->config)
        return NULL;
    s.size = (uint32_t)(t->config_head + t->config_size);
    if (t->config_head > 0)
        s.origin = track == DEMUX_VIDEO ? 9 : 8;
    pkt = av_packet_try(s.size);
    if (!pkt)
        return err_new(ERR_NO_MEMORY, "a configuration of %u bytes", s.size);
    memcpy(pkt->data, t->config - t->config_head, s.size);
    if (demux_packet(vod_file_index(r->file), &s, pkt))
        *out = pkt;
    else
        (void)av_packet_unref(pkt);
    return NULL;
}

static struct av_packet *metadata_packet(struct vod_reader *r)
{
    r->begun = true;
    return vod_head_metadata(vod_file_info(r->file), VOD_TRACKS_VIDEO | VOD_TRACKS_AUDIO, true);
}

static err_t sample_packet(struct vod_reader *r, struct av_packet **out)
{
    const struct piece *p = r->now;
    const struct demux_sample *s = &p->group->v[r->next++];
    struct av_packet *pkt = av_packet_try(s->size);

    *out = NULL;
    if (!pkt)
        return err_new(ERR_NO_MEMORY, "a frame of %u bytes", s->size);
    memcpy(pkt->data, p->data + r->at, s->size);
    r->at += s->size;
    if (demux_packet(p->index->demux, s, pkt))
        *out = pkt;
    else
        (void)av_packet_unref(pkt); /* broken: it is left out */
    return NULL;
}

err_t vod_reader_next(struct vod_reader *r, struct av_packet **pkt)
{
    bool more = true;
    err_t err = NULL;

    *pkt = NULL;
    while (!err && !*pkt && more) {
        if (!r->begun)
            *pkt = metadata_packet(r);
        else if (r->configured < DEMUX_TRACKS)
            err = config_packet(r, r->configured++, pkt);
        else if (r->now && r->next < r->now->end)
            err = sample_packet(r, pkt);
        else
            err = read_more(r, &more);
    }
    return err;
}
