/* SPDX-License-Identifier: MIT */
/* reload.h - a new configuration into a server that runs: whole or not at all. */
#ifndef APP_RELOAD_H
#define APP_RELOAD_H

#include "app/server.h"
#include "conf/conf.h"

enum reload_state { /* numbers that users of such servers know */
    RELOAD_NEVER = 0, RELOAD_PARSING = 10, RELOAD_TRANSFORMING = 20, RELOAD_APPLYING = 30,
    RELOAD_FINISHED = 90,
};

/* What became of the last one, for the API. */
struct reload_report {
    enum reload_state state;
    unsigned count;          /* reloads so far */
    int code;                /* 0: it is in force */
    char *text;              /* why not; NULL when it is */
    char **line;             /* one for each directive that changed */
    size_t lines, applied, later; /* how many, and of them in force, and waiting for a restart */
};
void reload_report_free(struct reload_report *r);

/* Read, check and compare the configuration, put it in force, and say in the log what became of
 * each directive that changed: applied, or needs a restart. Whatever goes wrong, the old one
 * stays whole, and the log has file and line. True: a new snapshot is in force. */
bool reload_now(struct server *s, const struct conf_source *src);

#endif
