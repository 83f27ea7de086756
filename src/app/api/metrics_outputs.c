/* SPDX-License-Identifier: MIT */
/* metrics_outputs.c - figures of the outputs of streams, for Prometheus: how many programs
 * and forwards are in which state. Sums alone: who they are, the API tells.
 */
#include "app/api/metrics_impl.h"

#include <stdio.h>

static void put_children(struct wr *w, const struct figures *f)
{
    char labels[64];

    prom_family(w, "srs_children", "gauge", "Programs of ingest, transcode and exec, by state.");
    for (int k = 0; k < JOB_KINDS; k++) {
        for (int s = 0; s < JOB_STATES; s++) {
            (void)snprintf(labels, sizeof(labels), "kind=\"%s\",state=\"%s\"", job_kind_name(k),
                           job_state_name(s));
            prom_value(w, "srs_children", labels, (double)f->children[k][s]);
        }
    }
}

static void put_forwards(struct wr *w, const struct figures *f)
{
    prom_family(w, "srs_forwards", "gauge", "Streams that are sent on to other servers, by state.");
    prom_value(w, "srs_forwards", "state=\"connecting\"", (double)f->forwards[false]);
    prom_value(w, "srs_forwards", "state=\"publishing\"", (double)f->forwards[true]);
}

void metrics_put_outputs(struct wr *w, const struct figures_of *of, const struct figures *f)
{
    if (of->children)
        put_children(w, f);
    if (of->forwards)
        put_forwards(w, f);
}
