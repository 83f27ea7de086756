/* SPDX-License-Identifier: MIT */
/* options.h - the command line. */
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>

struct options {
    const char *conf;  /* of -c, NULL without */
    bool nothing;      /* no argument at all */
    bool help;         /* also for an argument without a dash */
    bool version, signature;
    bool test;         /* only test the configuration */
    bool doctor;       /* only look whether the machine suits it */
    bool env_only;     /* no file: everything from the environment */
};

/* Letters may be joined ("-tc file"), -c takes the rest of its word or the next one. ERR_CONF for
 * an option that does not exist or lacks its file. The strings of *o are argv's. */
err_t options_parse(struct options *o, int argc, char **argv) __attribute__((warn_unused_result));

/* What the environment says instead: SRS_CONFIG_FILE and SRS_ENV_ONLY. If that leaves nothing to
 * do, there is help. get is as getenv(3). */
void options_from_env(struct options *o, const char *(*get)(const char *name));

void options_help(FILE *to, const char *program);

#endif
