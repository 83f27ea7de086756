/* SPDX-License-Identifier: MIT */
/* random_id.h - unguessable ids of letters and digits, for URLs, file names and the log. */
#ifndef BASE_RANDOM_ID_H
#define BASE_RANDOM_ID_H

#include <stddef.h>

/* Writes n uniformly random characters of "0-9a-z" (5.2 bits each) and a final 0. Any thread. */
void random_id(char *out, size_t n);

#endif
