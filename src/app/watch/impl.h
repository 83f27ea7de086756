/* SPDX-License-Identifier: MIT */
/* impl.h - between the files of app/upkeep alone. */
#ifndef APP_WATCH_IMPL_H
#define APP_WATCH_IMPL_H

#include "app/watch/watch.h"

/* What the log was told of a certificate: each warning once. */
struct watch_reported {
    uint32_t file;     /* hash of its name */
    int64_t not_after;
    int days;          /* of the last warning; INT_MAX: none */
};

struct watch_probe; /* of one folder: see disks.c */

struct watch {
    struct session_env *env;
    const struct services_tls *tls;
    struct co *waiter;
    struct watch_reported told[UPKEEP_CERTS];
    size_t n_told;
    struct watch_probe *probes[UPKEEP_DISKS];
    size_t n_probes;
    struct watch_disk disks[UPKEEP_DISKS];
    size_t n_disks;
};

void watch_check_certs(struct watch *u); /* tell the log; does not yield */
err_t watch_check_disks(struct watch *u) __attribute__((warn_unused_result)); /* yields */
void watch_drop_disks(struct watch *u);

#endif
