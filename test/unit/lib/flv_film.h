/* SPDX-License-Identifier: MIT */
/* flv_film.h - small films of FLV for tests: a group of pictures a second, a frame and a sound each
 * 100 ms. */
#ifndef FLV_FILM_H
#define FLV_FILM_H

#include "flv_file.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* A file of so many tenths of a second; the frames that are cut off at its end are half there. */
void film_write(const char *folder, const char *name, unsigned tenths, size_t cut);

#endif
