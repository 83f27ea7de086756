/* SPDX-License-Identifier: MIT */
/* pack.h - the samples of a part, read from the file into one buffer. Any thread. */
#ifndef VOD_PACK_H
#define VOD_PACK_H

#include "format/demux/demux.h"
#include "vod/vod.h"

/* How a file is read. What the kernel cannot tell of is memory itself, or may be anywhere. */
enum vod_way { VOD_TELLS, VOD_IS_MEMORY, VOD_IS_ELSEWHERE };

/* Where a demuxer reads from. */
struct vod_input {
    struct demux_input in; /* first */
    int fd;
    bool wait;             /* for the disk; else what is not in memory is not read */
    uint64_t *bytes;       /* counts them */
};
void vod_input_init(struct vod_input *in, int fd, int64_t size, bool wait, uint64_t *bytes);

/* Which samples of a group a part is. */
struct vod_cut {
    unsigned begin, end;  /* of those between, */
    unsigned n;           /* so many are wanted, */
    size_t bytes;         /* of so many */
    bool last;            /* the group has no more */
};
/* Which samples of a group are wanted. */
struct vod_want {
    uint32_t tracks;
    bool keys_only;
    size_t bytes;  /* a part has at most so many, and */
    int64_t lasts; /* lasts so long, 1/90000 s; as a rule */
};
/* Turns are up to a sixteenth earlier than they are due (live/sender.c): no part is longer than is
 * between two, so each turn has one to send. */
static inline struct vod_want vod_want_of(const struct vod_wire_use *use,
                                          const struct demux_info *info)
{
    int64_t turn = av_from_us(vod_turn(info->kbps));

    return (struct vod_want){ use->tracks, use->keys_only, VOD_PART, turn / 8 * 7 };
}
/* Where it is cut does not depend on the tracks. A part that is not there is empty and last. */
struct vod_cut vod_cut_find(const struct demux_group *g, struct vod_want want, uint32_t part);

/* About when what comes behind the last sample of a group is: as much later than the last ones of
 * its track as these are apart. It has samples. */
int64_t vod_group_end(const struct demux_group *g);

/* Samples in memory, each as the end of a packet, in their order. Zeroed is empty. */
struct vod_pack {
    struct vod_slot {
        const struct demux_sample *s;
        struct av_packet *pkt; /* only its data is set */
    } *slots, **by_place;
    unsigned n, cap;
    uint8_t *buf;
    size_t size;
};

/* Read them. DEMUX_AGAIN: not all of it is in memory. */
enum demux_status vod_pack_read(struct vod_pack *p, const struct demux_group *g,
                                const struct vod_cut *cut, struct vod_want want,
                                const struct vod_input *in);
void vod_pack_free(struct vod_pack *p); /* it is empty then */

#endif
