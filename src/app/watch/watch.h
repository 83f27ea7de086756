/* SPDX-License-Identifier: MIT */
/* watch.h - watches certificates that end and disks that fill up. The first worker checks both
 * periodically and warns in the log in time; the API and the metrics show the last result.
 */
#ifndef APP_WATCH_WATCH_H
#define APP_WATCH_WATCH_H

#include "app/services.h"
#include "session/env.h"

struct watch; /* owned by the server; of the first worker alone */

struct watch *watch_new(struct session_env *env, const struct services_tls *tls);
void watch_free(struct watch *u); /* when its coroutine has ended; NULL is fine */
err_t watch_run(void *watch); /* co_fn; looks until it is stopped */
/* The configuration or a certificate changed: look at once. Does not yield. */
void watch_wake(struct watch *u);

/* ---- certificates that clients are shown */

enum watch_cert_state { UPKEEP_VALID, UPKEEP_ENDING, UPKEEP_ENDED, UPKEEP_EARLY };

struct watch_cert {
    char services[64];         /* that show it: "https, rtmps" */
    struct io_tls_about about; /* name and file are those of the server: valid until one yields */
    enum watch_cert_state state;
    int64_t since;             /* in this state: ms since 1970 */
    int64_t days_left;         /* whole ones; < 0: it has ended */
};

/* As they are now, malloc'ed: each file is one, whoever shows it. *n tells how many, at most
 * UPKEEP_CERTS. Does not yield. */
struct watch_cert *watch_certs(const struct watch *u, size_t *n);
const char *watch_cert_state_name(enum watch_cert_state state); /* "valid" */
enum { UPKEEP_CERTS = 64 }; /* more are not looked at */

/* ---- disks that the server writes to */

enum watch_disk_state { UPKEEP_OK, UPKEEP_LOW, UPKEEP_FULL, UPKEEP_FAILING };

struct watch_disk {
    char id[24];    /* "8:1", as the kernel numbers devices */
    char uses[64];  /* "hls, dvr, log" */
    char path[256]; /* one of the folders that are on it */
    enum watch_disk_state state;
    int64_t since;       /* in this state: ms since 1970 */
    int64_t size, free;  /* bytes, free for us; at the last look that succeeded */
    char error[120];     /* why it could not be looked at; "" */
};
enum { UPKEEP_DISKS = 32 };

/* As they were at the last look, some seconds ago; gives how many. */
size_t watch_disks(const struct watch *u, const struct watch_disk **out);
const char *watch_disk_state_name(enum watch_disk_state state); /* "ok" */

#endif
