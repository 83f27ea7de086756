/* SPDX-License-Identifier: MIT */
/* chunk_in_table.c - the chunk streams of one reader. */
#include "proto/rtmp/chunk_in_table.h"

#include "base/mem.h"
#include "proto/rtmp/chunk_in_room.h"

#include <stdlib.h>
#include <string.h>

/* Where it is among the high ones, or would be. */
static uint32_t high_place(const struct rtmp_in *in, uint32_t csid)
{
    uint32_t from = 0, to = in->high_count;

    while (from < to) {
        uint32_t mid = from + (to - from) / 2;

        if (in->high[mid].csid < csid)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

struct rtmp_in_stream *rtmp_in_table_find(struct rtmp_in *in, uint32_t csid)
{
    uint32_t at;

    if (csid - RTMP_CSID_MIN < RTMP_IN_LOW) {
        struct rtmp_in_stream *s = &in->low[csid - RTMP_CSID_MIN];

        return s->used ? s : NULL;
    }
    at = high_place(in, csid);
    return at < in->high_count && in->high[at].csid == csid ? &in->high[at] : NULL;
}

static err_t grow(struct rtmp_in *in)
{
    uint32_t cap = in->high_cap ? in->high_cap * 2 : 4;
    struct rtmp_in_stream *p = mem_try_more(in->high, cap * sizeof(*p));

    if (!p)
        return err_new(ERR_NO_MEMORY, "%u chunk streams", cap);
    in->high = p;
    in->high_cap = cap;
    return NULL;
}

err_t rtmp_in_table_add(struct rtmp_in *in, uint32_t csid, struct rtmp_in_stream **out)
{
    struct rtmp_in_stream *s;
    uint32_t at;
    err_t err;

    if (csid - RTMP_CSID_MIN < RTMP_IN_LOW) {
        s = &in->low[csid - RTMP_CSID_MIN];
    } else {
        if (in->high_count + RTMP_IN_LOW >= in->setup->max_chunk_streams)
            return err_new(ERR_TOO_MANY, "chunk stream %u is one over the limit of %u", csid,
                           in->setup->max_chunk_streams);
        err = in->high_count == in->high_cap ? grow(in) : NULL;
        if (err)
            return err;
        at = high_place(in, csid);
        s = &in->high[at];
        memmove(s + 1, s, (in->high_count - at) * sizeof(*s));
        in->high_count++;
    }
    *s = (struct rtmp_in_stream){ .csid = csid, .used = true };
    *out = s;
    return NULL;
}

void rtmp_in_table_free(struct rtmp_in *in)
{
    rtmp_in_room_drop_all(in);
    free(in->high);
    in->high = NULL;
    in->high_count = in->high_cap = 0;
    memset(in->low, 0, sizeof(in->low));
}
