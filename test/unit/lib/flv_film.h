/* SPDX-License-Identifier: MIT */
/* flv_film.h - small FLV films for tests: a GOP a second, a video and an audio frame each
 * 100 ms. */
#ifndef FLV_FILM_H
#define FLV_FILM_H

#include "flv_file.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* A file of this many tenths of a second; frames cut off at its end are incomplete. */
void film_write(const char *folder, const char *name, unsigned tenths, size_t cut);

#endif
