/* SPDX-License-Identifier: MIT */
/* reload.h - applies a new configuration to the running server, as a whole or not at all. */
#ifndef APP_RELOAD_H
#define APP_RELOAD_H

#include "app/server.h"
#include "conf/conf.h"

enum reload_state { /* the numbers are those of SRS */
    RELOAD_NEVER = 0, RELOAD_PARSING = 10, RELOAD_TRANSFORMING = 20, RELOAD_APPLYING = 30,
    RELOAD_FINISHED = 90,
};

/* Result of the last reload, for the API. */
struct reload_report {
    enum reload_state state;
    unsigned count;          /* reloads so far */
    int code;                /* error code; 0: it succeeded */
    char *text;              /* text of the error; NULL if it succeeded */
    char **line;             /* one for each changed directive */
    size_t lines, applied, later; /* changed directives: all, in force, waiting for a restart */
};
void reload_report_free(struct reload_report *r);

/* Reads, checks and compares the configuration, puts it in force, and logs each changed directive:
 * applied, or needs a restart. On any error the old configuration stays in force and the log names
 * file and line. Returns true if a new snapshot is in force. */
bool reload_now(struct server *s, const struct conf_source *src);

#endif
