/* SPDX-License-Identifier: MIT */
/* impl.h - common parts of the readers of all formats; only for the files of format/demux. */
#ifndef FORMAT_DEMUX_IMPL_H
#define FORMAT_DEMUX_IMPL_H

#include "format/demux/demux.h"

/* A format: a row of the table in demux.c. demux.h describes the functions. */
struct demux_format {
    /* True if the first bytes identify the format. At least DEMUX_BEGIN bytes, or the whole file.
     * */
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

/* The common part of all indexes: the first member of the format's own struct. */
struct demux_index {
    const struct demux_format *format;
    struct demux_info info;
};

/* A group under construction. */
struct demux_list {
    struct demux_group *group; /* NULL before the first sample */
    unsigned cap;
};

/* Reserves space for n samples; more may be added. False: out of memory. */
bool demux_list_expect(struct demux_list *l, unsigned n);
/* Appends a sample; false: out of memory. */
bool demux_list_add(struct demux_list *l, const struct demux_sample *s);
/* Returns the group, which may be empty, ordered by time; each track must already be in order. Sets
 * `place`; the caller fills in the rest. NULL: out of memory. The list is empty afterwards. */
struct demux_group *demux_list_take(struct demux_list *l, demux_position place);
void demux_list_drop(struct demux_list *l);

#endif
