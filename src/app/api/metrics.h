/* SPDX-License-Identifier: MIT */
/* metrics.h - figures for Prometheus: /metrics, by the exporter's port and the API's. */
#ifndef APP_API_METRICS_H
#define APP_API_METRICS_H

#include "app/api/api.h"

/* Mount it. `of` is borrowed. */
void metrics_mount(const struct api_parts *of);

/* All of it at once, for tests: appended to w. Yields. */
void metrics_put(struct wr *w, const struct api_parts *of);

#endif
