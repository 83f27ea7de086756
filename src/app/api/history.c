/* SPDX-License-Identifier: MIT */
/* history.c - /api/v1/history: the last hour as columns, the oldest sample first. */
#include "app/history.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_VHOST "__defaultVhost__"

enum { NAME_SIZE = 1024 };

struct column {
    const char *name;
    int what;
    bool percent; /* shown in percent, from thousandths */
};

static const struct column totals[] = {
    { "recv_kbps", HISTORY_RECV, false }, { "send_kbps", HISTORY_SEND, false },
    { "clients", HISTORY_CLIENTS, false }, { "publishers", HISTORY_PUBLISHERS, false },
    { "players", HISTORY_PLAYERS, false }, { "streams", HISTORY_LIVE, false },
    { "cpu_percent", HISTORY_CPU, true }, { "memory_kb", HISTORY_MEMORY, false },
    { .name = NULL },
};
static const struct column of_stream[] = {
    { "recv_kbps", HISTORY_STREAM_RECV, false }, { "send_kbps", HISTORY_STREAM_SEND, false },
    { "clients", HISTORY_STREAM_CLIENTS, false }, { .name = NULL },
};

static void put_value(struct jput *j, const struct column *c, uint32_t v)
{
    if (v == HISTORY_NONE)
        jput_null(j, NULL);
    else if (c->percent)
        jput_real(j, NULL, v / 10.0, 1);
    else
        jput_uint(j, NULL, v);
}

/* Writes the columns of the server (-1) or of a stream. */
static void put_columns(struct jput *j, const struct history *h, int stream, unsigned n)
{
    const struct column *c = stream < 0 ? totals : of_stream;

    for (; c->name; c++) {
        jput_open(j, c->name, '[');
        for (unsigned i = n; i-- > 0;)
            put_value(j, c, history_value(h, stream, c->what, i));
        jput_close(j, ']');
    }
}

static void put_names(struct jput *j, const struct history *h)
{
    const char *name;

    jput_open(j, "streams", '[');
    for (size_t i = 0; (name = history_stream_name(h, i)); i++)
        jput_text(j, NULL, name);
    jput_close(j, ']');
}

/* Compares with "vhost/app/stream"; the default vhost may be omitted. */
static bool is_called(const char *name, const char *asked)
{
    size_t n = strlen(DEFAULT_VHOST);

    return strcmp(name, asked) == 0 ||
           (strncmp(name, DEFAULT_VHOST, n) == 0 && name[n] == '/' &&
            strcmp(name + n + 1, asked) == 0);
}

static err_t history(struct api_call *c)
{
    const struct history *h = c->of->history;
    char asked[NAME_SIZE];
    const char *name;
    int64_t at = 0;
    long most = api_number(c, "count", HISTORY_SAMPLES);
    unsigned n = h ? history_count(h, &at) : 0;
    bool one = api_param(c, "stream", asked, sizeof(asked)) != NULL;

    if (most >= 0 && (unsigned long)most < n)
        n = (unsigned)most;
    jput_open(&c->j, "data", '{');
    jput_int(&c->j, "step_ms", HISTORY_MS);
    jput_int(&c->j, "end", at);
    jput_uint(&c->j, "samples", n);
    if (h) {
        jput_open(&c->j, "total", '{');
        put_columns(&c->j, h, -1, n);
        jput_close(&c->j, '}');
        put_names(&c->j, h);
        for (size_t i = 0; one && (name = history_stream_name(h, i)); i++) {
            if (!is_called(name, asked))
                continue;
            jput_open(&c->j, "stream", '{');
            jput_text(&c->j, "name", name);
            put_columns(&c->j, h, (int)i, n);
            jput_close(&c->j, '}');
            break;
        }
    }
    jput_close(&c->j, '}');
    return NULL;
}

const struct api_row api_rows_history[] = {
    { "history", "the last hour: rates, clients, streams, CPU; ?stream=app/name", API_READ,
      history, NULL },
    { .path = NULL },
};
