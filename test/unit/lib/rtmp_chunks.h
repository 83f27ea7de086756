/* SPDX-License-Identifier: MIT */
/* rtmp_chunks.h - the limits of a reader of chunks in tests. */
#ifndef RTMP_CHUNKS_H
#define RTMP_CHUNKS_H

#include "proto/rtmp/chunk_in.h"
#include "proto/rtmp/chunk_out.h"
#include "rtmp_payloads.h"
#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct rtmp_in_setup chunk_setup;

#endif
