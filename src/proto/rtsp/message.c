/* SPDX-License-Identifier: MIT */
/* message.c - reads and writes RTSP requests and responses. */
#include "proto/rtsp/message.h"

#include "base/must.h"

#include <string.h>
#include <strings.h>

/* ---- methods and names of status codes */

static const char *const names[] = {
    [RTSP_OPTIONS] = "OPTIONS", [RTSP_DESCRIBE] = "DESCRIBE", [RTSP_SETUP] = "SETUP",
    [RTSP_PLAY] = "PLAY", [RTSP_PAUSE] = "PAUSE", [RTSP_ANNOUNCE] = "ANNOUNCE",
    [RTSP_RECORD] = "RECORD", [RTSP_GET_PARAMETER] = "GET_PARAMETER",
    [RTSP_SET_PARAMETER] = "SET_PARAMETER", [RTSP_TEARDOWN] = "TEARDOWN",
    [RTSP_REDIRECT] = "REDIRECT",
};

enum rtsp_method rtsp_method_of(const char *name)
{
    for (int m = 0; m < RTSP_OTHER; m++) {
        if (strcmp(names[m], name) == 0)
            return (enum rtsp_method)m;
    }
    return RTSP_OTHER;
}

const char *rtsp_method_name(enum rtsp_method method)
{
    return method < RTSP_OTHER ? names[method] : "OTHER";
}

void rtsp_methods_put(struct wr *w, unsigned set)
{
    const char *between = "";

    for (int m = 0; m < RTSP_OTHER; m++) {
        if (set & RTSP_BIT(m)) {
            wr_text(w, between);
            wr_text(w, names[m]);
            between = ", ";
        }
    }
}

unsigned rtsp_methods_parse(const char *text)
{
    unsigned set = 0;

    for (size_t n; *text; text += n) {
        text += strspn(text, ", \t");
        n = strcspn(text, ", \t");
        for (int m = 0; m < RTSP_OTHER; m++) {
            if (strlen(names[m]) == n && strncasecmp(names[m], text, n) == 0)
                set |= RTSP_BIT(m);
        }
    }
    return set;
}

static const struct {
    int status;
    const char *text;
} texts[] = {
    { 100, "Continue" }, { 200, "OK" }, { 201, "Created" }, { 250, "Low on Storage Space" },
    { 300, "Multiple Choices" }, { 301, "Moved Permanently" }, { 302, "Moved Temporarily" },
    { 303, "See Other" }, { 304, "Not Modified" }, { 305, "Use Proxy" }, { 400, "Bad Request" },
    { 401, "Unauthorized" }, { 402, "Payment Required" }, { 403, "Forbidden" },
    { 404, "Not Found" }, { 405, "Method Not Allowed" }, { 406, "Not Acceptable" },
    { 407, "Proxy Authentication Required" }, { 408, "Request Timeout" }, { 410, "Gone" },
    { 411, "Length Required" }, { 412, "Precondition Failed" },
    { 413, "Request Entity Too Large" }, { 414, "Request-URI Too Large" },
    { 415, "Unsupported Media Type" }, { 451, "Parameter Not Understood" },
    { 452, "Conference Not Found" }, { 453, "Not Enough Bandwidth" },
    { 454, "Session Not Found" }, { 455, "Method Not Valid in This State" },
    { 456, "Header Field Not Valid for Resource" }, { 457, "Invalid Range" },
    { 458, "Parameter Is Read-Only" }, { 459, "Aggregate Operation Not Allowed" },
    { 460, "Only Aggregate Operation Allowed" }, { 461, "Unsupported Transport" },
    { 462, "Destination Unreachable" }, { 463, "Destination Prohibited" },
    { 464, "Data Transport Not Ready Yet" }, { 465, "Notification Reason Unknown" },
    { 466, "Key Management Error" }, { 470, "Connection Authorization Required" },
    { 471, "Connection Credentials Not Accepted" },
    { 472, "Failure to Establish Secure Connection" }, { 500, "Internal Server Error" },
    { 501, "Not Implemented" }, { 502, "Bad Gateway" }, { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" }, { 505, "RTSP Version Not Supported" },
    { 551, "Option Not Supported" }, { 553, "Proxy Unavailable" },
};

/* RFC 2326 section 11, RFC 7826 section 17. */
static const char *status_text(int status)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].status == status)
            return texts[i].text;
    }
    return "Status";
}

const char *rtsp_message_next(const struct rtsp_message *m, const char *name, unsigned *from)
{
    while (*from < m->n_fields) {
        const struct rtsp_field *f = &m->fields[(*from)++];

        if (strcasecmp(m->head + f->name, name) == 0)
            return m->head + f->value;
    }
    return NULL;
}

const char *rtsp_message_field(const struct rtsp_message *m, const char *name)
{
    unsigned from = 0;

    return rtsp_message_next(m, name, &from);
}

/* ---- writing */

/* Replaces line breaks, so that a value from a peer stays on one line. */
static void put_value(struct wr *w, const char *value)
{
    for (const char *p = value; *p;) {
        size_t n = strcspn(p, "\r\n");

        wr_bytes(w, p, n);
        p += n;
        if (*p) {
            wr_u8(w, ' ');
            p++;
        }
    }
}

static void put_cseq(struct wr *w, int64_t cseq)
{
    if (cseq >= 0)
        wr_printf(w, "CSeq: %lld\r\n", (long long)cseq);
}

void rtsp_put_request(struct wr *w, enum rtsp_method method, const char *url, uint32_t cseq)
{
    wr_text(w, rtsp_method_name(method));
    wr_u8(w, ' ');
    put_value(w, url);
    wr_text(w, " RTSP/1.0\r\n");
    put_cseq(w, cseq);
}

void rtsp_put_status(struct wr *w, int status, int64_t cseq)
{
    wr_printf(w, "RTSP/1.0 %d %s\r\n", status, status_text(status));
    put_cseq(w, cseq);
}

void rtsp_put_name(struct wr *w, const char *name)
{
    wr_text(w, name);
    wr_text(w, ": ");
}

void rtsp_put_line_end(struct wr *w)
{
    wr_text(w, "\r\n");
}

void rtsp_put_field(struct wr *w, const char *name, const char *value)
{
    rtsp_put_name(w, name);
    put_value(w, value);
    rtsp_put_line_end(w);
}

void rtsp_put_format(struct wr *w, const char *name, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = must_vprint(format, args);
    va_end(args);
    rtsp_put_field(w, name, text);
    free(text);
}

void rtsp_put_body(struct wr *w, const void *body, size_t size)
{
    if (size > 0)
        wr_printf(w, "Content-Length: %zu\r\n", size);
    rtsp_put_line_end(w);
    if (size > 0)
        wr_bytes(w, body, size);
}
