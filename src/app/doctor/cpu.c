/* SPDX-License-Identifier: MIT */
/* cpu.c - does a processor run as fast as it can, and are we let? */
#include "app/doctor/plan.h"
#include "app/os/cgroup.h"

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

static void allowed(struct doctor_plan *p)
{
    double cores = cgroup_cores(p->root);

    if (cores <= 0 || cores >= 1.5)
        return;
    doctor_add(&p->report, DOCTOR_WARN, "cpu", "quota", "%.2f of a core: when it is used up, all "
               "players stand still for up to 100 ms", cores);
    doctor_advise(&p->report, "a limit of 2 cores or more, or none: docker run --cpus=2, CPUQuota= "
                  "of the unit");
}

static void pinned(struct doctor_plan *p)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;
    int mine;

    if (sched_getaffinity(0, sizeof(set), &set) < 0)
        return;
    mine = CPU_COUNT(&set);
    doctor_add(&p->report, DOCTOR_OK, "cpu", "cores", "%d of %ld may be used, one is needed", mine,
               online);
    if (online > 2 && mine == online)
        doctor_advise(&p->report, "for the least latency keep one for the server: "
                      "scripts/perf-pin.sh, and scripts/perf-set-irq-affinity.sh");
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
    allowed(p);
    pinned(p);
    stolen(p);
}
