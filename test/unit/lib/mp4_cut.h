/* SPDX-License-Identifier: MIT */
/* mp4_cut.h - fragments of a recording, in one piece. */
#ifndef MP4_CUT_H
#define MP4_CUT_H

#include "format/mp4/frag.h"

enum { CUT_LIMIT = 1 << 22 };

void cut(struct mp4_frag *m, int64_t dts, struct wr *out);

#endif
