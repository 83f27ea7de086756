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
/* One line. `labels` is what prom_label() made, or "". */
void prom_value(struct wr *w, const char *name, const char *labels, double v);
/* Families of a struct of counters. */
void prom_rows(struct wr *w, const struct counter_row *rows, size_t n, const void *counters);
/* Append name="value" to labels, with a comma unless it is the first. The value is escaped; bytes
 * that are no UTF-8 become %XX, and so does '%', so that what differs goes on to differ: two lines
 * with the same labels would make all figures of no use. */
void prom_label(struct wr *labels, const char *name, const char *value);
/* The labels so far as a string; nothing may be appended later. */
const char *prom_labels_end(struct wr *labels);

#endif
