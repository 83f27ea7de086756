/* SPDX-License-Identifier: MIT */
/* status.h - what the numbers of answers are called, types of files, and the time of day. */
#ifndef HTTP_STATUS_H
#define HTTP_STATUS_H

#include <stddef.h>
#include <time.h>

/* "Not Found"; "Status" for a number that nobody knows. RFC 9110 section 15. */
const char *http_status_text(int status);

/* "text/html" by the end of a path; "application/octet-stream" when nothing else fits. */
const char *http_type_of(const char *path);

/* The text of a Date, made once a second; starts as zeros, one per server. */
struct http_clock {
    time_t at;
    char text[40];
};
const char *http_clock_text(struct http_clock *c);

enum { HTTP_DATE_SIZE = 40 };
/* "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 section 5.6.7); returns buf. */
const char *http_date_put(char buf[HTTP_DATE_SIZE], time_t t);
/* The same read back; -1: it is none of that form. */
time_t http_date_get(const char *text);

#endif
