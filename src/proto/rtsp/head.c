/* SPDX-License-Identifier: MIT */
/* head.c - the head of a message taken apart, in place. */
#include "proto/rtsp/head.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

size_t rtsp_head_end(const uint8_t *p, size_t size, size_t *scanned)
{
    size_t i = *scanned;

    for (;;) {
        const uint8_t *lf = i < size ? memchr(p + i, '\n', size - i) : NULL;

        if (!lf) {
            *scanned = size;
            return 0;
        }
        i = (size_t)(lf - p);
        if (i + 1 < size && p[i + 1] == '\n')
            return i + 2;
        if (i + 2 < size && p[i + 1] == '\r' && p[i + 2] == '\n')
            return i + 3;
        if (i + 2 >= size && (i + 1 >= size || p[i + 1] == '\r')) { /* not to be told yet */
            *scanned = i;
            return 0;
        }
        i++;
    }
}

/* ---- lines */

/* RFC 2326 section 4.2: a line that begins with space goes on with the one before. Gives how many
 * lines there are now, without the empty one at the end. */
static size_t unfold(char *p, size_t size)
{
    size_t lines = 0;

    for (size_t i = 0; i < size; i++) {
        if (p[i] != '\n')
            continue;
        if (i + 1 < size && (p[i + 1] == ' ' || p[i + 1] == '\t')) {
            p[i] = ' ';
            if (i > 0 && p[i - 1] == '\r')
                p[i - 1] = ' ';
        } else {
            lines++;
        }
    }
    return lines - 1;
}

/* Cut the line that begins at `at` off: where the next one begins. Bytes that have no place in a
 * line are spaces now, and *clean is false. */
static size_t cut_line(char *p, size_t at, bool *clean)
{
    size_t end = at, next;

    while (p[end] != '\n')
        end++;
    next = end + 1;
    if (end > at && p[end - 1] == '\r')
        end--;
    p[end] = '\0';
    for (size_t i = at; i < end; i++) {
        if (((unsigned char)p[i] < ' ' && p[i] != '\t') || p[i] == 0x7f) {
            p[i] = ' ';
            *clean = false;
        }
    }
    return next;
}

static void trim_end(char *begin)
{
    char *end = begin + strlen(begin);

    while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
}

static uint32_t skip_space(const char *p, size_t at)
{
    return (uint32_t)(at + strspn(p + at, " \t"));
}

/* "Name: value", in any spacing. */
static bool split_field(char *head, size_t at, struct rtsp_field *out)
{
    char *colon = strchr(head + at, ':');

    if (!colon || colon == head + at)
        return false;
    *colon = '\0';
    trim_end(head + at);
    out->name = (uint32_t)at;
    out->value = skip_space(head, (size_t)(colon + 1 - head));
    trim_end(head + out->value);
    return head[at] != '\0' && !strpbrk(head + at, " \t");
}

/* ---- the first line */

static enum rtsp_version version_of(const char *text)
{
    if (strcmp(text, "RTSP/1.0") == 0)
        return RTSP_V1;
    return strncmp(text, "HTTP/1.", 7) == 0 ? RTSP_V_HTTP : RTSP_V_OTHER;
}

/* "RTSP/1.0 200 OK", of which the last word may be missing. Cameras say other versions. */
static void split_answer(struct rtsp_message *m, char *head)
{
    char *number = head + strcspn(head, " \t"), *end;
    long status;

    number += strspn(number, " \t");
    status = strtol(number, &end, 10);
    m->version = RTSP_V1;
    m->wrong = status < 100 || status > 999 || end != number + 3 ? 400 : 0;
    m->status = m->wrong ? 0 : (int)status;
    m->reason_at = skip_space(head, (size_t)(end - head));
}

/* "PLAY rtsp://a/b RTSP/1.0": the first word, the last one, and what is between them. */
static void split_request(struct rtsp_message *m, char *head)
{
    char *space, *version;

    trim_end(head);
    space = strpbrk(head, " \t");
    version = head + strlen(head);
    while (version > head && version[-1] != ' ' && version[-1] != '\t')
        version--;
    m->is_request = true;
    m->version = version_of(version);
    m->url_at = m->reason_at = (uint32_t)strlen(head);
    if (space)
        *space = '\0';
    if (!space || version <= space + 1) {
        m->wrong = 400;
        m->version = RTSP_V_OTHER;
        return;
    }
    version[-1] = '\0';
    m->url_at = skip_space(head, (size_t)(space + 1 - head));
    trim_end(head + m->url_at);
    if (!head[m->url_at])
        m->wrong = 400;
    else if (m->version == RTSP_V_OTHER)
        m->wrong = strncmp(version, "RTSP/", 5) == 0 ? 505 : 400;
}

static void split_first(struct rtsp_message *m, char *head)
{
    if (strncmp(head, "RTSP/", 5) == 0) {
        m->url_at = (uint32_t)strlen(head);
        split_answer(m, head);
    } else {
        split_request(m, head);
    }
    m->verb_at = 0;
}

/* ---- numbers */

/* Digits alone; -1: it is none, or over `most`. */
static int64_t number(const char *text, int64_t most)
{
    int64_t v = 0;

    if (!*text)
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || v > most)
            return -1;
        v = v * 10 + (*text - '0');
    }
    return v <= most ? v : -1;
}

/* Where the body ends is not to be guessed: two lengths, or one that is none, are an error. */
static err_t body_size(struct rtsp_reader *r, const struct rtsp_message *m, size_t *out)
{
    int64_t size = -1;
    unsigned from = 0;
    const char *text;

    *out = 0;
    while ((text = rtsp_message_next(m, "Content-Length", &from))) {
        int64_t n = number(text, INT64_MAX / 100);

        if (r->forgiving && (n < 0 || size >= 0))
            continue;
        r->status = 400;
        if (n < 0)
            return err_new(ERR_RTSP, "Content-Length is \"%.20s\"", text);
        if (size >= 0 && size != n)
            return err_new(ERR_RTSP, "two values of Content-Length");
        size = n;
    }
    r->status = 0;
    if (size > 0 && (uint64_t)size > r->limits->max_body) {
        r->status = 413;
        return err_new(ERR_TOO_LARGE, "a body of %lld bytes", (long long)size);
    }
    *out = size > 0 ? (size_t)size : 0;
    return NULL;
}

/* ---- all of it */

static err_t split_fields(struct rtsp_reader *r, char *head, size_t at, size_t lines)
{
    struct rtsp_message *m = &r->msg;
    bool clean = true;

    if (lines > r->limits->max_fields) {
        r->status = 400;
        return err_new(ERR_TOO_MANY, "%zu fields", lines);
    }
    m->fields = mem_try((lines + 1) * sizeof(*m->fields));
    if (!m->fields) {
        r->status = 503;
        return err_new(ERR_NO_MEMORY, "%zu fields", lines);
    }
    for (size_t i = 0; i < lines; i++) {
        size_t next = cut_line(head, at, &clean);

        if (split_field(head, at, &m->fields[m->n_fields]))
            m->n_fields++;
        else
            clean = false;
        at = next;
    }
    if (!clean && !r->forgiving)
        m->wrong = 400;
    return NULL;
}

err_t rtsp_head_split(struct rtsp_reader *r, char *head, size_t size, size_t *need)
{
    struct rtsp_message *m = &r->msg;
    size_t lines = unfold(head, size), at, body = 0;
    bool clean = true;
    err_t err;

    *m = (struct rtsp_message){ .head = head, .cseq = -1 };
    at = cut_line(head, 0, &clean);
    if (strlen(head) > r->limits->max_line) {
        r->status = 414;
        return err_new(ERR_TOO_LARGE, "a first line of %zu bytes", strlen(head));
    }
    split_first(m, head);
    if (!clean && !r->forgiving)
        m->wrong = 400;
    err = split_fields(r, head, at, lines - 1);
    if (!err) {
        const char *cseq = rtsp_message_field(m, "CSeq");

        m->cseq = cseq ? number(cseq, UINT32_MAX) : -1;
        r->cseq = m->is_request ? m->cseq : -1;
        if (m->version != RTSP_V_HTTP)
            err = body_size(r, m, &body);
    }
    if (!err && m->is_request && m->version != RTSP_V_HTTP && !m->wrong && m->cseq < 0)
        m->wrong = 400;
    *need = size + body;
    return err;
}

void rtsp_head_finish(struct rtsp_message *m, char *head)
{
    m->head = head;
    m->verb = head + m->verb_at;
    m->url = head + m->url_at;
    m->reason = m->is_request ? "" : head + m->reason_at;
    m->method = m->is_request ? rtsp_method_of(m->verb) : RTSP_OTHER;
}
