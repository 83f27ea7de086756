/* SPDX-License-Identifier: MIT */
/* memory.c - how much memory the streams and the messages of all clients may take together. */
#include "app/memory.h"

#include "app/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FILE_MAX = 2048, LEAST = 16 << 20, MESSAGES_MAX = 512 << 20 };

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

/* The group of the process and all above it: "0::/system.slice/srs.service" in version 2. In a
 * container the file of the group is at the top. */
static int64_t control_groups(void)
{
    char groups[FILE_MAX], path[FILE_MAX + 64], *group, *end;
    int64_t most = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");

    most = less(most, number_in("/sys/fs/cgroup/memory.max"));
    if (!machine_file("/proc/self/cgroup", groups, sizeof(groups)))
        return most;
    group = strstr(groups, "0::/");
    if (!group)
        return most;
    group += strlen("0::");
    group[strcspn(group, "\n")] = '\0';
    while ((end = strrchr(group, '/')) && end[1]) {
        (void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", group);
        most = less(most, number_in(path));
        *end = '\0';
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
    return less(less(machine(), control_groups()), address_space());
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
