/* SPDX-License-Identifier: MIT */
/* jflat.h - is JSON flat enough to be parsed on a small stack? */
#ifndef BASE_JFLAT_H
#define BASE_JFLAT_H

#include <stdbool.h>
#include <stddef.h>

/* No object or array is more than `depth` deep in others. The parser calls itself for what is
 * nested, so this is asked of whatever comes from others first. */
bool jflat_is(const char *text, size_t size, int depth);

#endif
