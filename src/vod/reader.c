/* SPDX-License-Identifier: MIT */
/* reader.c - the packets of a file, one after another.
 *
 * A helper thread reads some seconds of the file at a time; packets are created from them when they
 * are due. Nothing is cached: the ingested stream itself serves all of its players.
 */
#include "vod/reader.h"

#include "base/must.h"
#include "vod/store.h"
#include "vod/wires.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 512 * 1024 };
#define PIECE_LASTS AV_MS(3600000)

struct vod_reader {
    struct vod_file *file;
    bool begun;             /* the metadata was returned, */
    unsigned configured;    /* and the configuration of this many tracks */
    struct vod_read *now;   /* NULL: none yet */
    unsigned next;          /* index of the next sample of `now` */
};

struct vod_reader *vod_reader_new(struct vod_file *file)
{
    struct vod_reader *r = must(calloc(1, sizeof(*r)));

    r->file = vod_file_ref(file);
    return r;
}

void vod_reader_free(struct vod_reader *r)
{
    if (!r)
        return;
    vod_read_free(r->now);
    (void)vod_file_unref(r->file);
    free(r);
}

/* ---- reading */

/* Creates the read of the piece after this one, or of the first; NULL: this is the last. */
static struct vod_read *behind(const struct vod_reader *r)
{
    static const struct vod_request all = { .tracks = VOD_TRACKS_VIDEO | VOD_TRACKS_AUDIO,
                                         .bytes = PIECE, .lasts = PIECE_LASTS };
    const struct vod_read *now = r->now;
    struct vod_at at = { 0 };

    if (now && now->cut.last && now->group->g->last)
        return NULL;
    if (now && !now->cut.last) {
        at = (struct vod_at){ .place = now->at.place, .part = now->at.part + 1 };
        return vod_read_new(r->file, at, all, vod_shared_ref(now->group));
    }
    at.place = now ? now->group->g->next : demux_seek(vod_file_index(r->file), 0);
    return vod_read_new(r->file, at, all, NULL);
}

static err_t error_of(const struct vod_reader *r)
{
    const char *name = vod_file_name(r->file), *why = r->now->why;

    switch (r->now->status) {
    case DEMUX_OK:
        return NULL;
    case DEMUX_NO_MEMORY:
        return err_new(ERR_NO_MEMORY, "%s", name);
    case DEMUX_IO:
    case DEMUX_AGAIN:
        return err_new(ERR_SYSTEM, "%s cannot be read", name);
    default:
        return err_new(ERR_UNSUPPORTED, "%s: %s", name, why ? why : "it is cut there");
    }
}

/* Reads the next piece that has samples. *more: there is one. */
static err_t read_more(struct vod_reader *r, bool *more)
{
    const struct vod_task task = { .device = r->file->device, .due = co_now() + VOD_DISK_TIME };
    err_t err = NULL;

    *more = true;
    r->next = 0;
    do {
        struct vod_read *p = behind(r);

        *more = p != NULL;
        if (!p)
            return NULL;
        vod_read_free(r->now);
        r->now = NULL;
        err = vod_read_run(p, &task);
        if (err)
            return err_wrap(err, "reading %s", vod_file_name(r->file));
        r->now = p;
        err = error_of(r);
    } while (!err && r->now->pack.n == 0);
    return err;
}

/* ---- packets */

static struct av_packet *metadata_packet(struct vod_reader *r)
{
    r->begun = true;
    return vod_head_metadata(vod_file_info(r->file), VOD_TRACKS_VIDEO | VOD_TRACKS_AUDIO, true);
}

static err_t sample_packet(struct vod_reader *r, struct av_packet **out)
{
    const struct vod_slot *slot = &r->now->pack.slots[r->next++];
    struct av_packet *pkt = av_packet_try(slot->s->size);

    *out = NULL;
    if (!pkt)
        return err_new(ERR_NO_MEMORY, "a frame of %u bytes", slot->s->size);
    memcpy(pkt->data, slot->pkt->data, slot->s->size);
    if (demux_packet(r->now->index->demux, slot->s, pkt))
        *out = pkt;
    else
        (void)av_packet_unref(pkt); /* damaged: skip it */
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
            *pkt = vod_head_config(&vod_file_info(r->file)->tracks[r->configured++]);
        else if (r->now && r->next < r->now->pack.n)
            err = sample_packet(r, pkt);
        else
            err = read_more(r, &more);
    }
    return err;
}
