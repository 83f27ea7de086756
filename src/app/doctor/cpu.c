/* SPDX-License-Identifier: MIT */
/* cpu.c - does a processor run as fast as it can, and are we let? */
#include "app/doctor/plan.h"
#include "app/os/cgroup.h"
#include "co/pin.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void governor(struct doctor_plan *p)
{
    if (!doctor_file(p, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
        return; /* a virtual machine has none */
    p->text[strcspn(p->text, "\n")] = '\0';
    p->text[40] = '\0';
    if (strcmp(p->text, "performance") == 0) {
        doctor_add(&p->report, DOCTOR_OK, "cpu", "governor", "performance");
        return;
    }
    doctor_add(&p->report, DOCTOR_WARN, "cpu", "governor", "%s: cores slow down between two sends",
               p->text);
    doctor_advise(&p->report, "cpupower frequency-set -g performance");
}

/* A group's quota counts the time of all threads. */
static void quota(struct doctor_plan *p)
{
    double most = cgroup_cores(p->root);
    bool one = p->workers <= 1;

    if (most <= 0 || (one ? most >= 1.5 : most >= p->workers))
        return;
    if (one)
        doctor_add(&p->report, DOCTOR_WARN, "cpu", "quota", "%.2f of a core: when it is used up, "
                   "all players stand still for up to 100 ms", most);
    else
        doctor_add(&p->report, DOCTOR_WARN, "cpu", "quota", "%.2f cores for %u workers: when they "
                   "are used up, all players stand still for up to 100 ms", most, p->workers);
    doctor_advise(&p->report, "a limit of %u cores or more, or none: docker run --cpus=%u, "
                  "CPUQuota= of the unit", one ? 2 : p->workers, one ? 2 : p->workers);
}

static void cores(struct doctor_plan *p)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int mine = CPU_COUNT(co_pin_allowed());
    bool one = p->workers <= 1, enough = one || p->workers <= (unsigned)mine;

    if (mine == 0)
        return;
    if (one)
        doctor_add(&p->report, DOCTOR_OK, "cpu", "cores", "%d of %ld may be used, one is needed",
                   mine, online);
    else
        doctor_add(&p->report, enough ? DOCTOR_OK : DOCTOR_WARN, "cpu", "cores",
                   "%d of %ld may be used, for %u workers", mine, online, p->workers);
    if (!enough)
        doctor_advise(&p->report, "workers auto; or workers %d;", mine);
    else if (one && online > 2 && mine == online)
        doctor_advise(&p->report, "for the least latency keep one for the server: "
                      "scripts/perf-pin.sh, and scripts/perf-set-irq-affinity.sh");
}

static void affinity(struct doctor_plan *p)
{
    if (p->strays == 0)
        return;
    doctor_add(&p->report, DOCTOR_WARN, "cpu", "affinity", "%u of %u workers have masks without "
               "a core that we may use: those run on any", p->strays, p->workers);
    doctor_advise(&p->report, "worker_cpu_affinity auto;");
}

/* Jiffies of "cpu  user nice system idle iowait irq softirq steal": what the host took. */
static void stolen(struct doctor_plan *p)
{
    double all = 0, steal = 0;
    char *at;

    if (!doctor_file(p, "/proc/stat") || strncmp(p->text, "cpu ", 4) != 0)
        return;
    at = p->text + 4;
    for (int i = 0; i < 8; i++) {
        steal = (double)strtoull(at, &at, 10);
        all += steal;
    }
    if (all <= 0 || steal / all < 0.05)
        return;
    doctor_add(&p->report, DOCTOR_WARN, "cpu", "steal", "the host of this virtual machine took "
               "%.0f %% of its time since it began", 100 * steal / all);
    doctor_advise(&p->report, "a machine with cores of its own");
}

void doctor_look_cpu(struct doctor_plan *p)
{
    governor(p);
    quota(p);
    cores(p);
    affinity(p);
    stolen(p);
}
