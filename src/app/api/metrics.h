/* SPDX-License-Identifier: MIT */
/* metrics.h - metrics for Prometheus: /metrics on the ports of the exporter and of the API. */
#ifndef APP_API_METRICS_H
#define APP_API_METRICS_H

#include "app/api/api.h"

/* Mounts /metrics. `of` is borrowed. */
void metrics_mount(const struct api_parts *of);

/* Appends all metrics to w, for tests. Yields. */
void metrics_put(struct wr *w, const struct api_parts *of);

#endif
