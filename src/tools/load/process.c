/* SPDX-License-Identifier: MIT */
/* process.c - CPU and memory of a process of this machine. */
#include "tools/load/run.h"

#include <stdio.h>
#include <stdlib.h>
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

/* The number that is the n-th word of a line, from 0. */
static unsigned long word(const char *line, int n)
{
    for (; n > 0; n--) {
        line += strspn(line, " ");
        line += strcspn(line, " ");
    }
    return strtoul(line, NULL, 10);
}

bool load_pid_look(struct load_pid *out, int pid)
{
    char line[1024], *end;

    if (!read_line(pid, "statm", line, sizeof(line)))
        return false;
    out->kb = (double)word(line, 1) * (double)sysconf(_SC_PAGESIZE) / 1024;
    if (!read_line(pid, "stat", line, sizeof(line)))
        return false;
    end = strrchr(line, ')'); /* a name may have anything in it */
    if (!end)
        return false;
    out->cpu = (double)(word(end + 1, 11) + word(end + 1, 12)) / (double)sysconf(_SC_CLK_TCK);
    return true;
}
