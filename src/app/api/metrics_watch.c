/* SPDX-License-Identifier: MIT */
/* metrics_watch.c - metrics of pulls, recordings, certificates and disks for Prometheus. Texts of
 * the API are labels here.
 */
#include "app/api/metrics_impl.h"

#include "app/api/kept.h"
#include "app/watch/watch.h"
#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE CO_MS(500) /* for each worker */

/* ---- pulls, recordings */

struct shown {
    char *labels;
    const struct condition *condition;
};

static char *labels_of(const struct kept_row *r, enum kept_kind kind, const char *error)
{
    bool pull = kind == KEPT_PULLS;

    return prom_labels("kind", pull ? r->what : NULL, "vhost", r->vhost, "app", r->app, "stream",
                       r->stream, "name", pull && *r->name ? r->name : NULL, "url",
                       pull ? r->place : NULL, "error", error, NULL);
}

static int by_labels(const void *a, const void *b)
{
    return strcmp(((const struct shown *)a)->labels, ((const struct shown *)b)->labels);
}

/* Prometheus rejects all metrics if two lines have the same labels, so the first one is kept. */
static size_t make_unique(struct shown *v, size_t n)
{
    size_t kept = 0;

    qsort(v, n, sizeof(v[0]), by_labels);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && strcmp(v[kept - 1].labels, v[i].labels) == 0)
            free(v[i].labels);
        else
            v[kept++] = v[i];
    }
    return kept;
}

static double since(const struct condition *c)
{
    return (double)((co_wall_ms() - us_to_ms(co_clock() - c->since)) / 1000);
}

/* `one` is "srs_pull" or "srs_recording". */
static void put_families(struct wr *w, const char *one, const struct shown *v, size_t n)
{
    static const struct {
        const char *end, *type, *help;
    } families[] = {
        { "_up", "gauge", "1: media arrives, or is written to a file; 0: not." },
        { "_since_seconds", "gauge", "Start of the current state: seconds since 1970." },
        { "_failures_total", "counter", "Failed attempts." },
    };
    char name[64];

    for (size_t k = 0; k < sizeof(families) / sizeof(families[0]); k++) {
        (void)snprintf(name, sizeof(name), "%s%s", one, families[k].end);
        prom_family(w, name, families[k].type, families[k].help);
        for (size_t i = 0; i < n; i++) {
            const struct condition *c = v[i].condition;
            const double values[] = { c->state == CONDITION_RUNNING, since(c), c->failures };

            prom_value(w, name, v[i].labels, values[k]);
            co_yield_if_due();
        }
    }
}

static void put_states(struct wr *w, const char *one, const unsigned counts[CONDITION_STATES])
{
    char name[64], label[64];

    (void)snprintf(name, sizeof(name), "%ss", one);
    prom_family(w, name, "gauge", "Number by state.");
    for (int s = 0; s < CONDITION_STATES; s++) {
        (void)snprintf(label, sizeof(label), "state=\"%s\"",
                       condition_name((enum condition_state)s));
        prom_value(w, name, label, counts[s]);
    }
}

/* Writes the last error of failing ones as a label. */
static void put_errors(struct wr *w, const char *one, const struct kept *k, enum kept_kind kind,
                       size_t most)
{
    const struct kept_row *row = NULL;
    struct shown *v = must(calloc(most + 1, sizeof(*v)));
    char name[64];
    size_t n = 0;

    while (n < most && (row = kept_next(k, row))) {
        if (row->condition.state == CONDITION_FAILING)
            v[n++].labels = labels_of(row, kind, row->condition.error);
    }
    n = make_unique(v, n);
    (void)snprintf(name, sizeof(name), "%s_error", one);
    prom_family(w, name, "gauge", "Failing ones, with their last error.");
    for (size_t i = 0; i < n; i++)
        prom_line(w, name, v[i].labels, 1);
    free(v);
}

static void put_kept(struct wr *w, const struct api_parts *of, enum kept_kind kind)
{
    const char *one = kind == KEPT_PULLS ? "srs_pull" : "srs_recording";
    size_t most = (size_t)of->env->conf->exporter.streams, n = 0;
    unsigned counts[CONDITION_STATES] = { 0 };
    const struct kept_row *row = NULL;
    struct shown *v = must(calloc(most + 1, sizeof(*v)));
    struct kept k;

    kept_collect(&k, of, kind, PATIENCE);
    while ((row = kept_next(&k, row))) {
        counts[row->condition.state]++;
        if (n < most)
            v[n++] = (struct shown){ labels_of(row, kind, NULL), &row->condition };
        co_yield_if_due();
    }
    n = make_unique(v, n);
    put_states(w, one, counts);
    put_families(w, one, v, n);
    put_errors(w, one, &k, kind, most);
    for (size_t i = 0; i < n; i++)
        free(v[i].labels);
    free(v);
    kept_free(&k);
}

/* ---- certificates */

static double end_of(const struct watch_cert *c)  { return (double)c->about.not_after; }
static double fails(const struct watch_cert *c)   { return *c->about.error != '\0'; }

static void put_certificates(struct wr *w, const struct watch *u)
{
    static const struct {
        const char *name, *help;
        double (*value)(const struct watch_cert *c);
    } families[] = {
        { "srs_certificate_not_after_seconds", "Expiry: seconds since 1970.", end_of },
        { "srs_certificate_failing", "1: its changed files could not be loaded.", fails },
    };
    size_t n;
    struct watch_cert *v = watch_certs(u, &n);

    for (size_t k = 0; n > 0 && k < sizeof(families) / sizeof(families[0]); k++) {
        prom_family(w, families[k].name, "gauge", families[k].help);
        for (size_t i = 0; i < n; i++)
            prom_line(w, families[k].name,
                      prom_labels("file", v[i].about.file, "host", v[i].about.name, "services",
                                  v[i].services, NULL), families[k].value(&v[i]));
    }
    free(v);
}

/* ---- disks */

static double size_of(const struct watch_disk *d) { return (double)d->size; }
static double free_of(const struct watch_disk *d) { return (double)d->free; }
static double up_of(const struct watch_disk *d)   { return d->state != WATCH_FAILING; }
static double low_of(const struct watch_disk *d)
{
    return d->state == WATCH_LOW || d->state == WATCH_FULL;
}

static void put_disks(struct wr *w, const struct watch *u)
{
    static const struct {
        const char *name, *help;
        double (*value)(const struct watch_disk *d);
    } families[] = {
        { "srs_disk_size_bytes", "Size of a disk that the server writes to.", size_of },
        { "srs_disk_free_bytes", "Free space of the disk.", free_of },
        { "srs_disk_low", "1: the disk is full or nearly full.", low_of },
        { "srs_disk_up", "0: the disk does not respond.", up_of },
    };
    const struct watch_disk *v;
    size_t n = watch_disks(u, &v);

    for (size_t k = 0; n > 0 && k < sizeof(families) / sizeof(families[0]); k++) {
        prom_family(w, families[k].name, "gauge", families[k].help);
        for (size_t i = 0; i < n; i++)
            prom_line(w, families[k].name,
                      prom_labels("path", v[i].path, "uses", v[i].uses, NULL),
                      families[k].value(&v[i]));
    }
}

void metrics_put_watch(struct wr *w, const struct api_parts *of)
{
    put_kept(w, of, KEPT_PULLS);
    put_kept(w, of, KEPT_RECORDINGS);
    if (!of->watch)
        return;
    put_certificates(w, of->watch);
    put_disks(w, of->watch);
}
