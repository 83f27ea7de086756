/* SPDX-License-Identifier: MIT */
/* log.c - the newest log lines, for clients with the password. */
#include "app/api/api.h"
#include "app/api/change.h"
#include "app/log/file.h"
#include "base/log_clean.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_DEFAULT = 100, LINES_MAX = 1000 };

/* Hides secrets by the current log_secrets, also in lines logged while it was on. */
static void put_line(struct api_call *c, const char *line)
{
    char *hidden = c->x->conf->log_secrets ? NULL : log_hide(line);

    jput_text(&c->j, NULL, hidden ? hidden : line);
    free(hidden);
}

static err_t put_lines(struct api_call *c, char *text)
{
    err_t err = NULL;

    for (char *end; !err && (end = strchr(text, '\n')); text = end + 1) {
        *end = '\0';
        put_line(c, text);
        err = api_yield_if_due(c);
    }
    return err;
}

static err_t last_lines(struct api_call *c)
{
    long lines = api_number(c, "lines", LINES_DEFAULT);
    char text[24];
    const char *after = api_param(c, "after", text, sizeof(text));
    uint64_t end;
    char *copy;
    err_t err;

    if (!api_is_trusted(c)) /* lines contain addresses, folders and errors */
        return api_refuse(c->x, 403, "the log needs a password: set http_api { auth { ... } } and "
                                     "send it");
    lines = lines < 0 ? 0 : lines > LINES_MAX ? LINES_MAX : lines;
    copy = log_file_last(after ? strtoull(after, NULL, 10) : 0, (size_t)lines, &end);
    jput_open(&c->j, "data", '{');
    jput_uint(&c->j, "end", end);
    jput_open(&c->j, "lines", '[');
    err = put_lines(c, copy);
    free(copy);
    jput_close(&c->j, ']');
    jput_close(&c->j, '}');
    return err;
}

const struct api_row api_rows_log[] = {
    { "log", "the newest log lines; needs the password", API_READ, last_lines, NULL },
    { .path = NULL },
};
