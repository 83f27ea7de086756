/* SPDX-License-Identifier: MIT */
/* flv_seek.h - an FLV file from some byte on, as players seek: `?start=`. */
#ifndef SERVE_HTTP_FLV_SEEK_H
#define SERVE_HTTP_FLV_SEEK_H

#include "co/os/file.h"
#include "serve/http/http.h"

/* The file's header, its metadata and decoder configurations, then all from `start` (where a tag
 * begins, as the file's index of key frames says). A start outside of the file is its begin. */
err_t http_flv_seek(struct http_exchange *x, const struct co_file *f, int64_t start)
    __attribute__((warn_unused_result));

#endif
