/* SPDX-License-Identifier: MIT */
/* reader.c - reads messages and interleaved frames from a pipe. */
#include "proto/rtsp/reader.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/thread_own.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- parsing the head of a message, in place
 * An invalid head whose end is known is still a message, which is refused: the connection continues
 * after it. If the end is unknown, it is an error, and no more messages are read. */

/* Returns the size of the head with its empty line, or 0 if it is incomplete. Searches from
 * *scanned on, and updates it. */
static size_t rtsp_head_end(const uint8_t *p, size_t size, size_t *scanned)
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
        if (i + 2 >= size && (i + 1 >= size || p[i + 1] == '\r')) { /* undecided yet */
            *scanned = i;
            return 0;
        }
        i++;
    }
}

/* ---- lines */

/* RFC 2326 section 4.2: joins a line that starts with white space to the line before it. Returns
 * the number of lines, without the empty one at the end. */
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

/* Terminates the line at `at` and returns where the next one starts. Replaces invalid bytes with
 * spaces and then sets *clean to false. */
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

/* Splits "Name: value", with any spacing. */
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

/* Parses "RTSP/1.0 200 OK"; the reason may be missing. Cameras send other version numbers. */
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

/* Parses "PLAY rtsp://a/b RTSP/1.0": the first word, the last word, and the text between them. */
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

/* Parses Content-Length. Two different or invalid lengths are an error, because the end of the body
 * must not be guessed. */
static err_t body_size(struct rtsp_reader *r, const struct rtsp_message *m, size_t *out)
{
    int64_t size = -1;
    unsigned from = 0;
    const char *text;

    *out = 0;
    while ((text = rtsp_message_next(m, "Content-Length", &from))) {
        int64_t n = text_number(text, strlen(text), INT64_MAX / 100);

        if (r->forgiving && (n < 0 || size >= 0))
            continue;
        r->status = 400;
        if (n < 0)
            return err_new(ERR_RTSP, "invalid Content-Length \"%.20s\"", text);
        if (size >= 0 && size != n)
            return err_new(ERR_RTSP, "two different values of Content-Length");
        size = n;
    }
    r->status = 0;
    if (size > 0 && (uint64_t)size > r->limits->max_body) {
        r->status = 413;
        return err_new(ERR_TOO_LARGE, "body of %lld bytes", (long long)size);
    }
    *out = size > 0 ? (size_t)size : 0;
    return NULL;
}

/* ---- the whole head */

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

/* Parses the head; *need becomes the size of the message with its body. ERR_RTSP, ERR_TOO_LARGE,
 * ERR_TOO_MANY, ERR_NO_MEMORY, with the status to respond with. */
static err_t rtsp_head_split(struct rtsp_reader *r, char *head, size_t size, size_t *need)
{
    struct rtsp_message *m = &r->msg;
    size_t lines = unfold(head, size), at, body = 0;
    bool clean = true;
    err_t err;

    *m = (struct rtsp_message){ .head = head, .cseq = -1 };
    at = cut_line(head, 0, &clean);
    if (strlen(head) > r->limits->max_line) {
        r->status = 414;
        return err_new(ERR_TOO_LARGE, "first line of %zu bytes", strlen(head));
    }
    split_first(m, head);
    if (!clean && !r->forgiving)
        m->wrong = 400;
    err = split_fields(r, head, at, lines - 1);
    if (!err) {
        const char *cseq = rtsp_message_field(m, "CSeq");

        m->cseq = cseq ? text_number(cseq, strlen(cseq), UINT32_MAX) : -1;
        r->cseq = m->is_request ? m->cseq : -1;
        if (m->version != RTSP_V_HTTP)
            err = body_size(r, m, &body);
    }
    if (!err && m->is_request && m->version != RTSP_V_HTTP && !m->wrong && m->cseq < 0)
        m->wrong = 400;
    *need = size + body;
    return err;
}

/* Sets the strings of a complete message, now that its final address is known. */
static void rtsp_head_finish(struct rtsp_message *m, char *head)
{
    m->head = head;
    m->verb = head + m->verb_at;
    m->url = head + m->url_at;
    m->reason = m->is_request ? "" : head + m->reason_at;
    m->method = m->is_request ? rtsp_method_of(m->verb) : RTSP_OTHER;
}

enum {
    FIRST_CAP = 1024,
    BIG_READ = 4 * 1024,  /* read size for a peer that sends much; frames are read elsewhere */
    BLANK_MOST = 1024,    /* limit of consecutive bytes of empty lines */
    LOST_MOST = 1 << 20,  /* limit of consecutive bytes that are not an item */
    LEFT_MOST = 4096,     /* largest part of a frame to copy, so that reading continues in shared
                           * memory */
    SANE_FRAME = 4, /* smallest RTCP packet: a frame found after garbage must not be shorter */
};

void rtsp_reader_init(struct rtsp_reader *r, struct io *io, const struct rtsp_limits *limits)
{
    *r = (struct rtsp_reader){ .io = io, .limits = limits, .cseq = -1 };
}

static void forget_message(struct rtsp_reader *r)
{
    free(r->msg.fields);
    r->msg = (struct rtsp_message){ .cseq = -1 };
    r->in_body = r->given = false;
}

void rtsp_reader_fini(struct rtsp_reader *r)
{
    forget_message(r);
    free(r->buf);
    *r = (struct rtsp_reader){ .cseq = -1 };
}

void rtsp_reader_add_channel(struct rtsp_reader *r, uint8_t channel)
{
    r->channels[channel / 8] |= (uint8_t)(1u << channel % 8);
}

static err_t refuse(struct rtsp_reader *r, int status, err_t err)
{
    r->status = status;
    return err;
}

/* ---- the item at r->begin */

enum begins { BEGINS_NOTHING, BEGINS_ITEM, BEGINS_MAYBE };

/* RFC 2326 section 4.1: empty lines are tolerated, up to a limit, because a peer that sends nothing
 * else is idle. */
static err_t skip_blank(struct rtsp_reader *r)
{
    while (r->begin < r->end && (r->buf[r->begin] == '\r' || r->buf[r->begin] == '\n')) {
        r->begin++;
        r->blank++;
    }
    if (r->blank > BLANK_MOST)
        return refuse(r, 400, err_new(ERR_RTSP, "over %d bytes of empty lines", BLANK_MOST));
    return NULL;
}

static enum begins same_begin(const uint8_t *p, size_t size, const char *text)
{
    size_t n = strlen(text);

    if (memcmp(p, text, size < n ? size : n) != 0)
        return BEGINS_NOTHING;
    return size < n ? BEGINS_MAYBE : BEGINS_ITEM;
}

/* Checks whether a message may begin like this: a server's response, or a request of its own. */
static enum begins message_begins(const uint8_t *p, size_t size)
{
    enum begins best = same_begin(p, size, "RTSP/");

    for (int m = 0; m < RTSP_OTHER && best != BEGINS_ITEM; m++) {
        const char *name = rtsp_method_name((enum rtsp_method)m);
        enum begins b = same_begin(p, size, name);
        size_t n = strlen(name);

        if (b == BEGINS_ITEM && (size == n || p[n] != ' '))
            b = size == n ? BEGINS_MAYBE : BEGINS_NOTHING;
        if (b != BEGINS_NOTHING)
            best = b;
    }
    return best;
}

/* After bytes that are not an item, a '$' alone does not prove a frame. */
static enum begins frame_begins(const struct rtsp_reader *r, const uint8_t *p, size_t size)
{
    if (r->lost == 0)
        return BEGINS_ITEM;
    if (size >= 2 && !(r->channels[p[1] / 8] & 1u << p[1] % 8))
        return BEGINS_NOTHING;
    if (size < RTSP_FRAME_HEAD)
        return BEGINS_MAYBE;
    return (p[2] << 8 | p[3]) >= SANE_FRAME ? BEGINS_ITEM : BEGINS_NOTHING;
}

/* Skips to the start of an item; *begins tells whether one was found. */
static err_t find_item(struct rtsp_reader *r, enum begins *begins)
{
    *begins = BEGINS_NOTHING;
    while (r->begin < r->end) {
        const uint8_t *p = r->buf + r->begin;
        size_t size = r->end - r->begin;

        *begins = *p == '$' ? frame_begins(r, p, size) : message_begins(p, size);
        if (*begins != BEGINS_NOTHING)
            return NULL;
        r->begin++;
        r->lost++;
        r->skipped++;
    }
    if (r->lost > LOST_MOST)
        return err_new(ERR_RTSP, "over %d bytes that are neither messages nor frames", LOST_MOST);
    return NULL;
}

static err_t check_start(struct rtsp_reader *r, enum begins *begins)
{
    err_t err = r->lost > 0 ? NULL : skip_blank(r);
    uint8_t c;

    *begins = BEGINS_NOTHING;
    if (err || r->begin == r->end)
        return err;
    if (r->forgiving)
        return find_item(r, begins);
    c = r->buf[r->begin];
    *begins = BEGINS_ITEM;
    if (c == '$' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
        return NULL;
    return refuse(r, 400, err_new(ERR_RTSP, "byte 0x%02x starts neither a message nor a frame", c));
}

/* ---- items */

static err_t measure_frame(struct rtsp_reader *r)
{
    const uint8_t *p = r->buf + r->begin;

    if (!r->frames)
        return refuse(r, 400, err_new(ERR_RTSP, "a frame, but no TCP transport was agreed"));
    if (r->end - r->begin >= RTSP_FRAME_HEAD)
        r->need = RTSP_FRAME_HEAD + (size_t)(p[2] << 8 | p[3]);
    return NULL;
}

/* Refuses a head that is too large before its end arrives. */
static err_t check_size(struct rtsp_reader *r, const uint8_t *p, size_t size)
{
    size_t line = r->limits->max_line + 2; /* including the line end */

    if (size >= line && !memchr(p, '\n', line))
        return refuse(r, 414, err_new(ERR_TOO_LARGE, "first line of over %zu bytes", line - 2));
    if (size > r->limits->max_head)
        return refuse(r, 400, err_new(ERR_TOO_LARGE, "head of over %zu bytes",
                                      r->limits->max_head));
    return NULL;
}

static err_t measure_message(struct rtsp_reader *r)
{
    uint8_t *p = r->buf + r->begin;
    size_t size = r->end - r->begin, head = rtsp_head_end(p, size, &r->scanned);
    err_t err = check_size(r, p, head > 0 ? head : size);

    if (err || head == 0)
        return err;
    err = rtsp_head_split(r, (char *)p, head, &r->need);
    if (err)
        return err;
    r->in_body = true;
    r->msg.size = r->need - head;
    return NULL;
}

/* Determines the size of the item at r->begin. */
static err_t measure(struct rtsp_reader *r)
{
    enum begins begins = BEGINS_ITEM;
    err_t err = NULL;

    if (r->need == 0)
        err = check_start(r, &begins);
    if (err || begins != BEGINS_ITEM || r->need > 0)
        return err;
    return r->buf[r->begin] == '$' ? measure_frame(r) : measure_message(r);
}

/* Returns the complete item of r->need bytes. */
static void deliver(struct rtsp_reader *r, struct rtsp_item *out)
{
    uint8_t *p = r->buf + r->begin;

    if (r->in_body) {
        r->msg.body = p + r->need - r->msg.size;
        rtsp_head_finish(&r->msg, (char *)p);
        *out = (struct rtsp_item){ .kind = RTSP_ITEM_MESSAGE, .message = &r->msg };
        r->given = true;
    } else {
        *out = (struct rtsp_item){ .kind = RTSP_ITEM_FRAME, .channel = p[1],
                                   .data = p + RTSP_FRAME_HEAD,
                                   .size = r->need - RTSP_FRAME_HEAD };
    }
    r->begin += r->need;
    r->need = r->scanned = r->lost = r->blank = 0;
    r->until = 0;
}

/* An item that has started must end in time. */
static err_t check_time(struct rtsp_reader *r, struct rtsp_item *out)
{
    if (r->begin == r->end) {
        r->until = 0;
        return NULL;
    }
    if (r->limits->message_time == CO_FOREVER)
        return NULL;
    if (r->until == 0) {
        r->until = co_clock() + r->limits->message_time;
        return NULL;
    }
    if (co_clock() < r->until)
        return NULL;
    if (r->forgiving && r->in_body) { /* the camera sent a wrong Content-Length */
        size_t more = r->need - (r->end - r->begin);

        r->need -= more;
        r->msg.size -= more;
        deliver(r, out);
        return NULL;
    }
    return refuse(r, r->begin < r->end && r->buf[r->begin] == '$' ? 0 : 408,
                  err_new(ERR_IO_TIMEOUT, "message or frame takes too long"));
}

err_t rtsp_reader_take(struct rtsp_reader *r, struct rtsp_item *out)
{
    err_t err;

    *out = (struct rtsp_item){ .kind = RTSP_ITEM_NONE };
    if (r->given)
        forget_message(r);
    if (r->need == 0)
        r->cseq = -1;
    err = measure(r);
    if (err)
        return err;
    if (r->need > 0 && r->end - r->begin >= r->need) {
        deliver(r, out);
        return NULL;
    }
    return check_time(r, out);
}

/* ---- bytes */

/* Makes room after r->end, for the whole item if its size is known. */
static err_t make_room(struct rtsp_reader *r)
{
    size_t have = r->end - r->begin, want = r->need > have ? r->need : have + 1, cap = r->cap;
    uint8_t *buf;

    if (r->begin > 0 && (r->cap - r->end < r->cap / 2 || r->begin + want > r->cap || have == 0)) {
        memmove(r->buf, r->buf + r->begin, have);
        r->begin = 0;
        r->end = have;
    }
    if (r->full && cap < BIG_READ)
        cap *= 2;
    if (cap < FIRST_CAP)
        cap = FIRST_CAP;
    while (cap < r->begin + want)
        cap *= 2;
    r->full = false;
    if (cap == r->cap)
        return NULL;
    buf = mem_try_more(r->buf, cap);
    if (!buf)
        return refuse(r, 503, err_new(ERR_NO_MEMORY, "%zu bytes for an item", cap));
    r->buf = buf;
    r->cap = cap;
    return NULL;
}

err_t rtsp_reader_fill(struct rtsp_reader *r, bool wait, size_t *n)
{
    err_t err = make_room(r);
    size_t room = r->cap - r->end;

    *n = 0;
    if (err)
        return err;
    if (r->given)
        forget_message(r);
    err = wait ? io_read(r->io, r->buf + r->end, room, n)
               : io_read_now(r->io, r->buf + r->end, room, n);
    if (err)
        return err;
    r->end += *n;
    r->full = *n == room;
    return NULL;
}

/* ---- reading many frames */

/* Read buffer shared by the thread's readers. A pipe fills it after its last wait, and all of it is
 * consumed before anything else runs. A small rest of the previous read is copied in front. */
static _Thread_local uint8_t *shared;

/* An incomplete message stays in the reader's own buffer. */
static bool may_share(const struct rtsp_reader *r)
{
    size_t have = r->end - r->begin;

    return r->frames && r->lost == 0 && !r->in_body && have <= LEFT_MOST &&
           (have == 0 || r->buf[r->begin] == '$');
}

/* Passes on all complete frames; returns their total size. */
static size_t pass_frames(const uint8_t *p, size_t size, rtsp_frame_fn *frame, void *arg)
{
    size_t at = 0;

    while (size - at >= RTSP_FRAME_HEAD && p[at] == '$') {
        size_t n = (size_t)(p[at + 2] << 8 | p[at + 3]);

        if (size - at - RTSP_FRAME_HEAD < n)
            break;
        frame(arg, p[at + 1], p + at + RTSP_FRAME_HEAD, n);
        at += RTSP_FRAME_HEAD + n;
    }
    return at;
}

/* Keeps the rest in the reader's own buffer. */
static err_t keep(struct rtsp_reader *r, const uint8_t *p, size_t size)
{
    if (size > r->cap || (size == 0 && r->cap > LEFT_MOST)) {
        free(r->buf);
        r->cap = 0;
        r->buf = size > 0 ? mem_try(size) : NULL;
        if (size > 0 && !r->buf)
            return refuse(r, 503, err_new(ERR_NO_MEMORY, "%zu bytes for an item", size));
        r->cap = size;
    }
    if (size > 0)
        memcpy(r->buf, p, size);
    r->begin = 0;
    r->end = size;
    return NULL;
}

err_t rtsp_reader_frames(struct rtsp_reader *r, bool wait, rtsp_frame_fn *frame, void *arg,
                         size_t *n)
{
    size_t have = r->end - r->begin, done;
    uint8_t *p;
    err_t err;

    if (r->given)
        forget_message(r);
    if (!may_share(r))
        return rtsp_reader_fill(r, wait, n);
    if (!shared)
        shared = thread_own(LEFT_MOST + RTSP_READ_MOST, NULL);
    p = shared + LEFT_MOST;
    *n = 0;
    err = wait ? io_read(r->io, p, RTSP_READ_MOST, n) : io_read_now(r->io, p, RTSP_READ_MOST, n);
    if (err || *n == 0)
        return err;
    p -= have;
    if (have > 0)
        memcpy(p, r->buf + r->begin, have);
    done = pass_frames(p, have + *n, frame, arg);
    if (done > 0) { /* the rest is a new item */
        r->need = r->scanned = 0;
        r->until = 0;
        r->blank = 0;
    }
    r->full = false;
    return keep(r, p + done, have + *n - done);
}

static err_t fill_in_time(struct rtsp_reader *r)
{
    bool begun = r->until > 0;
    co_usec left = begun ? r->until - co_clock() : r->limits->idle_time;
    size_t n;
    err_t err;

    r->io->read_timeout = begun && left < 1 ? 1 : left;
    err = rtsp_reader_fill(r, true, &n);
    if (err && begun && err_code(err) == ERR_IO_TIMEOUT)
        err_free(&err); /* the code that examines the item reports the timeout */
    if (err && r->begin < r->end)
        return err_wrap(err, "in the middle of a message or frame");
    return err;
}

err_t rtsp_reader_next(struct rtsp_reader *r, struct rtsp_item *out)
{
    for (;;) {
        err_t err = rtsp_reader_take(r, out);

        if (err || out->kind != RTSP_ITEM_NONE)
            return err;
        err = fill_in_time(r);
        if (err)
            return err;
    }
}

void rtsp_reader_detach(struct rtsp_reader *r, const uint8_t **rest, size_t *size)
{
    *rest = r->buf + r->begin;
    *size = r->end - r->begin;
}

void rtsp_reader_trim(struct rtsp_reader *r)
{
    if (r->given)
        forget_message(r);
    if (r->begin < r->end)
        return;
    free(r->buf);
    r->buf = NULL;
    r->begin = r->end = r->cap = 0;
    r->full = false;
}
