/* SPDX-License-Identifier: MIT */
/* value.c - converts the words of a directive to its typed field. */
#include "conf/value.h"

#include "conf/endpoint.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Parses one line of words into a field of this kind. */
typedef err_t set_fn(const struct conf_ctx *ctx, const struct conf_row *row,
                     const struct conf_list *words, void *field);

void conf_warn(const struct conf_ctx *ctx, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    int n;

    if (!ctx->report || !ctx->report->warn)
        return;
    n = snprintf(text, sizeof(text), "%.200s: ", ctx->where);
    va_start(ap, fmt);
    (void)vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
    va_end(ap);
    ctx->report->warn(ctx->report->arg, text);
}

const char *conf_env(const struct conf_source *src, const char *name)
{
    const char *value = src->getenv ? src->getenv(src->arg, name) : getenv(name);

    return value && *value ? value : NULL;
}

struct conf_list conf_split(struct conf_arena *a, const char *text)
{
    const char **v = conf_arena_get(a, (strlen(text) / 2 + 1) * sizeof(*v));
    size_t n = 0;

    for (;;) {
        size_t size;

        text += strspn(text, " \t\r\n");
        size = strcspn(text, " \t\r\n");
        if (size == 0)
            return (struct conf_list){ .v = v, .n = n };
        v[n++] = conf_arena_str(a, text, size);
        text += size;
    }
}

/* ------------------------------------------------------------------ numbers */

/* Parses the number at the beginning of a word. Ignores the rest, because files contain "10s". */
static err_t number(const struct conf_ctx *ctx, const struct conf_row *row, const char *word,
                    const char *units, double *v)
{
    static const double factors[] = { 1024.0, 1024.0 * 1024, 1024.0 * 1024 * 1024 };
    const char *unit;
    char *end;

    *v = strtod(word, &end);
    if (end == word || !isfinite(*v))
        return err_new(ERR_CONF, "\"%.40s\" is not a number", word);
    unit = *end ? strchr(units, *end | 0x20) : NULL;
    if (unit) {
        *v *= factors[unit - units];
        end++;
    }
    if (*end)
        conf_warn(ctx, "%s: \"%.20s\" after the number is ignored", row->name, end);
    return NULL;
}

static bool has_limits(const struct conf_row *row)
{
    return row->min < row->max;
}

/* Applies the limits of the row: an error, or the flags CONF_CLAMP and CONF_RESET. */
static err_t limited(const struct conf_ctx *ctx, const struct conf_row *row, double *v)
{
    double was = *v;

    if (!has_limits(row) || (*v >= row->min && *v <= row->max))
        return NULL;
    if (row->flags & CONF_CLAMP)
        *v = was < row->min ? row->min : row->max;
    else if (row->flags & CONF_RESET)
        *v = strtod(row->def, NULL);
    else
        return err_new(ERR_CONF, "%.10g is not within %.10g..%.10g", *v, row->min, row->max);
    conf_warn(ctx, "%s: %.10g is not within %.10g..%.10g, using %.10g", row->name, was, row->min,
              row->max, *v);
    return NULL;
}

static err_t read_number(const struct conf_ctx *ctx, const struct conf_row *row,
                         const struct conf_list *words, const char *units, double *v)
{
    err_t err = number(ctx, row, words->v[0], units, v);

    return err ? err : limited(ctx, row, v);
}

static err_t set_int(const struct conf_ctx *ctx, const struct conf_row *row,
                     const struct conf_list *words, void *field)
{
    double v = 0;
    err_t err = read_number(ctx, row, words, "", &v);

    if (!err && fabs(v) > INT32_MAX)
        err = err_new(ERR_CONF, "%.40s is too large", words->v[0]);
    if (!err)
        *(int *)field = (int)v;
    return err;
}

static err_t set_int_auto(const struct conf_ctx *ctx, const struct conf_row *row,
                          const struct conf_list *words, void *field)
{
    if (strcmp(words->v[0], "auto") != 0)
        return set_int(ctx, row, words, field);
    *(int *)field = (int)CONF_AUTO;
    return NULL;
}

static err_t set_size(const struct conf_ctx *ctx, const struct conf_row *row,
                      const struct conf_list *words, void *field)
{
    double v = 0;
    err_t err = read_number(ctx, row, words, "kmg", &v);

    if (!err && fabs(v) > 1e15)
        err = err_new(ERR_CONF, "%.40s is too large", words->v[0]);
    if (!err)
        *(int64_t *)field = (int64_t)v;
    return err;
}

static err_t set_float(const struct conf_ctx *ctx, const struct conf_row *row,
                       const struct conf_list *words, void *field)
{
    double v = 0;
    err_t err = read_number(ctx, row, words, "", &v);

    if (!err)
        *(double *)field = v;
    return err;
}

static err_t set_time(const struct conf_ctx *ctx, const struct conf_row *row,
                      const struct conf_list *words, double unit, void *field)
{
    double v = 0;
    err_t err = read_number(ctx, row, words, "", &v);

    if (!err && fabs(v) * unit > 1e17) /* three thousand years */
        err = err_new(ERR_CONF, "%.40s is too long", words->v[0]);
    if (!err)
        *(int64_t *)field = (int64_t)(v * unit + (v < 0 ? -0.5 : 0.5));
    return err;
}

static err_t set_seconds(const struct conf_ctx *ctx, const struct conf_row *row,
                         const struct conf_list *words, void *field)
{
    return set_time(ctx, row, words, 1e6, field);
}

static err_t set_msec(const struct conf_ctx *ctx, const struct conf_row *row,
                      const struct conf_list *words, void *field)
{
    return set_time(ctx, row, words, 1e3, field);
}

static err_t set_msec_auto(const struct conf_ctx *ctx, const struct conf_row *row,
                           const struct conf_list *words, void *field)
{
    if (strcmp(words->v[0], "auto") != 0)
        return set_msec(ctx, row, words, field);
    *(int64_t *)field = CONF_AUTO;
    return NULL;
}

/* ------------------------------------------------------------------ words */

static bool is_one_of(const char *word, const char *const *words, size_t n)
{
    size_t i = 0;

    while (i < n && strcasecmp(word, words[i]) != 0)
        i++;
    return i < n;
}

static err_t set_bool(const struct conf_ctx *ctx, const struct conf_row *row,
                      const struct conf_list *words, void *field)
{
    static const char *const yes[] = { "on", "yes", "true", "1" };
    static const char *const no[] = { "off", "no", "false", "0" };
    bool on = is_one_of(words->v[0], yes, 4), off = is_one_of(words->v[0], no, 4);
    bool value = row->kind == CONF_KIND_ON ? !off : on;

    if (!on && !off)
        conf_warn(ctx, "%s: \"%.40s\" is neither on nor off, using %s", row->name, words->v[0],
                  value ? "on" : "off");
    *(bool *)field = value;
    return NULL;
}

static err_t set_tri(const struct conf_ctx *ctx, const struct conf_row *row,
                     const struct conf_list *words, void *field)
{
    bool value;
    err_t err = set_bool(ctx, row, words, &value);

    *(enum conf_tri *)field = value ? CONF_ON : CONF_OFF;
    return err;
}

static err_t set_enum(const struct conf_ctx *ctx, const struct conf_row *row,
                      const struct conf_list *words, void *field)
{
    struct wr all;
    err_t err;

    (void)ctx;
    for (int i = 0; row->words[i]; i++) {
        if (strcmp(row->words[i], words->v[0]) == 0) {
            *(int *)field = i;
            return NULL;
        }
    }
    wr_init(&all, 256);
    for (int i = 0; row->words[i]; i++)
        conf_text(&all, "%s%s", i ? ", " : "", row->words[i]);
    err = err_new(ERR_CONF, "\"%.30s\" is not one of %.*s", words->v[0], (int)all.len,
                  (const char *)all.buf);
    wr_free(&all);
    return err;
}

static err_t set_string(const struct conf_ctx *ctx, const struct conf_row *row,
                        const struct conf_list *words, void *field)
{
    const char *s = conf_arena_dup(ctx->arena, words->v[0]);

    (void)row;
    memcpy(field, &s, sizeof(s));
    return NULL;
}

static err_t set_list(const struct conf_ctx *ctx, const struct conf_row *row,
                      const struct conf_list *words, void *field)
{
    (void)row;
    *(struct conf_list *)field = conf_arena_list(ctx->arena, words);
    return NULL;
}

static err_t set_candidate(const struct conf_ctx *ctx, const struct conf_row *row,
                           const struct conf_list *words, void *field)
{
    const char **v = conf_arena_get(ctx->arena, words->n * sizeof(*v));

    for (size_t i = 0; i < words->n; i++) {
        const char *word = words->v[i];
        const char *value = *word == '$' ? conf_env(ctx->src, word + 1) : word;

        /* no warning: common files contain $CANDIDATE, which is usually not set */
        v[i] = conf_arena_dup(ctx->arena, value ? value : row->def);
    }
    *(struct conf_list *)field = (struct conf_list){ .v = v, .n = words->n };
    return NULL;
}

static err_t set_hosts(const struct conf_ctx *ctx, const struct conf_row *row,
                       const struct conf_list *words, void *field)
{
    struct conf_endpoint *v = conf_arena_get(ctx->arena, words->n * sizeof(*v));
    err_t err = NULL;

    for (size_t i = 0; !err && i < words->n; i++)
        err = conf_endpoint_host(ctx->arena, words->v[i], row->port, &v[i]);
    if (!err)
        *(struct conf_endpoints *)field = (struct conf_endpoints){ .v = v, .n = words->n };
    return err;
}

enum { LISTEN_MOST = 100 }; /* all pairs are compared, on a worker's thread */

static err_t set_listen(const struct conf_ctx *ctx, const struct conf_row *row,
                        const struct conf_list *words, void *field)
{
    struct conf_endpoint *v = conf_arena_get(ctx->arena, words->n * sizeof(*v));
    size_t n = 0;
    err_t err = NULL;

    for (size_t i = 0; !err && i < words->n; i++) {
        if (strcmp(words->v[i], "proxy_protocol") != 0)
            err = conf_endpoint_listen(ctx->arena, words->v[i], &v[n++]);
        else if (n == 0 || v[n - 1].proxied)
            err = err_new(ERR_CONF, "proxy_protocol must follow an endpoint");
        else if (!(row->flags & CONF_PROXY))
            err = err_new(ERR_CONF, "proxy_protocol is not supported here");
        else
            v[n - 1].proxied = true;
        if (!err && n > LISTEN_MOST)
            err = err_new(ERR_CONF, "more than %d endpoints", LISTEN_MOST);
    }
    if (!err)
        *(struct conf_endpoints *)field = (struct conf_endpoints){ .v = v, .n = n };
    return err;
}

static err_t set_networks(const struct conf_ctx *ctx, const struct conf_row *row,
                          const struct conf_list *words, void *field)
{
    struct conf_network *v = conf_arena_get(ctx->arena, words->n * sizeof(*v));
    bool none = words->n == 1 && strcmp(words->v[0], "none") == 0;
    err_t err = NULL;

    (void)row;
    for (size_t i = 0; !err && !none && i < words->n; i++)
        err = conf_network_parse(ctx->arena, words->v[i], &v[i]);
    if (!err)
        conf_array_set(field, v, none ? 0 : words->n);
    return err;
}

/* ------------------------------------------------------------------ repeated lines */

static err_t set_rules(const struct conf_ctx *ctx, const struct conf_list *lines, size_t n,
                       void *field)
{
    struct conf_rule *v = conf_arena_get(ctx->arena, n * sizeof(*v));
    err_t err = NULL;

    for (size_t i = 0; !err && i < n; i++)
        err = conf_rule_parse(ctx->arena, &lines[i], &v[i]);
    if (!err)
        conf_array_set(field, v, n);
    return err;
}

static void set_commands(const struct conf_ctx *ctx, const struct conf_list *lines, size_t n,
                         void *field)
{
    struct conf_list *v = conf_arena_get(ctx->arena, n * sizeof(*v));

    for (size_t i = 0; i < n; i++)
        v[i] = conf_arena_list(ctx->arena, &lines[i]);
    conf_array_set(field, v, n);
}

static set_fn *const setters[CONF_KINDS] = {
    [CONF_KIND_ON] = set_bool,
    [CONF_KIND_OFF] = set_bool,
    [CONF_KIND_TRI] = set_tri,
    [CONF_KIND_INT] = set_int,
    [CONF_KIND_INT_AUTO] = set_int_auto,
    [CONF_KIND_SIZE] = set_size,
    [CONF_KIND_FLOAT] = set_float,
    [CONF_KIND_SECONDS] = set_seconds,
    [CONF_KIND_MSEC] = set_msec,
    [CONF_KIND_MSEC_AUTO] = set_msec_auto,
    [CONF_KIND_STRING] = set_string,
    [CONF_KIND_ENUM] = set_enum,
    [CONF_KIND_LIST] = set_list,
    [CONF_KIND_CANDIDATE] = set_candidate,
    [CONF_KIND_LISTEN] = set_listen,
    [CONF_KIND_HOSTS] = set_hosts,
    [CONF_KIND_NETWORKS] = set_networks,
};

/* Sets the empty value of the kind, without default and words. The field is zeroed memory. */
static void set_empty(const struct conf_row *row, void *field)
{
    static const char *const none = "";

    if (row->kind == CONF_KIND_STRING)
        memcpy(field, &none, sizeof(none));
    else if (row->kind == CONF_KIND_TRI)
        *(enum conf_tri *)field = CONF_UNSET;
    else if (row->kind == CONF_KIND_INT)
        *(int *)field = CONF_UNSET;
    else if (row->kind == CONF_KIND_MSEC_AUTO)
        *(int64_t *)field = CONF_OUTER;
}

err_t conf_value_default(const struct conf_ctx *ctx, const struct conf_row *row, void *field)
{
    struct conf_list words;
    err_t err;

    if (!row->def || !setters[row->kind]) {
        set_empty(row, field);
        return NULL;
    }
    words = conf_split(ctx->arena, row->def);
    if (words.n == 0) {
        set_empty(row, field);
        return NULL;
    }
    err = setters[row->kind](ctx, row, &words, field);
    return err ? err_wrap(err, "default of %s", row->name) : NULL;
}

err_t conf_value_set(const struct conf_ctx *ctx, const struct conf_row *row,
                     const struct conf_list *lines, size_t n, void *field)
{
    bool many = row->kind == CONF_KIND_LIST || row->kind == CONF_KIND_LISTEN ||
                row->kind == CONF_KIND_HOSTS || row->kind == CONF_KIND_CANDIDATE ||
                row->kind == CONF_KIND_NETWORKS;
    err_t err;

    if (row->kind == CONF_KIND_COMMANDS) {
        set_commands(ctx, lines, n, field);
        return NULL;
    }
    if (row->kind == CONF_KIND_RULES) {
        err = set_rules(ctx, lines, n, field);
        return err ? err_wrap(err, "%s", row->name) : NULL;
    }
    if (n == 0 || lines->n == 0 || !lines->v[0][0])
        return conf_value_default(ctx, row, field);
    if (lines->n > 1 && !many)
        conf_warn(ctx, "%s takes one word, the rest is ignored", row->name);
    err = setters[row->kind](ctx, row, lines, field);
    return err ? err_wrap(err, "%s", row->name) : NULL;
}
