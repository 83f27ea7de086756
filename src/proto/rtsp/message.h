/* SPDX-License-Identifier: MIT */
/* message.h - a request or an answer, read and written: RFC 2326 sections 4 to 7. No I/O.
 *
 * What came is looked at in place, where the reader (reader.h) has it. What is written goes to a
 * struct wr, which a caller sends at once, so that an answer is one packet.
 */
#ifndef PROTO_RTSP_MESSAGE_H
#define PROTO_RTSP_MESSAGE_H

#include "base/wr.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- what requests ask for, and what the numbers of answers are called. */

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

enum rtsp_version {
    RTSP_V1,         /* RTSP/1.0 */
    RTSP_V_OTHER,    /* RTSP of another version, or what is none at all */
    RTSP_V_HTTP,     /* a request of HTTP/1.x: the begin of a tunnel. Its body is not read */
};

/* Where in the head a name and its value begin. */
struct rtsp_field {
    uint32_t name, value;
};

/* Strings are the reader's, and never NULL. */
struct rtsp_message {
    bool is_request;
    enum rtsp_version version;
    enum rtsp_method method; /* of a request */
    const char *verb, *url;  /* as they were sent */
    int status;              /* of an answer */
    const char *reason;
    int64_t cseq;            /* -1: it has none */
    int wrong;               /* what to answer because of its form; 0: nothing is wrong with that */
    const uint8_t *body;
    size_t size;             /* of the body; 0: it has none */
    char *head;
    struct rtsp_field *fields;
    unsigned n_fields;
    uint32_t verb_at, url_at, reason_at;
};

/* The value of a field, or NULL; of several the first. Names are compared without case. */
const char *rtsp_message_field(const struct rtsp_message *m, const char *name);
/* The same from field number *from on, which becomes the one behind it: for fields that may be
 * there several times. */
const char *rtsp_message_next(const struct rtsp_message *m, const char *name, unsigned *from);

/* ---- writing. Of values, what would end the line is written as a space. */

void rtsp_put_request(struct wr *w, enum rtsp_method method, const char *url, uint32_t cseq);
/* cseq is -1 where the request had none. */
void rtsp_put_status(struct wr *w, int status, int64_t cseq);
void rtsp_put_field(struct wr *w, const char *name, const char *value);
void rtsp_put_format(struct wr *w, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* For a value that is written by others: its name, then the value, then rtsp_put_line_end(). */
void rtsp_put_name(struct wr *w, const char *name);
void rtsp_put_line_end(struct wr *w);
/* The end of the head, and the body with its Content-Length; of size 0 there is none. */
void rtsp_put_body(struct wr *w, const void *body, size_t size);

/* ---- frames between messages: section 10.12 */

/* What is in front of the bytes, and how many those may be. */
enum { RTSP_FRAME_HEAD = 4, RTSP_FRAME_MAX = 65535 };

#endif
