/* SPDX-License-Identifier: MIT */
/* impl.h - what the readers of the formats have in common; for the files of format/demux alone. */
#ifndef FORMAT_DEMUX_IMPL_H
#define FORMAT_DEMUX_IMPL_H

#include "format/demux/demux.h"

/* A format, as demux.c sees it: a row of its table. What functions do is in demux.h. */
struct demux_format {
    /* Do the first bytes of a file say that it is one? At least DEMUX_BEGIN bytes, or all. */
    bool (*is)(const uint8_t *begin, size_t size);
    enum demux_status (*open)(struct demux_index **out, const struct demux_input *in,
                              const struct demux_limits *limits, const char **why);
    void (*close)(struct demux_index *index); /* never NULL */
    demux_position (*seek)(const struct demux_index *index, int64_t time);
    int64_t (*place_time)(const struct demux_index *index, demux_position place, int64_t *pts);
    enum demux_status (*group)(struct demux_group **out, const struct demux_index *index,
                               const struct demux_input *in, demux_position place,
                               const char **why);
    bool (*packet)(const struct demux_index *index, const struct demux_sample *s,
                   struct av_packet *pkt);
};

enum { DEMUX_BEGIN = 16 };

extern const struct demux_format demux_flv, demux_mp4;

/* What an index of any format begins with: it is the first member of the format's own. */
struct demux_index {
    const struct demux_format *format;
    struct demux_info info;
};

/* A group while it is filled: `v` grows as samples come, `group` is what it becomes. */
struct demux_list {
    struct demux_group *group; /* NULL before the first sample */
    unsigned cap;
};

/* Room for so many at once, where that is known; more may come. False: there is no memory. */
bool demux_list_expect(struct demux_list *l, unsigned n);
/* Append one; false: there is no memory. */
bool demux_list_add(struct demux_list *l, const struct demux_sample *s);
/* The group, also an empty one, in the order of time, of two tracks that are each in order; with
 * `place` set, for the caller to fill the rest. NULL: there is no memory. The list is empty
 * then. */
struct demux_group *demux_list_take(struct demux_list *l, demux_position place);
void demux_list_drop(struct demux_list *l);

#endif
