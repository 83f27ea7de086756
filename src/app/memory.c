/* SPDX-License-Identifier: MIT */
/* memory.c - how much memory the streams and the messages of all clients may take together. */
#include "app/memory.h"

#include "app/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FILE_MAX = 4096, LEAST = 16 << 20, MESSAGES_MAX = 512 << 20 };

static int64_t less(int64_t a, int64_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

static int64_t machine(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

    return pages > 0 && size > 0 ? (int64_t)pages * size : 0;
}

/* A number in a file; 0 for "max" and when there is none. */
static int64_t number_in(const char *path)
{
    char text[32];
    int64_t n = machine_file(path, text, sizeof(text)) ? strtoll(text, NULL, 10) : 0;

    return n > 0 && n < INT64_MAX / 2 ? n : 0;
}

/* The limits of a group and of all above it; shortens the name. In a container the group's own is
 * at the top. */
static int64_t group_and_above(const char *mount, const char *file, char *group)
{
    char path[FILE_MAX / 2 + 64], *end;
    int64_t most = 0;

    do {
        (void)snprintf(path, sizeof(path), "%s%s/%s", mount, group, file);
        most = less(most, number_in(path));
        end = strrchr(group, '/');
        if (end)
            *end = '\0';
    } while (end);
    return most;
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

/* "0::/system.slice/srs.service" in version 2, "9:memory:/system.slice/srs.service" in version 1,
 * where both can be there. */
static int64_t of_line(const char *root, char *line)
{
    char *words = strchr(line, ':'), *group = words ? strchr(words + 1, ':') : NULL;
    char mount[FILE_MAX / 4];
    bool old;

    if (!group || strlen(group) > FILE_MAX / 4)
        return 0;
    *group++ = '\0';
    old = has_word(++words, "memory");
    if (*words && !old)
        return 0;
    (void)snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup%s", root, old ? "/memory" : "");
    return group_and_above(mount, old ? "memory.limit_in_bytes" : "memory.max", group);
}

int64_t memory_of_groups(const char *root)
{
    char groups[FILE_MAX], path[FILE_MAX / 2], top[] = "0::/", old_top[] = "0:memory:/";
    int64_t most = less(of_line(root, top), of_line(root, old_top));

    (void)snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    if (!machine_file(path, groups, sizeof(groups)))
        return most;
    for (char *line = groups, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        most = less(most, of_line(root, line));
    }
    return most;
}

/* Of the address space what is not taken yet: threads and libraries took the rest. */
static int64_t address_space(void)
{
    struct rlimit r;
    char text[64];
    int64_t taken;

    if (getrlimit(RLIMIT_AS, &r) < 0 || r.rlim_cur == RLIM_INFINITY)
        return 0;
    taken = machine_file("/proc/self/statm", text, sizeof(text)) ? strtoll(text, NULL, 10) : 0;
    taken *= sysconf(_SC_PAGESIZE);
    return (int64_t)r.rlim_cur > taken ? (int64_t)r.rlim_cur - taken : 1;
}

int64_t memory_of_process(void)
{
    return less(less(machine(), memory_of_groups("")), address_space());
}

void memory_apply(struct serve *serve)
{
    const struct conf_limits *limits = &serve->conf->limits;
    int64_t streams = limits->memory, messages = limits->max_partial_total;

    if (streams == 0)
        streams = memory_of_process() / 2;
    if (streams > 0 && streams < LEAST)
        streams = LEAST;
    if (messages == 0)
        messages = streams > 0 && streams / 4 < MESSAGES_MAX ? streams / 4 : MESSAGES_MAX;
    serve->messages.limit = (size_t)messages;
    live_registry_limit(serve->streams, (size_t)streams);
}
