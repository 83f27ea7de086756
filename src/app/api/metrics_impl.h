/* SPDX-License-Identifier: MIT */
/* metrics_impl.h - private to app/api/metrics*.c. */
#ifndef APP_API_METRICS_IMPL_H
#define APP_API_METRICS_IMPL_H

#include "app/api/metrics.h"
#include "app/api/prom.h"

/* Writes the metrics of streams, at most exporter.streams of them. Yields. */
void metrics_put_streams(struct wr *w, const struct api_parts *of);
/* Writes the metrics of pulls, recordings, certificates and disks, at most exporter.streams of each
 * kind. Yields. */
void metrics_put_watch(struct wr *w, const struct api_parts *of);
/* Writes the metrics of each worker if there are several. */
void metrics_put_workers(struct wr *w, const struct api_parts *of);

#endif
