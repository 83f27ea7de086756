/* SPDX-License-Identifier: MIT */
/* guard.c - counts and logs refused API requests. */
#include "app/api/guard.h"

#include "base/log.h"
#include "base/must.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE_EVERY CO_SECONDS(1)

struct api_guard {
    uint64_t denied[API_DENIALS];
    co_usec logged_at; /* time of the last log line */
    uint64_t unlogged; /* refusals since then */
};

struct api_guard *api_guard_new(void)
{
    return must(calloc(1, sizeof(struct api_guard)));
}

void api_guard_free(struct api_guard *g)
{
    free(g);
}

void api_guard_deny(struct api_guard *g, enum api_denial why, co_usec now, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    g->denied[why]++;
    if (g->logged_at && now - g->logged_at < LINE_EVERY) {
        g->unlogged++;
        return;
    }
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (g->unlogged)
        log_always(LOG_WARN, "API: %s; %llu more requests were refused since the last line", text,
                   (unsigned long long)g->unlogged);
    else
        log_always(LOG_WARN, "API: %s", text);
    g->logged_at = now;
    g->unlogged = 0;
}

uint64_t api_guard_denied(const struct api_guard *g, enum api_denial why)
{
    return g->denied[why];
}

const char *api_guard_name(enum api_denial why)
{
    static const char *const names[API_DENIALS] = { "password", "locked", "address", "page",
                                                    "public" };

    return names[why];
}
