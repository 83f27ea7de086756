/* SPDX-License-Identifier: MIT */
/* err.c - errors that carry a trace. */
#include "base/err.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 8, MAX_MSG = 128 };

struct frame {
    const char *file, *func;
    int line;
    char msg[MAX_MSG];
};

struct err {
    enum err_code code;
    int sys;      /* errno when the error was created, or 0 */
    int n;        /* frames in use; frames[0] is its origin */
    int dropped;  /* wraps that did not fit: the outermost frame is overwritten */
    bool fixed;   /* the out-of-memory error: never freed, never counted */
    struct frame frames[MAX_FRAMES];
};

static const struct {
    enum err_code code;
    enum err_class cls;
    const char *name, *text;
} table[] = {
#define XX(name, number, cls, text) { ERR_##name, ERR_CLASS_##cls, #name, text },
    ERR_MAP(XX)
#undef XX
};

static _Thread_local long live;
static struct err no_memory = { .code = ERR_NO_MEMORY, .fixed = true };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void __attribute__((format(printf, 5, 0)))
push_frame(struct err *e, const char *file, int line, const char *func, const char *fmt,
           va_list ap)
{
    struct frame *f;

    if (e->n == MAX_FRAMES) {
        e->n--;
        e->dropped++;
    }
    f = &e->frames[e->n++];
    f->file = base_name(file);
    f->func = func;
    f->line = line;
    (void)vsnprintf(f->msg, sizeof(f->msg), fmt, ap);
}

err_t err_new_at(const char *file, int line, const char *func, enum err_code code,
                 int with_errno, const char *fmt, ...)
{
    int sys = with_errno ? errno : 0;
    struct err *e = calloc(1, sizeof(*e));
    va_list ap;

    if (!e)
        return &no_memory;
    live++;
    e->code = code;
    e->sys = sys;
    va_start(ap, fmt);
    push_frame(e, file, line, func, fmt, ap);
    va_end(ap);
    return e;
}

err_t err_wrap_at(const char *file, int line, const char *func, err_t err, const char *fmt, ...)
{
    va_list ap;

    if (err->fixed)
        return err;
    va_start(ap, fmt);
    push_frame(err, file, line, func, fmt, ap);
    va_end(ap);
    return err;
}

__attribute__((format(printf, 3, 4)))
static size_t append(char *buf, size_t size, const char *fmt, ...)
{
    size_t used = strlen(buf);
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(buf + used, size - used, fmt, ap);
    va_end(ap);
    return strlen(buf);
}

const char *err_facts(err_t err, char *buf, size_t size)
{
    if (size > 0)
        buf[0] = '\0';
    for (int i = err ? err->n : 0; i > 0; i--)
        (void)append(buf, size, "%s%s", i < err->n ? ": " : "", err->frames[i - 1].msg);
    if (err && err->sys)
        (void)append(buf, size, " (%s)", strerror(err->sys));
    return buf;
}

err_t err_copy(err_t err)
{
    struct err *e;

    if (!err || err->fixed)
        return err;
    e = malloc(sizeof(*e));
    if (!e)
        return &no_memory;
    live++;
    *e = *err;
    return e;
}

void err_hide(err_t err, const char *secret)
{
    enum { SHORTEST = 4, STARS = 3 };
    size_t n = secret ? strlen(secret) : 0;

    for (int i = 0; err && !err->fixed && n >= SHORTEST && i < err->n; i++) {
        for (char *at = err->frames[i].msg; (at = strstr(at, secret)); at += STARS) {
            memset(at, '*', STARS);
            memmove(at + STARS, at + n, strlen(at + n) + 1);
        }
    }
}

enum err_code err_code(err_t err)
{
    return err ? err->code : ERR_OK;
}

static size_t find(enum err_code code)
{
    size_t i;

    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].code == code)
            return i;
    }
    assert(!"a code that is not in ERR_MAP");
    return 0;
}

enum err_class err_class(err_t err)
{
    return err ? table[find(err->code)].cls : ERR_CLASS_PEER;
}

const char *err_text(err_t err, char *buf, size_t size)
{
    size_t row;
    int i;

    buf[0] = '\0';
    if (!err)
        return "ok";
    row = find(err->code);
    append(buf, size, "code=%d(%s)(%s)", (int)err->code, table[row].name, table[row].text);
    for (i = err->n - 1; i >= 0; i--)
        append(buf, size, " : %s", err->frames[i].msg);
    if (err->sys)
        append(buf, size, " (%s)", strerror(err->sys));
    return buf;
}

const char *err_message(err_t err, char *buf, size_t size)
{
    buf[0] = '\0';
    if (!err)
        return "ok";
    append(buf, size, "%s", table[find(err->code)].text);
    for (int i = err->n - 1; i >= 0; i--)
        append(buf, size, ": %s", err->frames[i].msg);
    if (err->sys)
        append(buf, size, " (%s)", strerror(err->sys));
    return buf;
}

const char *err_frame(err_t err, int i, char *buf, size_t size)
{
    const struct frame *f;

    if (!err || i < 0 || i >= err->n)
        return NULL;
    f = &err->frames[err->n - 1 - i];
    (void)snprintf(buf, size, "%s() [%s:%d][errno=%d]", f->func, f->file, f->line,
                   i == err->n - 1 ? err->sys : 0);
    return buf;
}

void err_free(err_t *err)
{
    if (*err && !(*err)->fixed) {
        live--;
        free(*err);
    }
    *err = NULL;
}

long err_live(void)
{
    return live;
}
