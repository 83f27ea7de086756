/* SPDX-License-Identifier: MIT */
/* cores.c - counts the available cores and pins workers to them. */
#include "app/os/cores.h"

#include "app/os/cgroup.h"
#include "base/log.h"
#include "co/thread.h"
#include "config.h"
#include "session/workers.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

_Static_assert((int)CONF_WORKERS_MAX == (int)WORKERS_MAX, "one for each that may be written");

int cores_count(const char *root)
{
    double most = cgroup_cores(root);
    long n = CPU_COUNT(co_pin_allowed());

    if (n == 0)
        n = sysconf(_SC_NPROCESSORS_ONLN);
    if (most > 0 && most < (double)n)
        n = (long)most; /* rounds down: a worker with a fraction of a core stalls when it is used */
    return n < 1 ? 1 : (int)n;
}

int cores_workers(const struct conf *c)
{
    int n;

    if (BUILD_GPROF) /* gprof samples one thread only */
        return 1;
    n = c->workers == CONF_AUTO ? cores_count("") : c->workers;
    return n > CONF_WORKERS_MAX ? CONF_WORKERS_MAX : n;
}

/* Parses a mask with one digit per core; the last digit is core 0. */
static void mask_of(const char *text, cpu_set_t *out)
{
    size_t n = strlen(text);

    CPU_ZERO(out);
    for (size_t i = 0; i < n; i++) {
        if (text[n - 1 - i] == '1')
            CPU_SET(i, out);
    }
}

/* Picks core i of the set, modulo its size. */
static void pick(const cpu_set_t *from, unsigned i, cpu_set_t *out)
{
    unsigned nth = i % (unsigned)CPU_COUNT(from);

    CPU_ZERO(out);
    for (size_t k = 0; k < CPU_SETSIZE; k++) {
        if (CPU_ISSET(k, from) && nth-- == 0) {
            CPU_SET(k, out);
            return;
        }
    }
}

bool cores_of_worker(const struct conf *c, unsigned i, cpu_set_t *out)
{
    const struct conf_list *l = &c->worker_cpu_affinity;
    cpu_set_t from, mask;

    if (l->n == 0)
        return false;
    from = *co_pin_allowed();
    if (strcmp(l->v[0], "auto") != 0) {
        mask_of(l->v[i < l->n ? i : l->n - 1], out);
        return true;
    }
    if (l->n > 1) {
        mask_of(l->v[1], &mask);
        CPU_AND(&from, &from, &mask);
    }
    if (CPU_COUNT(&from) == 0)
        return false;
    pick(&from, i, out);
    return true;
}

void cores_pin(const struct conf *c, unsigned worker)
{
    cpu_set_t set;

    if (cores_of_worker(c, worker, &set) && !co_pin(&set))
        log_warn("worker_cpu_affinity: worker %u runs on any core: %s", worker, strerror(errno));
}
