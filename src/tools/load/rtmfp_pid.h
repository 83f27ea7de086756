/* SPDX-License-Identifier: MIT */
/* rtmfp_pid.h - CPU and memory of a process of this machine. */
#ifndef TOOLS_LOAD_RTMFP_PID_H
#define TOOLS_LOAD_RTMFP_PID_H

#include <stdbool.h>

struct load_pid {
    double cpu; /* s, of all its threads */
    double kb;  /* resident */
};
bool load_pid_look(struct load_pid *out, int pid); /* false: there is no such process */

#endif
