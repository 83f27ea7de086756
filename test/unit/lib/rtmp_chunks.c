/* SPDX-License-Identifier: MIT */
/* rtmp_chunks.c - the limits of a reader of chunks in tests. */
#include "rtmp_chunks.h"

const struct rtmp_in_setup chunk_setup = {
    .alloc = count_alloc,
    .grow = count_grow,
    .release = count_release,
    .max_message_size = 100000,
    .max_data_size = 50000,
    .max_command_size = 70000,
    .max_chunk_streams = 16,
    .max_inflight = 200000,
    .at_once = 200000,
};
