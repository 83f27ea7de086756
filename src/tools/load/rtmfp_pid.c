/* SPDX-License-Identifier: MIT */
/* rtmfp_pid.c - CPU and memory of another process of this machine. */
#include "tools/load/rtmfp_pid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELDS = 12 }; /* of proc(5): behind the name, utime is the 12th and stime the next one */

/* The name is in parentheses and may have anything in it. */
static bool read_ticks(const char *line, double *out)
{
    const char *at = strrchr(line, ')');
    unsigned long user, system;
    char *end;

    if (!at)
        return false;
    at++;
    for (int i = 1; i < FIELDS; i++) {
        at += strspn(at, " ");
        at += strcspn(at, " ");
    }
    user = strtoul(at, &end, 10);
    if (end == at)
        return false;
    at = end;
    system = strtoul(at, &end, 10);
    *out = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    return end != at;
}

static bool read_cpu(double *out, int pid)
{
    char path[64], line[1024] = "";
    bool read;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    f = fopen(path, "r");
    if (!f)
        return false;
    read = fgets(line, sizeof(line), f) != NULL;
    (void)fclose(f);
    return read && read_ticks(line, out);
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
