/* SPDX-License-Identifier: MIT */
/* moov.h - the boxes that describe a whole file; for the files of format/mp4* alone. */
#ifndef FORMAT_MP4_MOOV_H
#define FORMAT_MP4_MOOV_H

#include "format/mp4/track.h"

enum { MP4_MOVIE_SCALE = 1000 };

void mp4_ftyp(struct wr *w, bool fragmented, const char *brand); /* one more of a codec, or NULL */
/* duration: in MP4_MOVIE_SCALE; 0 in a file that is made of fragments. */
void mp4_mvhd(struct wr *w, uint64_t duration, uint32_t next_track);
void mp4_tkhd(const struct mp4_track *t, struct wr *w, uint64_t duration);
void mp4_mdhd(const struct mp4_track *t, struct wr *w, uint64_t duration);
void mp4_hdlr(const struct mp4_track *t, struct wr *w);
/* vmhd or smhd, and dinf: all of minf before stbl. */
void mp4_minf_head(const struct mp4_track *t, struct wr *w);

#endif
