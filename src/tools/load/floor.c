/* SPDX-License-Identifier: MIT */
/* floor.c - what the kernel alone takes: two processes. */
#include "tools/load/floor.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

void load_floor_die(const char *what)
{
    perror(what);
    exit(1);
}

int load_floor_number(const char *text, int least, int most)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (*end || end == text || n < least || n > most) {
        fprintf(stderr, "%s is not a number from %d to %d\n", text, least, most);
        exit(2);
    }
    return (int)n;
}

pid_t load_floor_fork(int cpu)
{
    pid_t child = fork();
    cpu_set_t set;

    if (child < 0)
        load_floor_die("fork");
    if (child > 0)
        return child;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    CPU_ZERO(&set);
    if (cpu >= 0)
        CPU_SET((size_t)cpu, &set);
    if (cpu >= 0 && sched_setaffinity(0, sizeof(set), &set) < 0)
        load_floor_die("the other core");
    return 0;
}
