/* SPDX-License-Identifier: MIT */
/* box.h - writer of ISO base media boxes. For format/mp4 and wire/fmp4.c.
 *
 * [ISO-FF] ISO/IEC 14496-12.
 */
#ifndef FORMAT_MP4_BOX_H
#define FORMAT_MP4_BOX_H

#include "base/wr.h"

/* size_t at = mp4_box(w, "moof"); ...write... mp4_end(w, at); */
size_t mp4_box(struct wr *w, const char *type);
size_t mp4_full_box(struct wr *w, const char *type, uint8_t version, uint32_t flags);
void   mp4_end(struct wr *w, size_t at);
void   mp4_zeros(struct wr *w, size_t n);
/* Overwrites the u32 at offset `at`. */
void   mp4_patch32(struct wr *w, size_t at, uint32_t v);
void   mp4_matrix(struct wr *w); /* the unity matrix */

#endif
