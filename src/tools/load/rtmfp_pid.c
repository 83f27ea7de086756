/* SPDX-License-Identifier: MIT */
/* rtmfp_pid.c - CPU and memory of a process of this machine. */
#include "tools/load/rtmfp_pid.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first line of a file of proc(5). */
static bool read_line(int pid, const char *name, char *line, size_t size)
{
    char path[64];
    bool read;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    f = fopen(path, "r");
    if (!f)
        return false;
    read = fgets(line, (int)size, f) != NULL;
    (void)fclose(f);
    return read;
}

bool load_pid_look(struct load_pid *out, int pid)
{
    unsigned long user, system;
    char line[1024], *end;
    long pages;

    if (!read_line(pid, "statm", line, sizeof(line)) || sscanf(line, "%*d %ld", &pages) != 1)
        return false;
    out->kb = (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
    if (!read_line(pid, "stat", line, sizeof(line)))
        return false;
    end = strrchr(line, ')'); /* a name may have anything in it */
    if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                       &system) != 2)
        return false;
    out->cpu = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    return true;
}
