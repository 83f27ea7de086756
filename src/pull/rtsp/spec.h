/* SPDX-License-Identifier: MIT */
/* spec.h - which streams the configuration pulls, and from where. Pure.
 *
 * A stream is one of its own ("live/camera", "camera"), or many by a template with [param]:
 * whatever a player asked for stands in its place in the url. Players choose that, so it is of
 * letters, digits, and "-_." between them.
 */
#ifndef PULL_RTSP_SPEC_H
#define PULL_RTSP_SPEC_H

#include "conf/conf.h"

enum { RTSP_PULL_WAYS = 2, RTSP_PULL_PARAM = 128 };

enum rtsp_pull_way { RTSP_PULL_TCP, RTSP_PULL_UDP };

/* What is to be done for one stream; its strings are its own. */
struct rtsp_pull_spec {
    char *url; /* with user and password */
    enum rtsp_pull_way way[RTSP_PULL_WAYS]; /* in the order in which to try them */
    unsigned ways;
    bool on_demand;
    int64_t linger, timeout;
    char *ca; /* PEM file of whom to trust, "": whom the system trusts; NULL: anybody */
};

/* False: that stream is not pulled, and there is nothing to free. */
bool rtsp_pull_spec_of(struct rtsp_pull_spec *out, const struct conf_vhost *v, const char *app,
                      const char *name);
void rtsp_pull_spec_free(struct rtsp_pull_spec *w);
bool rtsp_pull_spec_same(const struct rtsp_pull_spec *a, const struct rtsp_pull_spec *b);

/* Is this one pulled all the time, and which stream is it? *app_size bytes of *app. */
bool rtsp_pull_is_steady(const struct conf_rtsp_pull *p, const char **app, size_t *app_size,
                         const char **name);

#endif
