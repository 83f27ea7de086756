/* SPDX-License-Identifier: MIT */
/* format.h - the differences between HLS and DASH, a row for each. */
#ifndef SINK_HLS_FORMAT_H
#define SINK_HLS_FORMAT_H

#include "session/sampled.h"
#include "base/wr.h"
#include "sink/hls/segment/container.h"

struct hls_list;

struct hls_format {
    const char *name;            /* for the log */
    enum sampled_kind sampled;
    bool is_dash;                /* for requests of players */
    bool notifies;               /* segments cause callbacks */
    bool periods;                /* times in files are wall clock times */
    /* Fills in the vhost's settings in terms of HLS; strings are borrowed. */
    void (*settings)(const struct conf_vhost *v, struct conf_hls *out);
    const struct hls_container *(*container)(const struct conf_hls *set);
    /* The playlist: its content type, its length (1/90000 s) and its text; `disk`: only segments
     * that are on disk. */
    const char *type;
    int64_t (*window)(const struct hls_list *l);
    void (*list)(struct hls_list *l, struct wr *w, bool disk);
};
enum { HLS_FORMAT_HLS, HLS_FORMAT_DASH, HLS_FORMATS };
extern const struct hls_format hls_formats[HLS_FORMATS];

#endif
