/* SPDX-License-Identifier: MIT */
/* prom.c - write figures as Prometheus reads them. */
#include "app/prom.h"

#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put(struct wr *w, const char *text)
{
    wr_bytes(w, text, strlen(text));
}

void prom_family(struct wr *w, const char *name, const char *type, const char *help)
{
    put(w, "# HELP ");
    put(w, name);
    put(w, " ");
    put(w, help);
    put(w, "\n# TYPE ");
    put(w, name);
    put(w, " ");
    put(w, type);
    put(w, "\n");
}

void prom_value(struct wr *w, const char *name, const char *labels, double v)
{
    char text[40];

    put(w, name);
    if (*labels) {
        put(w, "{");
        put(w, labels);
        put(w, "}");
    }
    /* counts are exact up to 2^53, which is years of bytes */
    if (fabs(v) < 9e15 && v == floor(v))
        (void)snprintf(text, sizeof(text), " %.0f\n", v);
    else
        (void)snprintf(text, sizeof(text), " %.9g\n", v);
    put(w, text);
}

void prom_label(struct wr *labels, const char *name, const char *value)
{
    const unsigned char *p = (const unsigned char *)value, *end = p + strlen(value);

    if (labels->len > 0)
        put(labels, ",");
    put(labels, name);
    put(labels, "=\"");
    while (p < end) {
        size_t n = *p < 0x80 ? 1 : utf8_size(p, (size_t)(end - p));

        if (*p == '\\' || *p == '"' || *p == '\n') {
            put(labels, *p == '\n' ? "\\n" : *p == '"' ? "\\\"" : "\\\\");
        } else if (n == 0 || *p == '%') {
            char text[4];

            (void)snprintf(text, sizeof(text), "%%%02X", *p);
            put(labels, text);
            n = 1;
        } else {
            wr_bytes(labels, p, n);
        }
        p += n;
    }
    put(labels, "\"");
}

const char *prom_labels_end(struct wr *labels)
{
    wr_u8(labels, '\0');
    return labels->bad ? "" : (const char *)labels->buf;
}
