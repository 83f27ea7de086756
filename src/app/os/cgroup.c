/* SPDX-License-Identifier: MIT */
/* cgroup.c - the control groups that this process is in. Formats: cgroups(7). */
#include "app/os/cgroup.h"

#include "app/os/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 4096 };

/* Arguments of a walk. */
struct walk {
    const char *root, *what;
    cgroup_fn *fn;
    void *arg;
};

static int64_t number(const char *text, char **end)
{
    int64_t n = strtoll(text, end, 10);

    return n > 0 && n < INT64_MAX / 2 ? n : 0;
}

int64_t cgroup_number(const char *folder, const char *file, int64_t *next)
{
    char path[FILE_MAX], text[64] = "", *end;
    int64_t n;

    if (snprintf(path, sizeof(path), "%s/%s", folder, file) < (int)sizeof(path))
        (void)machine_file(path, text, sizeof(text));
    n = number(text, &end);
    if (next)
        *next = number(end + strcspn(end, " "), &end); /* also after "max" */
    return n;
}

/* Visits the group and all its parents; shortens the name. In a container its own group is the
 * root. */
static void up(const struct walk *w, const char *mount, char *group, bool old)
{
    char path[FILE_MAX / 2 + 64], *end;

    do {
        (void)snprintf(path, sizeof(path), "%s%s", mount, group);
        w->fn(w->arg, path, old);
        end = strrchr(group, '/');
        if (end)
            *end = '\0';
    } while (end);
}

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);

    while (*list) {
        size_t k = strcspn(list, ",");

        if (k == n && strncmp(list, word, n) == 0)
            return true;
        list += k + (list[k] == ',');
    }
    return false;
}

/* Parses a line: "0::/system.slice/srs.service" in version 2, "9:memory:/system.slice/srs.service"
 * in version 1. A system can have both. */
static void of_line(const struct walk *w, char *line)
{
    char *words = strchr(line, ':'), *group = words ? strchr(words + 1, ':') : NULL;
    char mount[FILE_MAX / 4];
    bool old;

    if (!group || strlen(group) > FILE_MAX / 4)
        return;
    *group++ = '\0';
    old = has_word(++words, w->what);
    if (*words && !old)
        return;
    (void)snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup%s%s", w->root, old ? "/" : "",
                   old ? w->what : "");
    up(w, mount, group, old);
}

void cgroup_walk(const char *root, const char *what, cgroup_fn *fn, void *arg)
{
    const struct walk w = { root, what, fn, arg };
    char groups[FILE_MAX], path[FILE_MAX / 2], top[] = "0::/";

    of_line(&w, top);
    (void)snprintf(path, sizeof(path), "0:%s:/", what);
    of_line(&w, path);
    (void)snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    if (!machine_file(path, groups, sizeof(groups)))
        return;
    for (char *line = groups, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        of_line(&w, line);
    }
}

int64_t cgroup_memory(const char *folder, bool old)
{
    return cgroup_number(folder, old ? "memory.limit_in_bytes" : "memory.max", NULL);
}

/* Reads "QUOTA PERIOD" in microseconds, or "max PERIOD"; version 1 has two files. Keeps the lowest
 * limit of all groups; 0: no limit. */
static void group_allows(void *least, const char *folder, bool old)
{
    int64_t period, quota = cgroup_number(folder, old ? "cpu.cfs_quota_us" : "cpu.max", &period);
    double *n = least, cores;

    if (old)
        period = cgroup_number(folder, "cpu.cfs_period_us", NULL);
    cores = (double)quota / (double)(period > 0 ? period : 100000);
    if (quota > 0 && (*n <= 0 || cores < *n))
        *n = cores;
}

double cgroup_cores(const char *root)
{
    double least = 0;

    cgroup_walk(root, "cpu", group_allows, &least);
    return least;
}
