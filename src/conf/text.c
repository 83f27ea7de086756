/* SPDX-License-Identifier: MIT */
/* text.c - converts typed values to text. */
#include "conf/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void conf_text(struct wr *w, const char *fmt, ...)
{
    char buf[2048];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(buf, sizeof(buf), fmt, ap);
    va_end(ap);
    wr_bytes(w, buf, (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
}

const char *conf_text_end(struct wr *w)
{
    if (w->len == 0 || w->buf[w->len - 1] != '\0')
        wr_u8(w, 0);
    if (w->bad && w->len) /* truncated at the limit */
        w->buf[w->len - 1] = '\0';
    return w->len ? (const char *)w->buf : "";
}

struct conf_array conf_array_get(const void *field)
{
    struct conf_array a;

    /* all { const struct x *v; size_t n; } have this layout; memcpy because the types differ */
    memcpy(&a, field, sizeof(a));
    return a;
}

void conf_array_set(void *field, const void *v, size_t n)
{
    const struct conf_array a = { .v = v, .n = n };

    memcpy(field, &a, sizeof(a));
}

void conf_text_word(struct wr *w, const char *s, bool first)
{
    const char *quote = strchr(s, '"') ? "'" : "\"";
    bool bare = *s && !strpbrk(s, " \t\r\n;{'\"") && *s != '#' && *s != '}';

    if (!first)
        conf_text(w, " ");
    if (!bare)
        conf_text(w, "%s", quote);
    wr_bytes(w, s, strlen(s));
    if (!bare)
        conf_text(w, "%s", quote);
}

/* ------------------------------------------------------------------ one function per kind */

typedef void text_fn(struct wr *w, const struct conf_row *row, const void *field);

static void words(struct wr *w, const struct conf_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        conf_text_word(w, l->v[i], i == 0);
}

static void number(struct wr *w, double v)
{
    conf_text(w, "%.15g", v);
}

static void bool_text(struct wr *w, const struct conf_row *row, const void *field)
{
    (void)row;
    conf_text(w, "%s", *(const bool *)field ? "on" : "off");
}

static void tri_text(struct wr *w, const struct conf_row *row, const void *field)
{
    static const char *const texts[] = { "", "off", "on" };

    (void)row;
    conf_text(w, "%s", texts[*(const enum conf_tri *)field + 1]);
}

static void int_text(struct wr *w, const struct conf_row *row, const void *field)
{
    int v = *(const int *)field;

    if (row->kind == CONF_KIND_INT_AUTO && v == CONF_AUTO)
        conf_text(w, "auto");
    else
        conf_text(w, "%d", v);
}

static void enum_text(struct wr *w, const struct conf_row *row, const void *field)
{
    conf_text(w, "%s", row->words[*(const int *)field]);
}

static void size_text(struct wr *w, const struct conf_row *row, const void *field)
{
    int64_t v = *(const int64_t *)field;
    int unit = 0;

    (void)row;
    for (; unit < 3 && v && v % 1024 == 0; unit++)
        v /= 1024;
    conf_text(w, "%lld%.1s", (long long)v, &"\0kmg"[unit]);
}

static void float_text(struct wr *w, const struct conf_row *row, const void *field)
{
    (void)row;
    number(w, *(const double *)field);
}

/* Times are whole microseconds, so both divisions are exact. */
static void seconds_text(struct wr *w, const struct conf_row *row, const void *field)
{
    (void)row;
    number(w, (double)*(const int64_t *)field / 1e6);
}

static void msec_text(struct wr *w, const struct conf_row *row, const void *field)
{
    int64_t v = *(const int64_t *)field;

    if (row->kind == CONF_KIND_MSEC_AUTO && v == CONF_AUTO)
        conf_text(w, "auto");
    else if (row->kind != CONF_KIND_MSEC_AUTO || v != CONF_OUTER)
        number(w, (double)v / 1e3);
}

static void string_text(struct wr *w, const struct conf_row *row, const void *field)
{
    const char *s;

    (void)row;
    memcpy(&s, field, sizeof(s));
    if (*s)
        conf_text_word(w, s, true);
}

static void list_text(struct wr *w, const struct conf_row *row, const void *field)
{
    (void)row;
    words(w, field);
}

static void endpoints_text(struct wr *w, const struct conf_row *row, const void *field)
{
    const struct conf_endpoints *e = field;

    (void)row;
    for (size_t i = 0; i < e->n; i++) {
        conf_text_word(w, e->v[i].text, i == 0);
        if (e->v[i].proxied)
            conf_text_word(w, "proxy_protocol", false);
    }
}

static void networks_text(struct wr *w, const struct conf_row *row, const void *field)
{
    const struct conf_networks *f = field;

    (void)row;
    for (size_t i = 0; i < f->n; i++)
        conf_text_word(w, f->v[i].text, i == 0);
    if (f->n == 0)
        conf_text_word(w, "none", true);
}

static void rules_text(struct wr *w, const struct conf_row *row, const void *field)
{
    const struct conf_rules *r = field;

    (void)row;
    for (size_t i = 0; i < r->n; i++)
        conf_text(w, "%s%s", i ? "; " : "", r->v[i].text);
}

static void commands_text(struct wr *w, const struct conf_row *row, const void *field)
{
    const struct conf_commands *c = field;

    (void)row;
    for (size_t i = 0; i < c->n; i++) {
        conf_text(w, "%s", i ? "; " : "");
        words(w, &c->v[i]);
    }
}

static void pairs_text(struct wr *w, const struct conf_row *row, const void *field)
{
    const struct conf_pairs *p = field;

    (void)row;
    for (size_t i = 0; i < p->n; i++) {
        conf_text_word(w, p->v[i].name, i == 0);
        conf_text_word(w, p->v[i].value, false);
        conf_text(w, ";");
    }
}

static text_fn *const texts_of[CONF_KINDS] = {
    [CONF_KIND_ON] = bool_text,
    [CONF_KIND_OFF] = bool_text,
    [CONF_KIND_TRI] = tri_text,
    [CONF_KIND_INT] = int_text,
    [CONF_KIND_INT_AUTO] = int_text,
    [CONF_KIND_SIZE] = size_text,
    [CONF_KIND_FLOAT] = float_text,
    [CONF_KIND_SECONDS] = seconds_text,
    [CONF_KIND_MSEC] = msec_text,
    [CONF_KIND_MSEC_AUTO] = msec_text,
    [CONF_KIND_STRING] = string_text,
    [CONF_KIND_ENUM] = enum_text,
    [CONF_KIND_LIST] = list_text,
    [CONF_KIND_CANDIDATE] = list_text,
    [CONF_KIND_LISTEN] = endpoints_text,
    [CONF_KIND_HOSTS] = endpoints_text,
    [CONF_KIND_NETWORKS] = networks_text,
    [CONF_KIND_RULES] = rules_text,
    [CONF_KIND_COMMANDS] = commands_text,
    [CONF_KIND_PAIRS] = pairs_text,
};

void conf_value_text(struct wr *w, const struct conf_row *row, const void *field)
{
    if (texts_of[row->kind])
        texts_of[row->kind](w, row, field);
}
