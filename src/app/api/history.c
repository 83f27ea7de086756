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
    bool percent; /* of thousandths */
};

static const struct column totals[] = {
    { "recv_kbps", HISTORY_RECV, false }, { "send_kbps", HISTORY_SEND, false },
    { "clients", HISTORY_CLIENTS, false }, { "publishers", HISTORY_PUBLISHERS, false },
    { "players", HISTORY_PLAYERS, false }, { "streams", HISTORY_LIVE, false },
    { "cpu_percent", HISTORY_CPU, true }, { "memory_kb", HISTORY_MEMORY, false },
};
static const struct column of_stream[] = {
    { "recv_kbps", HISTORY_STREAM_RECV, false }, { "send_kbps", HISTORY_STREAM_SEND, false },
    { "clients", HISTORY_STREAM_CLIENTS, false },
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

static void put_totals(struct jput *j, const struct history *h, unsigned n)
{
    jput_open(j, "total", '{');
    for (size_t k = 0; k < sizeof(totals) / sizeof(totals[0]); k++) {
        jput_open(j, totals[k].name, '[');
        for (unsigned i = n; i-- > 0;)
            put_value(j, &totals[k], history_total(h, (enum history_total)totals[k].what, i));
        jput_close(j, ']');
    }
    jput_close(j, '}');
}

static void put_stream(struct jput *j, const struct history *h, size_t at, unsigned n)
{
    jput_open(j, "stream", '{');
    jput_text(j, "name", history_stream_name(h, at));
    for (size_t k = 0; k < sizeof(of_stream) / sizeof(of_stream[0]); k++) {
        enum history_of_stream what = (enum history_of_stream)of_stream[k].what;

        jput_open(j, of_stream[k].name, '[');
        for (unsigned i = n; i-- > 0;)
            put_value(j, &of_stream[k], history_stream(h, at, what, i));
        jput_close(j, ']');
    }
    jput_close(j, '}');
}

static void put_names(struct jput *j, const struct history *h)
{
    const char *name;

    jput_open(j, "streams", '[');
    for (size_t i = 0; (name = history_stream_name(h, i)); i++)
        jput_text(j, NULL, name);
    jput_close(j, ']');
}

/* "vhost/app/stream"; those of the default vhost without it, too. */
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
        put_totals(&c->j, h, n);
        put_names(&c->j, h);
        for (size_t i = 0; one && (name = history_stream_name(h, i)); i++) {
            if (!is_called(name, asked))
                continue;
            put_stream(&c->j, h, i, n);
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
