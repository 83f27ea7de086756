/* SPDX-License-Identifier: MIT */
/* limits.c - descriptors, mappings, memory and core dumps, against max_connections. */
#include "app/doctor/plan.h"
#include "app/os/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OTHER_FILES = 128,        /* descriptors beside those of connections */
    WORKER_FILES = 8,         /* of each further worker, beside those it listens on */
    OTHER_MAPS = 2000,        /* mappings beside those of stacks, each of which is two */
    CLIENT_BYTES = 32 * 1024, /* of a player: ours, and what its network has not taken yet */
};

static long limit_of(const struct rlimit *r)
{
    return r->rlim_max > 1L << 30 ? 1L << 30 : (long)r->rlim_max;
}

static void descriptors(struct doctor_plan *p)
{
    long further = p->workers > 1 ? (long)p->workers - 1 : 0;
    long other = OTHER_FILES + p->reserve + further * (WORKER_FILES + (long)p->port_n);
    long need = p->connections + other;
    long most = limit_of(&p->files);
    int64_t machine = doctor_number(p, "/proc/sys/fs/file-max", INT64_MAX);
    bool enough = need < most;

    doctor_add(&p->report, enough ? DOCTOR_OK : DOCTOR_FAIL, "descriptors", "",
               "max_connections %ld wants %ld, the limit is %ld", p->connections, need, most);
    if (!enough)
        doctor_advise(&p->report, "ulimit -HSn %ld, in a unit of systemd LimitNOFILE=%ld; or "
                      "max_connections %ld;", need + 1, need + 1,
                      most > other + 1 ? most - other - 1 : 1);
    else if (p->connections <= 1000)
        doctor_advise(&p->report, "for more players: max_connections %ld;",
                      most - other - 1 < 10000 ? most - other - 1 : 10000);
    if (machine > need * 2)
        return;
    doctor_add(&p->report, machine > need ? DOCTOR_WARN : DOCTOR_FAIL, "descriptors",
               "of the machine", "all processes together may have %lld", (long long)machine);
    doctor_advise(&p->report, "sysctl -w fs.file-max=2097152");
}

/* The stack of each connection is a mapping, its guard page another one. */
static void mappings(struct doctor_plan *p)
{
    int64_t most = doctor_number(p, "/proc/sys/vm/max_map_count", 0);
    int64_t need = p->connections * 2 + OTHER_MAPS;

    if (!most)
        return;
    doctor_add(&p->report, need < most ? DOCTOR_OK : DOCTOR_FAIL, "mappings", "",
               "max_connections %ld wants %lld, the limit is %lld", p->connections,
               (long long)need, (long long)most);
    if (need >= most)
        doctor_advise(&p->report, "sysctl -w vm.max_map_count=1048576");
}

/* ---- memory */

static int64_t line_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtoll(at + strlen(name), NULL, 10) : -1;
}

/* What the control groups leave us: the least of ours and of those above, -1 without a limit. */
static void group_leaves(void *least, const char *folder, bool old)
{
    int64_t most = cgroup_memory(folder, old);
    int64_t used = cgroup_number(folder, old ? "memory.usage_in_bytes" : "memory.current", NULL);
    int64_t left = most > used ? most - used : 0, *n = least;

    if (most > 0 && (*n < 0 || left < *n))
        *n = left;
}

static void memory(struct doctor_plan *p)
{
    int64_t need = (int64_t)p->connections * CLIENT_BYTES, free, group = -1;
    char need_text[16], free_text[16];
    bool enough;

    if (!doctor_file(p, "/proc/meminfo") || (free = line_of(p->text, "MemAvailable:")) < 0)
        return;
    free *= 1024;
    cgroup_walk(p->root, "memory", group_leaves, &group);
    if (group >= 0 && group < free)
        free = group;
    enough = p->serving || need <= free; /* a server that runs has some of it already */
    doctor_add(&p->report, enough ? DOCTOR_OK : DOCTOR_WARN, "memory", "",
               "%ld players want about %s, %s are free", p->connections,
               doctor_bytes(need, need_text), doctor_bytes(free, free_text));
    if (!enough)
        doctor_advise(&p->report, "max_connections %lld; or more memory",
                      (long long)(free / CLIENT_BYTES > 1 ? free / CLIENT_BYTES : 1));
}

/* ---- core dumps: what a crash leaves to look at */

static void cores(struct doctor_plan *p)
{
    bool piped, on = p->core.rlim_cur > 0;

    if (!p->core_dump) {
        doctor_add(&p->report, DOCTOR_OK, "core dumps", "", "none: core_dump is off");
        return;
    }
    if (!doctor_file(p, "/proc/sys/kernel/core_pattern"))
        return;
    p->text[strcspn(p->text, "\n")] = '\0';
    p->text[200] = '\0';
    piped = p->text[0] == '|';
    if (!on && !piped) {
        doctor_add(&p->report, DOCTOR_WARN, "core dumps", "", "off: a crash leaves no more than "
                   "its lines in the log");
        doctor_advise(&p->report, "ulimit -c unlimited, in a unit of systemd LimitCORE=infinity");
        return;
    }
    doctor_add(&p->report, DOCTOR_OK, "core dumps", "", piped ? "go to %s" : "on, as %s",
               p->text + piped);
}

void doctor_look_limits(struct doctor_plan *p)
{
    descriptors(p);
    mappings(p);
    memory(p);
    cores(p);
}
