/* SPDX-License-Identifier: MIT */
/* message.h - reads and writes RTSP requests and responses (RFC 2326 sections 4 to 7). No I/O.
 *
 * Received messages are parsed in place, in the buffer of the reader (reader.h). Outgoing ones are
 * written to a struct wr, which the caller sends at once, so that a response is one packet.
 */
#ifndef PROTO_RTSP_MESSAGE_H
#define PROTO_RTSP_MESSAGE_H

#include "base/wr.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- methods and names of status codes */

/* RFC 2326 section 10. */
enum rtsp_method {
    RTSP_OPTIONS, RTSP_DESCRIBE, RTSP_SETUP, RTSP_PLAY, RTSP_PAUSE, RTSP_ANNOUNCE, RTSP_RECORD,
    RTSP_GET_PARAMETER, RTSP_SET_PARAMETER, RTSP_TEARDOWN, RTSP_REDIRECT,
    RTSP_OTHER, /* unknown method */
};

/* A set of methods: 1u << RTSP_PLAY | ... */
#define RTSP_BIT(method) (1u << (method))

enum rtsp_method rtsp_method_of(const char *name); /* case-sensitive */
const char *rtsp_method_name(enum rtsp_method method);

/* Writes "OPTIONS, DESCRIBE, ...", as in Public and Allow. */
void rtsp_methods_put(struct wr *w, unsigned set);
/* Parses such a list. Names in any case, separated by commas or spaces; unknown ones are
 * dropped. */
unsigned rtsp_methods_parse(const char *text);

enum rtsp_version {
    RTSP_V1,         /* RTSP/1.0 */
    RTSP_V_OTHER,    /* another version of RTSP, or not RTSP at all */
    RTSP_V_HTTP,     /* an HTTP/1.x request, which starts a tunnel; its body is not read */
};

/* Offsets of a name and its value in the head. */
struct rtsp_field {
    uint32_t name, value;
};

/* Strings belong to the reader and are never NULL. */
struct rtsp_message {
    bool is_request;
    enum rtsp_version version;
    enum rtsp_method method; /* in a request */
    const char *verb, *url;  /* as sent */
    int status;              /* in a response */
    const char *reason;
    int64_t cseq;            /* -1: missing */
    int wrong;               /* status to refuse the message with because of its syntax; 0: valid */
    const uint8_t *body;
    size_t size;             /* size of the body; 0: no body */
    char *head;
    struct rtsp_field *fields;
    unsigned n_fields;
    uint32_t verb_at, url_at, reason_at;
};

/* Returns the value of the first field with this name, or NULL. Names are case-insensitive. */
const char *rtsp_message_field(const struct rtsp_message *m, const char *name);
/* Same, starting at field number *from, which then becomes the number after it: for fields that may
 * occur several times. */
const char *rtsp_message_next(const struct rtsp_message *m, const char *name, unsigned *from);

/* ---- writing. Line breaks in values become spaces. */

void rtsp_put_request(struct wr *w, enum rtsp_method method, const char *url, uint32_t cseq);
/* cseq is -1 if the request had none. */
void rtsp_put_status(struct wr *w, int status, int64_t cseq);
void rtsp_put_field(struct wr *w, const char *name, const char *value);
void rtsp_put_format(struct wr *w, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* For a value that other functions write: first its name, then the value, then
 * rtsp_put_line_end(). */
void rtsp_put_name(struct wr *w, const char *name);
void rtsp_put_line_end(struct wr *w);
/* Ends the head and writes the body with its Content-Length; size 0 means no body. */
void rtsp_put_body(struct wr *w, const void *body, size_t size);

/* ---- interleaved frames between messages, section 10.12 */

/* Size of a frame's head, and the limit of its content. */
enum { RTSP_FRAME_HEAD = 4, RTSP_FRAME_MAX = 65535 };

#endif
