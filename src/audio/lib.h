/* SPDX-License-Identifier: MIT */
/* lib.h - the libraries that know sound: libavcodec (AAC, MP3), libswresample and libopus.
 *
 * They and all that they need are a hundred files. So they are no part of the program: they are
 * loaded when the first stream needs them, and a server that converts nothing starts and runs as if
 * they were not there. ./configure builds it in where their headers are (--ffmpeg-fit=auto).
 */
#ifndef AUDIO_LIB_H
#define AUDIO_LIB_H

#include <stdbool.h>

/* Load them, if it was not tried yet: true if they are there. Blocks for some 30 ms the first time:
 * not on a thread of coroutines. Any thread. */
bool audio_lib_load(void);
/* The same without loading: false before audio_lib_load() has succeeded. Any thread. */
bool audio_lib_ready(void);
/* What is missing, and what helps; NULL: nothing, as far as is known. Any thread. */
const char *audio_lib_lacks(void);
/* Which ones they are, for --version: NULL if the program was built without. */
const char *audio_lib_text(void);

#endif
