/* SPDX-License-Identifier: MIT */
/* metrics_workers.c - figures of each worker for Prometheus, where there is more than one. */
#include "app/api/metrics_impl.h"
#include "app/api/workers.h"

#include <stdio.h>

static double load_of(const struct api_worker *v)        { return v->load / 1000.0; }
static double connections_of(const struct api_worker *v) { return v->connections; }
static double publishers_of(const struct api_worker *v)  { return v->publishers; }
static double players_of(const struct api_worker *v)     { return v->players; }
static double streams_of(const struct api_worker *v)     { return v->streams; }
static double replicas_of(const struct api_worker *v)    { return v->replicas; }
static double in_of(const struct api_worker *v)          { return (double)v->moved_in; }
static double out_of(const struct api_worker *v)         { return (double)v->moved_out; }
static double late_of(const struct api_worker *v)        { return (double)v->late / 1e6; }
static double mail_of(const struct api_worker *v)        { return (double)v->mailbox / 1e6; }
static double age_of(const struct api_worker *v)         { return (double)v->age / 1e6; }

static const struct {
    const char *name, *type, *help;
    double (*value)(const struct api_worker *v);
} families[] = {
    { "srs_worker_busy_ratio", "gauge", "How much of a core it uses, 0 to 1.", load_of },
    { "srs_worker_connections", "gauge", "Its connections.", connections_of },
    { "srs_worker_publishers", "gauge", "Its publishers.", publishers_of },
    { "srs_worker_players", "gauge", "Its players.", players_of },
    { "srs_worker_streams", "gauge", "Its streams, with replicas.", streams_of },
    { "srs_worker_replicas", "gauge", "Those of them that are at home elsewhere.", replicas_of },
    { "srs_worker_moved_in_total", "counter", "Clients that came to it from others.", in_of },
    { "srs_worker_moved_out_total", "counter", "Clients that it gave to others.", out_of },
    { "srs_worker_lateness_seconds", "gauge", "How late it wakes, on average in a second.",
      late_of },
    { "srs_worker_mailbox_seconds", "gauge", "How long its oldest message waits.", mail_of },
    { "srs_worker_silent_seconds", "gauge", "How old these figures are: more than 2 is a worker "
      "that is held up.", age_of },
};

void metrics_put_workers(struct wr *w, const struct api_parts *of)
{
    unsigned n = workers_count(of->env);

    if (n < 2)
        return;
    for (size_t k = 0; k < sizeof(families) / sizeof(families[0]); k++) {
        prom_family(w, families[k].name, families[k].type, families[k].help);
        for (unsigned i = 0; i < n; i++) {
            struct api_worker v;
            char labels[32];

            api_worker_look(of, i, &v);
            (void)snprintf(labels, sizeof(labels), "worker=\"%u\"", i);
            prom_value(w, families[k].name, labels, families[k].value(&v));
        }
    }
}
