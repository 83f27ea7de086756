/* SPDX-License-Identifier: MIT */
/* spec.h - finds the streams that the configuration pulls, and their sources.
 *
 * Pure: no I/O. A name is that of one stream ("live/camera", "camera"), or a pattern with [param],
 * which matches many: the URL then gets the matched text. Players choose that text, so it is
 * limited to letters, digits, and "-_." between them.
 */
#ifndef PULL_RTSP_SPEC_H
#define PULL_RTSP_SPEC_H

#include "conf/conf.h"

enum { RTSP_PULL_TRANSPORTS = 2, RTSP_PULL_PARAM = 128 };

enum rtsp_pull_transport { RTSP_PULL_TCP, RTSP_PULL_UDP };

/* Spec of one pull; owns its strings. */
struct rtsp_pull_spec {
    char *url; /* with user and password */
    /* transports in the order of attempts */
    enum rtsp_pull_transport transport[RTSP_PULL_TRANSPORTS];
    unsigned transports;
    bool on_demand;
    int64_t linger, timeout;
    char *ca;  /* PEM file of trusted CAs, "": those of the system; NULL: no verification */
};

/* Returns false if that stream is not pulled; then nothing needs to be freed. */
bool rtsp_pull_spec_of(struct rtsp_pull_spec *out, const struct conf_vhost *v, const char *app,
                       const char *name);
void rtsp_pull_spec_free(struct rtsp_pull_spec *w);
bool rtsp_pull_spec_same(const struct rtsp_pull_spec *a, const struct rtsp_pull_spec *b);

/* Returns true for a permanent pull, with its stream: *app_size bytes of *app, and *name. */
bool rtsp_pull_is_permanent(const struct conf_rtsp_pull *p, const char **app, size_t *app_size,
                            const char **name);

#endif
