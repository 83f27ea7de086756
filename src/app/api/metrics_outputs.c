/* SPDX-License-Identifier: MIT */
/* metrics_outputs.c - figures of the outputs of streams, for Prometheus: how many programs
 * and forwards are in which state. Sums alone: who they are, the API tells.
 */
#include "app/api/metrics_impl.h"

#include "sink/forward/forward.h"
#include "sink/program/children.h"

#include <stdio.h>

static void put_children(struct wr *w, const struct sink *all)
{
    unsigned n[JOB_KINDS][JOB_STATES] = { 0 };
    const struct job *job = NULL;
    struct job_info info;
    char labels[64];

    while ((job = children_next(all, job))) {
        job_look(job, &info);
        n[info.kind][info.state]++;
    }
    prom_family(w, "srs_children", "gauge", "Programs of ingest, transcode and exec, by state.");
    for (int k = 0; k < JOB_KINDS; k++) {
        for (int s = 0; s < JOB_STATES; s++) {
            (void)snprintf(labels, sizeof(labels), "kind=\"%s\",state=\"%s\"", job_kind_name(k),
                           job_state_name(s));
            prom_value(w, "srs_children", labels, n[k][s]);
        }
    }
}

static void count_forward(void *arg, const struct forward_info *f)
{
    unsigned *n = arg;

    n[f->publishing]++;
}

static void put_forwards(struct wr *w, const struct sink *all)
{
    unsigned n[2] = { 0 };

    forwards_each(all, count_forward, n);
    prom_family(w, "srs_forwards", "gauge", "Streams that are sent on to other servers, by state.");
    prom_value(w, "srs_forwards", "state=\"connecting\"", n[false]);
    prom_value(w, "srs_forwards", "state=\"publishing\"", n[true]);
}

void metrics_put_outputs(struct wr *w, const struct api_parts *of)
{
    if (of->children)
        put_children(w, of->children);
    if (of->forwards)
        put_forwards(w, of->forwards);
}
