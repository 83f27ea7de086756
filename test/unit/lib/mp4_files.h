/* SPDX-License-Identifier: MIT */
/* mp4_files.h - shared by tests of MP4 files. */
#ifndef MP4_FILES_H
#define MP4_FILES_H

#include "demux_file.h"

#include "base/must.h"
#include "format/mp4/box.h"
#include "format/mp4/final.h"
#include "format/mp4/frag.h"
#include "media_configs.h"
#include "mp4_cut.h"

#include <stdio.h>

enum { LIMIT = 1 << 22, FRAGMENTS = 5, FRAMES = 4, HALF = 45000 };

/* ------------------------------------------------------------ truncated and changed */

/* Checks that hold for any file: nothing is outside of it, and it ends. */
unsigned demux_any(const uint8_t *data, size_t size);

#endif
