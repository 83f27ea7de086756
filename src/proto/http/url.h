/* SPDX-License-Identifier: MIT */
/* url.h - parses the target of a request (RFC 9112 section 3.2, RFC 3986). */
#ifndef PROTO_HTTP_URL_H
#define PROTO_HTTP_URL_H

#include "base/err.h"
#include "base/wr.h"

#include <stdbool.h>

/* Decodes percent escapes in place, in a string of *size bytes. `plus`: '+' is a space, as in a
 * query but not in a path. Returns false for a '%' without two hex digits or an escaped '\0'. */
bool http_url_decode(char *text, size_t *size, bool plus);

/* Normalizes a path in place, so it is safe to look up: decodes escapes, reduces "//" to one slash,
 * and resolves "." and ".." segments (RFC 3986 5.2.4). ERR_HTTP for an invalid escape, a missing
 * leading slash, or a path that leaves the root. */
err_t http_url_path(char *path) __attribute__((warn_unused_result));

/* Returns the undecoded value of a key in "?a=b&c=d", with its size. NULL if it is missing or
 * empty. The '?' is optional. */
const char *http_url_param_raw(const char *query, const char *key, size_t *size);
/* Decodes the value of a key in "a=b&c=d" into buf, truncated to its size. Returns NULL if it is
 * missing or has an invalid escape. */
const char *http_url_param(const char *query, const char *key, char *buf, size_t size);

/* Writes a path for a Location field, with the necessary escapes. */
void http_url_put_path(struct wr *w, const char *path);

/* Parses the value of a Host field in place: leaves the name in lower case, an IPv6 address without
 * brackets; returns the port, or 0. */
int http_url_host(char *host);

#endif
