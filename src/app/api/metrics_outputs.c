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

static void put_vod(struct wr *w, const struct vod_stat *v)
{
    const struct {
        const char *name, *type, *help;
        uint64_t value;
    } rows[] = {
        { "srs_vod_files", "gauge", "Files on demand that somebody plays.", v->files },
        { "srs_vod_index_bytes", "gauge", "What the indexes of files take.", v->index_bytes },
        { "srs_vod_index_limit_bytes", "gauge", "What they may: vod.index_max.", v->index_limit },
        { "srs_vod_cache_bytes", "gauge", "What is kept of files to be sent.", v->cache_bytes },
        { "srs_vod_cache_limit_bytes", "gauge", "What may be: vod.cache.", v->cache_limit },
        { "srs_vod_parts_made_total", "counter", "Parts of files that were read and made.",
          v->parts_made },
        { "srs_vod_parts_shared_total", "counter", "Parts that were there for one more player.",
          v->parts_shared },
        { "srs_vod_read_bytes_total", "counter", "Bytes read of files.", v->read_bytes },
        { "srs_vod_waits_total", "counter", "Times that a player waited for a disk.", v->waited },
        { "srs_vod_failures_total", "counter", "Files that could not be opened, parts not read.",
          v->failed },
        { "srs_vod_refused_total", "counter", "Players that got no file.", v->refused },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        prom_family(w, rows[i].name, rows[i].type, rows[i].help);
        prom_value(w, rows[i].name, "", (double)rows[i].value);
    }
}

void metrics_put_outputs(struct wr *w, const struct figures_of *of, const struct figures *f)
{
    if (of->children)
        put_children(w, f);
    if (of->forwards)
        put_forwards(w, f);
    if (of->env->vod)
        put_vod(w, &f->vod);
    if (of->env->srt)
        metrics_put_srt(w, &f->srt);
    if (of->env->rtc)
        metrics_put_rtc(w, &f->rtc);
    if (of->env->rtmfp)
        metrics_put_rtmfp(w, &f->rtmfp);
}
