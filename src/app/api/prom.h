/* SPDX-License-Identifier: MIT */
/* prom.h - write figures as Prometheus reads them: its text format 0.0.4.
 *
 * All lines of a family stand together, behind its help and its type.
 */
#ifndef APP_API_PROM_H
#define APP_API_PROM_H

#include "base/counters.h"
#include "base/wr.h"

#define PROM_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* "# HELP" and "# TYPE"; type is "gauge", "counter" or "histogram". */
void prom_family(struct wr *w, const char *name, const char *type, const char *help);
/* One line. `labels` is what prom_labels() made, or "". */
void prom_value(struct wr *w, const char *name, const char *labels, double v);
/* The same, and frees the labels. */
void prom_line(struct wr *w, const char *name, char *labels, double v);
/* A family of one line without labels. */
void prom_one(struct wr *w, const char *name, const char *type, const char *help, double v);
/* Families of a struct of counters. */
void prom_rows(struct wr *w, const struct counter_row *rows, size_t n, const void *counters);
/* Pairs of name and value, NULL behind the last, as name="value",name="value", for the caller to
 * free(). One whose value is NULL is left out. Values are escaped; bytes that are no UTF-8 become
 * %XX, and so does '%', so that what differs goes on to differ: two lines with the same labels
 * would make all figures of no use. */
char *prom_labels(const char *name, ...) __attribute__((sentinel));

#endif
