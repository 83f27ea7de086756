/* SPDX-License-Identifier: MIT */
/* guard.c - requests that the API refused. */
#include "app/api/guard.h"

#include "base/log.h"
#include "base/must.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE_EVERY CO_SECONDS(1)

struct api_guard {
    uint64_t denied[API_DENIALS];
    co_usec said;    /* when the last line was written */
    uint64_t unsaid; /* refused since, without a line */
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
    if (g->said && now - g->said < LINE_EVERY) {
        g->unsaid++;
        return;
    }
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (g->unsaid)
        log_always(LOG_WARN, "API: %s; %llu more were refused since the last line", text,
                   (unsigned long long)g->unsaid);
    else
        log_always(LOG_WARN, "API: %s", text);
    g->said = now;
    g->unsaid = 0;
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
