/* SPDX-License-Identifier: MIT */
/* warn_environment.c - warns about variables SRS_... that are not settings. */
#include "conf/warn.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MAX_SHOWN = 128 };

/* Used by the program, its scripts, packages and images, or by those of older servers. */
static const char *const others[] = {
    "SRS_CONFIG_FILE", "SRS_ENV_ONLY", "SRS_DEVICE_IP", "SRS_PLATFORM", "SRS_REGION", "SRS_SOURCE",
    "SRS_QUERY_LATEST_VERSION", "SRS_FIRST_WAIT_FOR_QLV", "SRS_HOME", "SRS_USER", "SRS_CONF",
    "SRS_PIDFILE", "SRS_NOFILE", "SRS_WAIT", "SRS_DEFAULTS", "SRS_BINARY", "SRS_VERSION",
    "SRS_TAG", "SRS_LOG", "SRS_CHUNK_SIZE",
};

/* Kubernetes describes a service "srs" with SRS_SERVICE_HOST, SRS_PORT_1935_TCP_ADDR and similar
 * variables; so do links of Docker. */
static bool is_of_service(const char *name, const char *value)
{
    const char *port = strstr(name, "_PORT_");

    return strstr(name, "_SERVICE_HOST") || strstr(name, "_SERVICE_PORT") ||
           (port && isdigit((unsigned char)port[strlen("_PORT_")])) ||
           strncmp(value, "tcp://", 6) == 0 || strncmp(value, "udp://", 6) == 0;
}

/* Name to find, and the most similar one so far. */
struct search {
    const char *name;
    size_t size;
    int least;
    char nearest[NAME_MAX_SHOWN];
    bool found;
};

static void check_name(struct search *s, const char *name, size_t size)
{
    char text[NAME_MAX_SHOWN];
    int d, gap;

    if (size == s->size && memcmp(name, s->name, size) == 0)
        s->found = true;
    gap = (int)size - (int)s->size;
    if (s->found || size >= sizeof(text) || gap >= s->least || -gap >= s->least)
        return; /* cannot be more similar */
    (void)snprintf(text, sizeof(text), "%.*s", (int)size, name);
    d = conf_table_distance(text + 4, s->name + 4); /* after SRS_ */
    if (d < s->least) {
        s->least = d;
        memcpy(s->nearest, text, size + 1);
    }
}

static void check_row(struct search *s, const struct conf_row *row, const char *path)
{
    char buf[NAME_MAX_SHOWN];
    struct conf_row plain = *row;
    const char *names;

    if (row->kind == CONF_KIND_OBSOLETE) /* an old setting: ignored without a warning */
        plain.kind = CONF_KIND_STRING;
    for (names = conf_row_env(&plain, path, buf, sizeof(buf)); *names;) {
        size_t n = strcspn(names, " ");

        check_name(s, names, n);
        s->found |= row->kind == CONF_KIND_OBSOLETE && strncmp(s->name, names, n) == 0 &&
                    s->name[n] == '_'; /* in a former block */
        names += n + strspn(names + n, " ");
    }
}

/* Blocks are nested at most four levels deep, so the tables bound this recursion. */
static void check_block(struct search *s, const struct conf_block *b, const char *path)
{
    for (size_t i = 0; i < b->n && !s->found; i++) {
        const struct conf_row *row = &b->rows[i];
        char inner[NAME_MAX_SHOWN];

        check_row(s, row, path);
        if (!row->block || (row->flags & CONF_NO_ENV))
            continue;
        (void)snprintf(inner, sizeof(inner), "%.90s%s%.30s", path, *path ? "." : "", row->name);
        check_block(s, row->block, inner);
    }
}

static bool is_other(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strlen(others[i]) == size && memcmp(others[i], name, size) == 0)
            return true;
    }
    return false;
}

static void check_variable(const struct conf_ctx *ctx, const char *variable)
{
    size_t size = strcspn(variable, "=");
    char name[NAME_MAX_SHOWN];
    struct search s = { .name = name, .size = size };
    struct conf_ctx at = *ctx;

    if (strncmp(variable, "SRS_", 4) != 0 || !variable[size] || !variable[size + 1] ||
        size >= sizeof(name) || is_other(variable, size) ||
        is_of_service(variable, variable + size + 1))
        return;
    (void)snprintf(name, sizeof(name), "%.*s", (int)size, variable);
    s.least = (int)size / 3 + 1;
    check_block(&s, &conf_table_root, "");
    if (s.found)
        return;
    at.where = "environment";
    if (*s.nearest)
        conf_warn(&at, "%s is not a setting and has no effect; did you mean %s?", name, s.nearest);
    else
        conf_warn(&at, "%s is not a setting and has no effect; see doc/config.md", name);
}

void conf_warn_environment(const struct conf_ctx *ctx)
{
    const char *const *v = ctx->src->environment;

    if (!v && !ctx->src->getenv)
        v = (const char *const *)environ;
    for (; v && *v; v++)
        check_variable(ctx, *v);
}
