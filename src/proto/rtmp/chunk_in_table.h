/* SPDX-License-Identifier: MIT */
/* chunk_in_table.h - the chunk streams of one reader; for chunk_in.c only.
 *
 * Peers use a handful of low ids, which have fixed places; all others are in a sorted array that
 * grows up to the limit.
 */
#ifndef RTMP_CHUNK_IN_TABLE_H
#define RTMP_CHUNK_IN_TABLE_H

#include "proto/rtmp/chunk_in.h"

struct rtmp_in_stream *rtmp_in_table_find(struct rtmp_in *in, uint32_t csid); /* or NULL */
/* One that is not there yet. Pointers to others are stale afterwards. ERR_TOO_MANY. */
err_t rtmp_in_table_add(struct rtmp_in *in, uint32_t csid, struct rtmp_in_stream **out)
    __attribute__((warn_unused_result));
void rtmp_in_table_free(struct rtmp_in *in);

#endif
