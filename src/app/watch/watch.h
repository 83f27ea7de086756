/* SPDX-License-Identifier: MIT */
/* watch.h - watches for expiring certificates and full disks. The first worker checks both
 * periodically and logs warnings in time; the API and the metrics show the last result.
 */
#ifndef APP_WATCH_WATCH_H
#define APP_WATCH_WATCH_H

#include "app/services.h"
#include "session/env.h"

struct watch; /* owned by the server; only the first worker has one */

struct watch *watch_new(struct session_env *env, const struct services_tls *tls);
void watch_free(struct watch *u); /* after its coroutine has ended; NULL is fine */
err_t watch_run(void *watch); /* co_fn; runs until stopped */
/* Checks immediately, because the configuration or a certificate changed. Does not yield. */
void watch_wake(struct watch *u);

/* ---- server certificates */

enum watch_cert_state { WATCH_VALID, WATCH_ENDING, WATCH_ENDED, WATCH_EARLY };

struct watch_cert {
    char services[64];         /* the services that use it: "https, rtmps" */
    struct io_tls_about about; /* borrows name and file from the server: valid until a yield */
    enum watch_cert_state state;
    int64_t since;             /* in this state: ms since 1970 */
    int64_t days_left;         /* whole days; < 0: it has expired */
};

/* Returns the current state, malloc'ed: one row per file. *n is the number of rows, at most
 * WATCH_CERTS. Does not yield. */
struct watch_cert *watch_certs(const struct watch *u, size_t *n);
const char *watch_cert_state_name(enum watch_cert_state state); /* "valid" */
enum { WATCH_CERTS = 64 }; /* certificates beyond this number are not checked */

/* ---- disks that the server writes to */

enum watch_disk_state { WATCH_OK, WATCH_LOW, WATCH_FULL, WATCH_FAILING };

struct watch_disk {
    char id[24];    /* the kernel's device number, such as "8:1" */
    char uses[64];  /* "hls, dvr, log" */
    char path[256]; /* one of the folders on it */
    enum watch_disk_state state;
    int64_t since;       /* in this state: ms since 1970 */
    int64_t size, free;  /* bytes, at the last successful check; free: available to the server */
    char error[120];     /* why the last check failed, or "" */
};
enum { WATCH_DISKS = 32 };

/* Points to the results of the last check, some seconds ago, and returns their number. */
size_t watch_disks(const struct watch *u, const struct watch_disk **out);
const char *watch_disk_state_name(enum watch_disk_state state); /* "ok" */

#endif
