/* SPDX-License-Identifier: MIT */
/* command.h - `srs -c FILE --doctor`. */
#ifndef APP_DOCTOR_COMMAND_H
#define APP_DOCTOR_COMMAND_H

#include "app/options.h"

/* Checks and prints the report; returns the exit code, 1 if something is wrong. */
int doctor_command(const struct options *o);

#endif
