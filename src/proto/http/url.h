/* SPDX-License-Identifier: MIT */
/* url.h - the target of a request taken apart: RFC 9112 section 3.2, RFC 3986. */
#ifndef PROTO_HTTP_URL_H
#define PROTO_HTTP_URL_H

#include "base/err.h"
#include "base/wr.h"

#include <stdbool.h>

/* Undo percent escapes in place, a string of *size bytes; `plus`: '+' is a space, as in a query
 * and not in a path. False: a '%' without two hex digits, or an escaped '\0'. */
bool http_url_decode(char *text, size_t *size, bool plus);

/* Make a path safe to look up, in place: escapes undone, "//" one slash, "." and ".." segments
 * resolved (RFC 3986 5.2.4). ERR_HTTP: a bad escape, no slash at the begin, or out of the root. */
err_t http_url_path(char *path) __attribute__((warn_unused_result));

/* The value of a key in "?a=b&c=d" not decoded: its first byte and its size.
 * NULL: there is none, or it is empty. The '?' may be missing. */
const char *http_url_param_raw(const char *query, const char *key, size_t *size);
/* The value of a key in "a=b&c=d", decoded into buf and cut to its size; NULL: it is not there,
 * or is badly escaped. */
const char *http_url_param(const char *query, const char *key, char *buf, size_t size);

/* A path as it stands in a Location: what is not plain there is escaped. */
void http_url_put_path(struct wr *w, const char *path);

/* "Host: name:port" in place: the name alone in lower case, an IPv6 address without its brackets;
 * gives the port or 0. */
int http_url_host(char *host);

#endif
