/* SPDX-License-Identifier: MIT */
/* impl.h - private to the files of app/watch. */
#ifndef APP_WATCH_IMPL_H
#define APP_WATCH_IMPL_H

#include "app/watch/watch.h"

/* The last logged warning about a certificate, since each is logged once. */
struct watch_reported {
    uint32_t file;     /* hash of the file name */
    int64_t not_after;
    int days;          /* threshold of the last warning; INT_MAX: none */
};

struct watch_probe; /* one folder, see disks.c */

struct watch {
    struct session_env *env;
    const struct services_tls *tls;
    struct co *waiter;
    struct watch_reported told[WATCH_CERTS];
    size_t n_told;
    struct watch_probe *probes[WATCH_DISKS];
    size_t n_probes;
    struct watch_disk disks[WATCH_DISKS];
    size_t n_disks;
};

void watch_check_certs(struct watch *u); /* logs warnings; does not yield */
err_t watch_check_disks(struct watch *u) __attribute__((warn_unused_result)); /* yields */
void watch_drop_disks(struct watch *u);

#endif
