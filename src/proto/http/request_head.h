/* SPDX-License-Identifier: MIT */
/* request_head.h - between the reader of requests and the parser library; for those two alone. */
#ifndef HTTP_REQUEST_HEAD_H
#define HTTP_REQUEST_HEAD_H

#include "proto/http/request.h"

enum { HTTP_PHASE_LINE, HTTP_PHASE_BODY, HTTP_PHASE_DONE };

/* Give the parser what was not parsed yet. When the head is there, the phase is HTTP_PHASE_BODY. */
err_t http_head_feed(struct http_reader *r) __attribute__((warn_unused_result));
/* The parser has the head: make the request of it. */
err_t http_head_finish(struct http_reader *r) __attribute__((warn_unused_result));
/* The buffer has room for so many bytes from now on. ERR_NO_MEMORY, status 503. */
err_t http_head_room(struct http_reader *r, size_t cap) __attribute__((warn_unused_result));
/* At most `size` bytes through the parser; gives how many it took. */
size_t http_head_execute(struct http_reader *r, size_t size);
/* What the parser did not like, with r->status set. */
err_t http_head_error(struct http_reader *r) __attribute__((warn_unused_result));

#endif
