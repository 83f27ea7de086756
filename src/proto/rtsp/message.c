/* SPDX-License-Identifier: MIT */
/* message.c - a request or an answer, read and written. */
#include "proto/rtsp/message.h"

#include "base/must.h"

#include <string.h>
#include <strings.h>

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

/* A line that a peer has a say in stays one line. */
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
    wr_printf(w, "RTSP/1.0 %d %s\r\n", status, rtsp_status_text(status));
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
