/* SPDX-License-Identifier: MIT */
/* wanted.h - lists of streams that are not there yet, and begin because somebody asks. */
#ifndef SERVE_HLS_WANTED_H
#define SERVE_HLS_WANTED_H

#include "serve/hls/answer.h"

/* The list that is asked for, a->path, is of no stream that we have. If it is of one that is pulled
 * on demand: say that it is wanted, and wait until its list is here, or at another worker. False:
 * it is none, or it did not come; a->path is still the caller's. Yields. */
bool hls_wanted(const struct http_exchange *x, const struct hls_answer *a);

#endif
