/* SPDX-License-Identifier: MIT */
/* rtmfp_pid.c - CPU and memory of another process of this machine. */
#include "tools/load/rtmfp_pid.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* proc(5): the name, in parentheses, may have anything in it; 11 fields are between it and utime. */
static bool read_cpu(double *out, int pid)
{
    char path[64], line[1024];
    unsigned long user = 0, system = 0;
    const char *behind = NULL;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    f = fopen(path, "r");
    if (!f)
        return false;
    if (fgets(line, sizeof(line), f))
        behind = strrchr(line, ')');
    (void)fclose(f);
    if (!behind || sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                          &user, &system) != 2)
        return false;
    *out = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    return true;
}

bool load_pid_look(struct load_pid *out, int pid)
{
    char path[64];
    long all, pages = -1;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/statm", pid);
    f = fopen(path, "r");
    if (!f)
        return false;
    if (fscanf(f, "%ld %ld", &all, &pages) != 2)
        pages = -1;
    (void)fclose(f);
    out->kb = (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
    return pages >= 0 && read_cpu(&out->cpu, pid);
}
