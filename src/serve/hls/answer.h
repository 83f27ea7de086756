/* SPDX-License-Identifier: MIT */
/* answer.h - answers requests of HLS and DASH for a file whose stream is known. */
#ifndef SERVE_HLS_ANSWER_H
#define SERVE_HLS_ANSWER_H

#include "serve/hls/session.h"
#include "serve/hls/template.h"
#include "serve/http/http.h"

struct hls_answer {
    struct hls *h;
    const struct conf_vhost *vhost; /* vhost of the stream; its rules apply, not those of the
                                     * requested host */
    struct session_stream names;    /* borrowed until the next yield; not for MEDIA */
    enum hls_sort sort;
    const char *path;               /* full path, as the stream writes it */
    const char *folder, *below;     /* folder on disk, and the path below it */
    struct hls_file *file;          /* a playlist read from disk; NULL: in memory */
    bool missing;                   /* the playlist does not exist: authorized players get 404,
                                     * others the same status as for one that exists */
};

/* Reads a playlist from disk. ERR_NO_FILE: it does not exist. Yields. */
err_t hls_answer_read(struct hls_answer *a) __attribute__((warn_unused_result));

/* Answers a request for a playlist or MPD, including all authorization. Yields. */
err_t hls_answer_list(struct http_exchange *x, struct hls_answer *a)
    __attribute__((warn_unused_result));

/* Returns true if files of this sort are only for sessions. */
bool hls_needs_session(const struct conf_vhost *v, enum hls_sort sort);
/* Answers a request for a segment, key and so on. `session` plays this stream, or is NULL.
 * Yields. */
err_t hls_answer_media(struct http_exchange *x, const struct hls_answer *a,
                       struct hls_session *session) __attribute__((warn_unused_result));
/* Rejects a request: the player is not authorized, or has no session. */
err_t hls_answer_denied(struct http_exchange *x, err_t why) __attribute__((warn_unused_result));
err_t hls_answer_no_session(struct http_exchange *x, struct hls *h)
    __attribute__((warn_unused_result));

#endif
