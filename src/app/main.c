/* SPDX-License-Identifier: MIT */
/* main.c - parses the command line and runs what it requests. */
#include "app/doctor/command.h"
#include "app/options.h"
#include "app/os/process.h"
#include "app/version.h"

#include <stdio.h>
#include <stdlib.h>

static const char *get(const char *name)
{
    return getenv(name);
}

int main(int argc, char **argv)
{
    struct options o;
    char text[256];
    err_t err;

    err = options_parse(&o, argc, argv);
    if (err) {
        fprintf(stderr, "srs: %s; see %s -h\n", err_text(err, text, sizeof(text)), argv[0]);
        err_free(&err);
        return ERR_CONF & 0xff;
    }
    if (!o.version && !o.signature)
        options_from_env(&o, get);
    if (o.version)
        printf("%s\n", VERSION_NUMBER);
    else if (o.signature)
        printf("%s\n", VERSION_SIGNATURE);
    else if (o.help)
        options_help(stdout, argv[0]);
    else if (o.doctor)
        return doctor_command(&o);
    else if (o.test)
        return process_test(&o);
    else
        return process_run(&o);
    return 0;
}
