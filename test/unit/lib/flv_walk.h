/* SPDX-License-Identifier: MIT */
/* flv_walk.h - FLV films in memory, and a walk over the demuxer's output. */
#ifndef FLV_WALK_H
#define FLV_WALK_H

#include "demux_file.h"

#include "flv_file.h"

enum { LIMIT = 1 << 22 };

/* ---- making files */

void film_begin(struct wr *w);
void film_file(struct wr *w, unsigned seconds, size_t size, double *at);
void film_name(struct wr *w, const char *text);

/* As ffmpeg writes it before tags that it moves by its own size. */
void film_metadata(struct wr *out, const double *at, unsigned n, double moved);

/* `moved` for wrong positions. */
void film_with_metadata(struct wr *w, unsigned seconds, size_t size, double moved);

#endif
