/* SPDX-License-Identifier: MIT */
/* options.h - the command line. */
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>

struct options {
    const char *conf;  /* argument of -c, or NULL */
    bool nothing;      /* there were no arguments */
    bool help;         /* also set by an argument without a dash */
    bool version, signature;
    bool test;         /* only test the configuration */
    bool doctor;       /* only check whether the machine fits the configuration */
    bool env_only;     /* no file: all settings come from the environment */
};

/* Parses the command line. Letters may be joined ("-tc file"); -c takes the rest of its word or the
 * next word. Returns ERR_CONF for an unknown option or a missing file. *o borrows from argv. */
err_t options_parse(struct options *o, int argc, char **argv) __attribute__((warn_unused_result));

/* Applies SRS_CONFIG_FILE and SRS_ENV_ONLY. If there is nothing to do even then, it sets `help`.
 * `get` works like getenv(3). */
void options_from_env(struct options *o, const char *(*get)(const char *name));

void options_help(FILE *to, const char *program);

#endif
