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

#define AT(field) .at = offsetof(struct vod_stat, field)

static const struct counter_row vod_rows[] = {
    { "srs_vod_files", "Files on demand that somebody plays.", AT(files) },
    { "srs_vod_index_bytes", "What the indexes of files take.", AT(index_bytes) },
    { "srs_vod_index_limit_bytes", "What they may: vod.index_max.", AT(index_limit) },
    { "srs_vod_cache_bytes", "What is kept of files to be sent.", AT(cache_bytes) },
    { "srs_vod_cache_limit_bytes", "What may be: vod.cache.", AT(cache_limit) },
    { "srs_vod_parts_made_total", "Parts of files that were read and made.", AT(parts_made) },
    { "srs_vod_parts_shared_total", "Parts that were there for one more player.",
      AT(parts_shared) },
    { "srs_vod_read_bytes_total", "Bytes read of files.", AT(read_bytes) },
    { "srs_vod_waits_total", "Times that a player waited for a disk.", AT(waited) },
    { "srs_vod_failures_total", "Files that could not be opened, parts not read.", AT(failed) },
    { "srs_vod_refused_total", "Players that got no file.", AT(refused) },
};

void metrics_put_outputs(struct wr *w, const struct figures_of *of, const struct figures *f)
{
    const struct counter_table *t;
    const void *counters;

    if (of->children)
        put_children(w, f);
    if (of->forwards)
        put_forwards(w, f);
    if (of->env->vod)
        prom_rows(w, vod_rows, sizeof(vod_rows) / sizeof(vod_rows[0]), &f->vod);
    for (unsigned i = 0; (t = figures_table(f, &i, &counters)); i++)
        prom_rows(w, t->rows, t->n_rows, counters);
}
