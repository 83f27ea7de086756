/* SPDX-License-Identifier: MIT */
/* lib.h - loads the audio libraries: libavcodec (AAC, MP3), libswresample and libopus.
 *
 * With their dependencies they are a hundred files, so the program is not linked with them: they
 * are loaded when the first stream needs them, and cost nothing until then. ./configure includes
 * the support if their headers are installed (--ffmpeg-fit=auto).
 */
#ifndef AUDIO_LIB_H
#define AUDIO_LIB_H

#include <stdbool.h>

/* Loads them at the first call; returns true if they are available. The first call blocks for about
 * 30 ms, so do not call it on a coroutine thread. Any other thread. */
bool audio_lib_load(void);
/* Returns true once audio_lib_load() has succeeded. Any thread. */
bool audio_lib_ready(void);
/* Returns which library is missing and how to install it, or NULL. Any thread. */
const char *audio_lib_lacks(void);
/* Returns the names of the libraries, or NULL if the program was built without support. */
const char *audio_lib_text(void);

#endif
