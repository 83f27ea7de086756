/* SPDX-License-Identifier: MIT */
/* prom.c - writes metrics in Prometheus's text format. */
#include "app/api/prom.h"

#include "base/must.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS_MAX = 16 * 1024 };

void prom_family(struct wr *w, const char *name, const char *type, const char *help)
{
    wr_text(w, "# HELP ");
    wr_text(w, name);
    wr_text(w, " ");
    wr_text(w, help);
    wr_text(w, "\n# TYPE ");
    wr_text(w, name);
    wr_text(w, " ");
    wr_text(w, type);
    wr_text(w, "\n");
}

void prom_value(struct wr *w, const char *name, const char *labels, double v)
{
    char text[40];

    wr_text(w, name);
    if (*labels) {
        wr_text(w, "{");
        wr_text(w, labels);
        wr_text(w, "}");
    }
    /* counts are exact up to 2^53, which is enough for years of bytes */
    if (v > -9e15 && v < 9e15 && v == (double)(int64_t)v)
        (void)snprintf(text, sizeof(text), " %.0f\n", v);
    else
        (void)snprintf(text, sizeof(text), " %.9g\n", v);
    wr_text(w, text);
}

static void put_one(struct wr *w, const struct counter_row *row, unsigned i, unsigned k,
                    const void *counters)
{
    char labels[128] = "";
    size_t n = 0;

    if (row->label)
        n = text_add(labels, sizeof(labels), 0, "%s=\"%s\"", row->label,
                     row->values ? row->values[i] : row->value(i));
    if (row->inner.n)
        (void)text_add(labels, sizeof(labels), n, ",%s=\"%s\"", row->inner.label,
                       row->inner.values ? row->inner.values[k] : row->inner.value(k));
    prom_value(w, row->name, labels, counters_value(row, i, k, counters));
}

static void put_row(struct wr *w, const struct counter_row *row, const void *counters)
{
    static const char end[] = "_total";
    size_t n = strlen(row->name), k = sizeof(end) - 1;

    prom_family(w, row->name, n > k && strcmp(row->name + n - k, end) == 0 ? "counter" : "gauge",
                row->help);
    for (unsigned i = 0; i == 0 || (row->label && i < row->n); i++) {
        for (unsigned of = 0; of == 0 || of < row->inner.n; of++)
            put_one(w, row, i, of, counters);
    }
}

void prom_rows(struct wr *w, const struct counter_row *rows, size_t n, const void *counters)
{
    for (size_t i = 0; i < n; i++)
        put_row(w, &rows[i], counters);
}

static void put_label(struct wr *labels, const char *name, const char *value)
{
    const unsigned char *p = (const unsigned char *)value, *end = p + strlen(value);

    if (labels->len > 0)
        wr_text(labels, ",");
    wr_text(labels, name);
    wr_text(labels, "=\"");
    while (p < end) {
        size_t n = *p < 0x80 ? 1 : utf8_size(p, (size_t)(end - p));

        if (*p == '\\' || *p == '"' || *p == '\n') {
            wr_text(labels, *p == '\n' ? "\\n" : *p == '"' ? "\\\"" : "\\\\");
        } else if (n == 0 || *p == '%') {
            char text[4];

            (void)snprintf(text, sizeof(text), "%%%02X", *p);
            wr_text(labels, text);
            n = 1;
        } else {
            wr_bytes(labels, p, n);
        }
        p += n;
    }
    wr_text(labels, "\"");
}

char *prom_labels(const char *name, ...)
{
    struct wr w;
    va_list ap;
    char *out;

    wr_init(&w, LABELS_MAX);
    va_start(ap, name);
    for (const char *value; name; name = va_arg(ap, const char *)) {
        value = va_arg(ap, const char *);
        if (value)
            put_label(&w, name, value);
    }
    va_end(ap);
    out = must_ndup(w.bad ? "" : (const char *)w.buf, w.bad ? 0 : w.len);
    wr_free(&w);
    return out;
}

void prom_line(struct wr *w, const char *name, char *labels, double v)
{
    prom_value(w, name, labels, v);
    free(labels);
}

void prom_one(struct wr *w, const char *name, const char *type, const char *help, double v)
{
    prom_family(w, name, type, help);
    prom_value(w, name, "", v);
}
