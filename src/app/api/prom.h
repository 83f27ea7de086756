/* SPDX-License-Identifier: MIT */
/* prom.h - writes metrics in Prometheus's text format 0.0.4.
 *
 * All lines of a metric are consecutive, after its help and its type.
 */
#ifndef APP_API_PROM_H
#define APP_API_PROM_H

#include "base/counters.h"
#include "base/wr.h"

#define PROM_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Writes "# HELP" and "# TYPE"; type is "gauge", "counter" or "histogram". */
void prom_family(struct wr *w, const char *name, const char *type, const char *help);
/* Writes one line. `labels` comes from prom_labels(), or is "". */
void prom_value(struct wr *w, const char *name, const char *labels, double v);
/* Writes one line and frees the labels. */
void prom_line(struct wr *w, const char *name, char *labels, double v);
/* Writes a metric with one line and no labels. */
void prom_one(struct wr *w, const char *name, const char *type, const char *help, double v);
/* Writes the metrics of a struct of counters. */
void prom_rows(struct wr *w, const struct counter_row *rows, size_t n, const void *counters);
/* Formats pairs of name and value, terminated by NULL, as name="value",name="value"; the caller
 * frees the result. Pairs with the value NULL are omitted. Values are escaped. Bytes that are not
 * UTF-8, and '%', become %XX, so that different values stay different: Prometheus rejects two lines
 * with the same labels. */
char *prom_labels(const char *name, ...) __attribute__((sentinel));

#endif
