/* SPDX-License-Identifier: MIT */
/* machine.c - checks limits, memory, cores, clock and kernel settings. */
#include "app/doctor/plan.h"

#include "app/os/cgroup.h"
#include "app/os/machine.h"
#include "base/text.h"
#include "co/thread.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#define YEAR_2024 1704067200 /* seconds since 1970 */
#define ALL_OF_THEM "; all of them: etc/sysctl.d/60-srs.conf"

enum {
    OTHER_FILES = 128,        /* descriptors that are not connections */
    WORKER_FILES = 8,         /* further descriptors per worker, without its listeners */
    OTHER_MAPS = 2000,        /* mappings in addition to stacks, which need two each */
    CLIENT_BYTES = 32 * 1024, /* memory per player, with its usual socket buffer */
    SLOW_BYTES = 64 * 1024,   /* kernel memory per player with a slow network */
};

/* Returns the number at the start of a text, or `otherwise` (also for "max" of control groups). */
static int64_t number(const char *text, int64_t otherwise)
{
    char *end;
    int64_t v = strtoll(text, &end, 10);

    return end == text ? otherwise : v;
}

/* Cuts the text after its first line. */
static const char *first_line(struct doctor_plan *p, size_t most)
{
    p->text[strcspn(p->text, "\n")] = '\0';
    p->text[most] = '\0';
    return p->text;
}

/* ---- descriptors, mappings, memory */

static long needed_files(const struct doctor_plan *p)
{
    long further = p->workers > 1 ? (long)p->workers - 1 : 0;

    return p->connections + OTHER_FILES + p->reserve + further * (WORKER_FILES + (long)p->port_n);
}

static void check_files(struct doctor_plan *p)
{
    long need = needed_files(p), other = need - p->connections;
    long most = p->files.rlim_max > 1L << 30 ? 1L << 30 : (long)p->files.rlim_max;

    ADD(p, need < most ? DOCTOR_OK : DOCTOR_FAIL, "descriptors", "",
        "max_connections %ld needs %ld, the limit is %ld", p->connections, need, most);
    ADVISE(p, "ulimit -HSn %ld, in a systemd unit LimitNOFILE=%ld; or max_connections %ld;",
           need + 1, need + 1, most > other + 1 ? most - other - 1 : 1);
    if (need < most && p->connections <= 1000)
        doctor_hint(&p->report, "for more players: max_connections %ld;",
                    most - other - 1 < 10000 ? most - other - 1 : 10000);
}

static void check_files_of_all(struct doctor_plan *p)
{
    int64_t need = needed_files(p), most = number(p->text, INT64_MAX);

    if (most > need * 2)
        return;
    ADD(p, most > need ? DOCTOR_WARN : DOCTOR_FAIL, "descriptors", "all processes",
        "the limit for all processes together is %lld", (long long)most);
    ADVISE(p, "sysctl -w fs.file-max=2097152");
}

/* The stack of each connection is one mapping, its guard page another. */
static void check_mappings(struct doctor_plan *p)
{
    int64_t most = number(p->text, 0), need = p->connections * 2 + OTHER_MAPS;

    if (!most)
        return;
    ADD(p, need < most ? DOCTOR_OK : DOCTOR_FAIL, "mappings", "",
        "max_connections %ld needs %lld, the limit is %lld", p->connections, (long long)need,
        (long long)most);
    ADVISE(p, "sysctl -w vm.max_map_count=1048576");
}

/* Finds the lowest memory limit of the control group and its parents; -1: no limit. */
static void group_leaves(void *least, const char *folder, bool old)
{
    int64_t most = cgroup_memory(folder, old);
    int64_t used = cgroup_number(folder, old ? "memory.usage_in_bytes" : "memory.current", NULL);
    int64_t left = most > used ? most - used : 0, *n = least;

    if (most > 0 && (*n < 0 || left < *n))
        *n = left;
}

static void check_memory(struct doctor_plan *p)
{
    const char *line = strstr(p->text, "MemAvailable:");
    int64_t need = (int64_t)p->connections * CLIENT_BYTES, free, group = -1;
    char need_text[16], free_text[16];

    if (!line)
        return;
    free = number(line + strlen("MemAvailable:"), 0) * 1024;
    cgroup_walk(p->root, "memory", group_leaves, &group);
    if (group >= 0 && group < free)
        free = group;
    /* a running server already uses some of it */
    ADD(p, p->serving || need <= free ? DOCTOR_OK : DOCTOR_WARN, "memory", "",
        "%ld players need about %s, %s are free", p->connections, doctor_bytes(need, need_text),
        doctor_bytes(free, free_text));
    ADVISE(p, "max_connections %lld; or more memory",
           (long long)(free / CLIENT_BYTES > 1 ? free / CLIENT_BYTES : 1));
}

/* Checks whether a crash leaves a core dump. */
static void check_core_dumps(struct doctor_plan *p)
{
    const char *to = first_line(p, 200);
    bool piped = *to == '|', on = p->core.rlim_cur > 0;

    if (!p->core_dump)
        ADD(p, DOCTOR_OK, "core dumps", "", "none: core_dump is off");
    else if (on || piped)
        ADD(p, DOCTOR_OK, "core dumps", "", piped ? "go to %s" : "on, as %s", to + piped);
    else
        ADD(p, DOCTOR_WARN, "core dumps", "", "off: a crash leaves only its log "
                                              "lines");
    ADVISE(p, "ulimit -c unlimited, in a systemd unit LimitCORE=infinity");
}

/* ---- the clock */

static void check_clock(struct doctor_plan *p)
{
    struct timex t = { .modes = 0 };
    int state = adjtimex(&t);

    if (time(NULL) < YEAR_2024)
        ADD(p, DOCTOR_FAIL, "clock", "", "it is set before 2024: certificates and names of "
                                         "recordings will be wrong");
    else if (state < 0)
        return; /* not permitted */
    else if (state == TIME_ERROR || (t.status & STA_UNSYNC))
        ADD(p, DOCTOR_WARN, "clock", "", "the clock is not synchronized");
    else
        ADD(p, DOCTOR_OK, "clock", "", "synchronized, off by at most %ld ms", t.maxerror / 1000);
    ADVISE(p, "timedatectl set-ntp true, or apt install chrony; in a container check its host");
}

/* The server reads the time for every packet. These clock sources need no system call. */
static void check_clock_source(struct doctor_plan *p)
{
    static const char list[] = "tsc,kvm-clock,arch_sys_counter,hyperv_clocksource_tsc_page,"
                               "timebase,riscv_clocksource";
    bool cheap = text_list_has(list, first_line(p, 40));

    ADD(p, cheap ? DOCTOR_OK : DOCTOR_WARN, "clock", "source", "%s%s", p->text,
        cheap ? "" : ": reading the time needs a system call");
    ADVISE(p, "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource, if "
              "available_clocksource next to it lists it; dmesg says why not");
}

/* ---- cores and network cards, against the number of workers */

static void check_governor(struct doctor_plan *p)
{
    const char *name = first_line(p, 40);
    bool fast = strcmp(name, "performance") == 0;

    ADD(p, fast ? DOCTOR_OK : DOCTOR_WARN, "cpu", "governor", "%s%s", name,
        fast ? "" : ": cores slow down between two sends");
    ADVISE(p, "cpupower frequency-set -g performance");
}

/* A control group's quota counts the CPU time of all threads. */
static void check_quota(struct doctor_plan *p)
{
    double most = cgroup_cores(p->root);
    bool one = p->workers <= 1;
    char what[48];

    if (most <= 0 || (one ? most >= 1.5 : most >= p->workers))
        return;
    (void)snprintf(what, sizeof(what), one ? "CPUs: when it is"
                                           : "cores for %u workers: when they are", p->workers);
    ADD(p, DOCTOR_WARN, "cpu", "quota", "%.2f %s used up, all players stall for up to 100 ms",
        most, what);
    ADVISE(p,
           "set a limit of %u cores or more, or none: docker run --cpus=%u, CPUQuota= in the unit",
           one ? 2 : p->workers, one ? 2 : p->workers);
}

static void check_cores(struct doctor_plan *p)
{
    int mine = CPU_COUNT(co_pin_allowed());
    bool one = p->workers <= 1;
    char what[48];

    if (mine == 0)
        return;
    (void)snprintf(what, sizeof(what), one ? "one is needed" : "for %u workers", p->workers);
    ADD(p, one || p->workers <= (unsigned)mine ? DOCTOR_OK : DOCTOR_WARN, "cpu", "cores",
        "%d of %ld available, %s", mine, sysconf(_SC_NPROCESSORS_ONLN), what);
    ADVISE(p, "workers auto; or workers %d;", mine);
    if (one && mine > 2 && mine == sysconf(_SC_NPROCESSORS_ONLN))
        doctor_hint(&p->report, "for the lowest latency reserve one for the server: "
                    "scripts/perf-pin.sh, and scripts/perf-set-irq-affinity.sh");
}

/* Checks `steal`, the CPU time taken by the host: "cpu user nice system idle iowait irq softirq
 * steal" in jiffies. */
static void check_steal(struct doctor_plan *p)
{
    double all = 0, steal = 0;
    char *at = p->text + strlen("cpu ");

    if (strncmp(p->text, "cpu ", 4) != 0)
        return;
    for (int i = 0; i < 8; i++) {
        steal = (double)strtoull(at, &at, 10);
        all += steal;
    }
    if (all <= 0 || steal / all < 0.05)
        return;
    ADD(p, DOCTOR_WARN, "cpu", "steal", "the host of this virtual machine took %.0f %% of its time "
                                        "since boot", 100 * steal / all);
    ADVISE(p, "use a machine with dedicated cores");
}

/* Each queue interrupts one core, unless software spreads it over a mask of them (RPS):
 * "00000000,0000000f". */
static void check_card(struct doctor_plan *p, const char *name)
{
    unsigned queues = 0;
    bool spread = false, enough;
    char path[128];

    (void)snprintf(path, sizeof(path), "/sys/class/net/%.60s/queues/rx-0/rps_cpus", name);
    while (doctor_file(p, path)) {
        spread |= strpbrk(p->text, "123456789abcdef") != NULL;
        (void)snprintf(path, sizeof(path), "/sys/class/net/%.60s/queues/rx-%u/rps_cpus", name,
                       ++queues);
    }
    enough = spread || queues * 2 >= p->workers;
    if (queues == 0)
        return;
    ADD(p, enough ? DOCTOR_OK : DOCTOR_WARN, "network card", name, "%u queue%s for %u workers%s",
        queues, queues == 1 ? "" : "s", p->workers,
        spread   ? ", and RPS spreads them"
        : enough ? ""
                 : ": only as many cores receive packets for "
                   "all");
    ADVISE(p, "ethtool -L %s combined %u; if it cannot: scripts/perf-set-irq-affinity.sh --rps %s "
              "CPUS", name, p->workers, name);
}

/* Skips bridges, loopback and virtual interfaces of containers, which have no device. */
static void check_cards(struct doctor_plan *p)
{
    char path[300];
    glob_t found = { 0 };

    (void)snprintf(path, sizeof(path), "%s/sys/class/net/*/device", p->root);
    (void)glob(path, 0, NULL, &found);
    for (size_t i = 0; p->workers > 1 && i < found.gl_pathc; i++) {
        char *name = found.gl_pathv[i] + strlen(p->root) + strlen("/sys/class/net/");

        name[strcspn(name, "/")] = '\0';
        check_card(p, name);
    }
    globfree(&found);
}

/* ---- queues and buffers of the kernel, and dropped packets */

/* Settings with a minimum. */
static const struct {
    const char *name, *file;
    int64_t least, advised;
    const char *why;
    bool udp; /* only needed by datagram protocols */
} sizes[] = {
    { "net.core.somaxconn", "/proc/sys/net/core/somaxconn", 4096, 32768,
      "connections that come at once wait there, the others are dropped", false },
    { "net.ipv4.tcp_max_syn_backlog", "/proc/sys/net/ipv4/tcp_max_syn_backlog", 1024, 32768,
      "half-open connections wait there", false },
    { "net.core.rmem_max", "/proc/sys/net/core/rmem_max", 8 << 20, 33554432,
      "one socket takes the datagrams of all sessions", true },
    { "net.core.wmem_max", "/proc/sys/net/core/wmem_max", 8 << 20, 33554432,
      "one socket sends the datagrams of all sessions", true },
};

/* Some of them are not visible in a container. */
static void check_sizes(struct doctor_plan *p)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int64_t v = doctor_file(p, sizes[i].file) ? number(p->text, -1) : -1;
        bool less = v < sizes[i].least, warn = less && (p->udp || !sizes[i].udp);

        if (v < 0)
            continue;
        ADD(p, warn ? DOCTOR_WARN : DOCTOR_OK, "kernel", sizes[i].name, "%lld%s%s", (long long)v,
            less ? ": " : "", warn ? sizes[i].why
                              : less ? "fine for TCP, low for datagrams" : "");
        if (less)
            doctor_hint(&p->report, "sysctl -w %s=%lld" ALL_OF_THEM, sizes[i].name,
                        (long long)sizes[i].advised);
    }
}

/* Compares TCP's memory limit ("min default max" pages) with the need if all players have slow
 * networks. */
static void check_tcp_memory(struct doctor_plan *p)
{
    int64_t need = (int64_t)p->connections * SLOW_BYTES, most;
    char need_text[16], most_text[16], *at = p->text;

    (void)strtoll(at, &at, 10);
    (void)strtoll(at, &at, 10);
    most = number(at, 0) * sysconf(_SC_PAGESIZE);
    ADD(p, need <= most ? DOCTOR_OK : DOCTOR_WARN, "kernel", "net.ipv4.tcp_mem",
        "%s for all TCP connections; %ld slow players need %s", doctor_bytes(most, most_text),
        p->connections, doctor_bytes(need, need_text));
    ADVISE(p, "sysctl -w net.ipv4.tcp_mem=\"%lld %lld %lld\"", (long long)(need / 4096),
           (long long)(need / 3072), (long long)(need / 2048));
}

static void check_tracked(struct doctor_plan *p)
{
    int64_t most = number(p->text, -1), have = 0;
    int64_t ours = (int64_t)p->connections + p->sessions; /* it tracks UDP flows, too */

    if (doctor_file(p, "/proc/sys/net/netfilter/nf_conntrack_count"))
        have = number(p->text, 0);
    ADD(p, most > ours + have ? DOCTOR_OK : DOCTOR_WARN, "kernel", "nf_conntrack_max",
        "the firewall tracks up to %lld connections, %lld now; the server may need %lld",
        (long long)most, (long long)have, (long long)ours);
    ADVISE(p, "sysctl -w net.netfilter.nf_conntrack_max=%lld", (long long)(ours + have) * 2);
}

static void check_overflows(struct doctor_plan *p)
{
    int64_t n = machine_counter(p->text, "TcpExt:", "ListenOverflows");

    if (n <= 0)
        return;
    ADD(p, DOCTOR_WARN, "kernel", "accept queues", "%lld connections were dropped since boot: "
                                                   "queue full", (long long)n);
    ADVISE(p, "sysctl -w net.core.somaxconn=32768, then restart" ALL_OF_THEM);
}

static void check_lost(struct doctor_plan *p)
{
    int64_t n = p->udp ? machine_counter(p->text, "Udp:", "RcvbufErrors") : 0;

    if (n <= 0)
        return;
    ADD(p, DOCTOR_WARN, "kernel", "datagrams", "%lld were lost since boot: a socket buffer "
                                               "was full", (long long)n);
    ADVISE(p, "sysctl -w net.core.rmem_max=33554432; scripts/perf-udp-loss.sh shows the process");
}

/* ---- all checks */

void doctor_check_machine(struct doctor_plan *p)
{
    static const struct {
        const char *file; /* the check is skipped if it cannot be read; NULL: none */
        void (*check)(struct doctor_plan *p);
    } rows[] = {
        { NULL, check_files },
        { "/proc/sys/fs/file-max", check_files_of_all },
        { "/proc/sys/vm/max_map_count", check_mappings },
        { "/proc/meminfo", check_memory },
        { "/proc/sys/kernel/core_pattern", check_core_dumps },
        { NULL, check_clock },
        { "/sys/devices/system/clocksource/clocksource0/current_clocksource", check_clock_source },
        { NULL, check_sizes },
        { "/proc/sys/net/ipv4/tcp_mem", check_tcp_memory },
        { "/proc/sys/net/netfilter/nf_conntrack_max", check_tracked },
        { "/proc/net/netstat", check_overflows },
        { "/proc/net/snmp", check_lost },
        { NULL, check_cards },
        { "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", check_governor },
        { NULL, check_quota },
        { NULL, check_cores },
        { "/proc/stat", check_steal },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!rows[i].file || doctor_file(p, rows[i].file))
            rows[i].check(p);
    }
}
