/* SPDX-License-Identifier: MIT */
/* method.h - what requests ask for, and what the numbers of answers are called. */
#ifndef RTSP_METHOD_H
#define RTSP_METHOD_H

#include "base/wr.h"

/* RFC 2326 section 10. */
enum rtsp_method {
    RTSP_OPTIONS, RTSP_DESCRIBE, RTSP_SETUP, RTSP_PLAY, RTSP_PAUSE, RTSP_ANNOUNCE, RTSP_RECORD,
    RTSP_GET_PARAMETER, RTSP_SET_PARAMETER, RTSP_TEARDOWN, RTSP_REDIRECT,
    RTSP_OTHER, /* one that we do not know */
};

/* Methods as a set: 1u << RTSP_PLAY | ... */
#define RTSP_BIT(method) (1u << (method))

enum rtsp_method rtsp_method_of(const char *name); /* case counts */
const char *rtsp_method_name(enum rtsp_method method);

/* "OPTIONS, DESCRIBE, ...", as in Public and Allow. */
void rtsp_methods_put(struct wr *w, unsigned set);
/* The same read: names in any case, with commas or spaces between them; the others are dropped. */
unsigned rtsp_methods_parse(const char *text);

/* "Session Not Found"; "Status" for a number that nobody knows. RFC 2326 section 11, RFC 7826
 * section 17. */
const char *rtsp_status_text(int status);

#endif
