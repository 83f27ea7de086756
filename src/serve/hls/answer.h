/* SPDX-License-Identifier: MIT */
/* answer.h - answer requests of HLS and DASH once it is known whose file they ask for. */
#ifndef SERVE_HLS_ANSWER_H
#define SERVE_HLS_ANSWER_H

#include "serve/hls/session.h"
#include "serve/hls/template.h"
#include "serve/http/http.h"

struct hls_answer {
    struct hls *h;
    const struct conf_vhost *vhost; /* of the stream: by its rules, whatever host is asked */
    struct session_stream names;      /* borrowed until the next yield; not of MEDIA */
    enum hls_sort sort;
    const char *path;               /* as the stream calls the file */
    const char *folder, *below;     /* where it is on disk */
    struct hls_file *file;          /* a list that is on disk alone, read; NULL: it is in memory */
    bool missing;                   /* or nowhere: who may have it is told 404, others what they
                                     * are told of one that is there */
};

/* Read such a list. ERR_NO_FILE: there is none. Yields. */
err_t hls_answer_read(struct hls_answer *a) __attribute__((warn_unused_result));

/* Lists and MPDs. It asks all that is to be asked. Yields. */
err_t hls_answer_list(struct http_exchange *x, struct hls_answer *a)
    __attribute__((warn_unused_result));

/* Is a file of that sort for sessions only? */
bool hls_wants_session(const struct conf_vhost *v, enum hls_sort sort);
/* Segments, keys and so on; `session` is one that plays this stream, or NULL. Yields. */
err_t hls_answer_media(struct http_exchange *x, const struct hls_answer *a,
                       struct hls_session *session) __attribute__((warn_unused_result));
/* It may not, or needs a session first. */
err_t hls_answer_denied(struct http_exchange *x, err_t why) __attribute__((warn_unused_result));
err_t hls_answer_no_session(struct http_exchange *x, struct hls *h)
    __attribute__((warn_unused_result));

#endif
