/* SPDX-License-Identifier: MIT */
/* metrics_impl.h - between the files of app/metrics* alone. */
#ifndef APP_API_METRICS_IMPL_H
#define APP_API_METRICS_IMPL_H

#include "app/api/metrics.h"
#include "app/api/prom.h"

/* Figures of each stream, of so many as the configuration says at most. Yields. */
void metrics_put_streams(struct wr *w, const struct api_parts *of);
/* How pulls, recordings, certificates and disks are; of so many as exporter.streams says of each.
 * Yields. */
void metrics_put_upkeep(struct wr *w, const struct api_parts *of);
/* Figures of each worker, where there is more than one. */
void metrics_put_workers(struct wr *w, const struct api_parts *of);

#endif
