/* SPDX-License-Identifier: MIT */
/* expand.c - replaces variables in paths and URLs. */
#include "conf/expand.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static bool is(const char *name, size_t size, const char *word)
{
    return strlen(word) == size && memcmp(word, name, size) == 0;
}

/* Returns the text of a time variable, or NULL. */
static const char *time_value(const struct conf_expand *with, const char *name, size_t size,
                              char *buf, size_t cap)
{
    time_t sec = (time_t)(with->msec / 1000);
    struct tm tm;

    if (with->msec < 0 || !(with->utc ? gmtime_r(&sec, &tm) : localtime_r(&sec, &tm)))
        return NULL;
    const struct {
        const char *name;
        int digits;
        long long value;
    } fields[] = {
        { "2006", 4, tm.tm_year + 1900LL }, { "01", 2, tm.tm_mon + 1 }, { "02", 2, tm.tm_mday },
        { "15", 2, tm.tm_hour }, { "04", 2, tm.tm_min }, { "05", 2, tm.tm_sec },
        { "999", 3, with->msec % 1000 }, { "timestamp", 1, with->msec },
    };

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (is(name, size, fields[i].name)) {
            (void)snprintf(buf, cap, "%0*lld", fields[i].digits, fields[i].value);
            return buf;
        }
    }
    return NULL;
}

/* Rejects values such as "../../etc/x" that would leave the folder. */
static bool safe_in_path(const char *value)
{
    for (const char *p = value; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            return false;
    }
    for (const char *p = strstr(value, ".."); p; p = strstr(p + 1, "..")) {
        bool begins = p == value || p[-1] == '/';

        if (begins && (p[2] == '/' || p[2] == '\0'))
            return false;
    }
    return true;
}

static err_t value_of(const struct conf_expand *with, const char *name, size_t size, char *buf,
                      size_t cap, const char **value)
{
    for (size_t i = 0; i < with->n; i++) {
        if (!is(name, size, with->v[i].name))
            continue;
        *value = with->v[i].value;
        if (with->file && !safe_in_path(*value))
            return err_new(ERR_MALFORMED, "[%s] is \"%.50s\": not allowed in a path",
                           with->v[i].name,
                           *value);
        return NULL;
    }
    *value = time_value(with, name, size, buf, cap);
    return NULL;
}

static bool put(char *buf, size_t size, size_t *at, const char *s, size_t n)
{
    if (n >= size - *at)
        return false;
    memcpy(buf + *at, s, n);
    *at += n;
    buf[*at] = '\0';
    return true;
}

err_t conf_expand(const char *text, const struct conf_expand *with, char *buf, size_t size)
{
    size_t at = 0;

    buf[0] = '\0';
    while (*text) {
        size_t n = *text == '[' ? 0 : strcspn(text, "[");
        const char *close = n ? NULL : strchr(text, ']');
        const char *value = NULL;
        char tmp[32];
        err_t err;

        if (close) {
            err = value_of(with, text + 1, (size_t)(close - text - 1), tmp, sizeof(tmp), &value);
            if (err)
                return err;
        }
        if (!n && !value)
            n = 1; /* a literal bracket */
        if (!put(buf, size, &at, value ? value : text, value ? strlen(value) : n))
            return err_new(ERR_TOO_LARGE, "longer than %zu bytes: %.60s", size - 1, buf);
        text = value ? close + 1 : text + n;
    }
    return NULL;
}

bool conf_expand_is_file(const char *path)
{
    return text_ends(path, ".flv") || text_ends(path, ".mp4");
}

void conf_expand_folder(const char *path, bool file, char *out, size_t size)
{
    size_t n = strcspn(path, "[");
    bool whole = path[n] == '\0' && !file;

    while (!whole && n > 0 && path[n - 1] != '/')
        n--;
    while (n > 1 && path[n - 1] == '/')
        n--;
    (void)snprintf(out, size, "%.*s", n > 0 ? (int)n : 1, n > 0 ? path : ".");
}
