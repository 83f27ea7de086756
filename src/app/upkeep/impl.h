/* SPDX-License-Identifier: MIT */
/* impl.h - between the files of app/upkeep alone. */
#ifndef APP_UPKEEP_IMPL_H
#define APP_UPKEEP_IMPL_H

#include "app/upkeep/upkeep.h"

/* What the log was told of a certificate: each warning once. */
struct upkeep_told {
    uint32_t file;     /* hash of its name */
    int64_t not_after;
    int days;          /* of the last warning; INT_MAX: none */
};

struct upkeep_probe; /* of one folder: see disks.c */

struct upkeep {
    struct session_env *env;
    const struct services_tls *tls;
    struct co *waiter;
    struct upkeep_told told[UPKEEP_CERTS];
    size_t n_told;
    struct upkeep_probe *probes[UPKEEP_DISKS];
    size_t n_probes;
    struct upkeep_disk disks[UPKEEP_DISKS];
    size_t n_disks;
};

void upkeep_check_certs(struct upkeep *u); /* tell the log; does not yield */
err_t upkeep_check_disks(struct upkeep *u) __attribute__((warn_unused_result)); /* yields */
void upkeep_drop_disks(struct upkeep *u);

#endif
