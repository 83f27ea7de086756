/* SPDX-License-Identifier: MIT */
/* cards.c - network cards, against the number of workers: each queue interrupts one core. */
#include "app/doctor/plan.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { CARDS_MOST = 8 };

struct card {
    unsigned queues;
    bool spread; /* by software, over cores of a mask (RPS) */
};

static DIR *open_below(const struct doctor_plan *p, const char *name, const char *folder)
{
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/sys/class/net/%.60s/%s", p->root, name, folder);
    return opendir(path);
}

/* "00000000,0000000f" */
static bool spreads(struct doctor_plan *p, const char *name, const char *queue)
{
    char path[400];

    (void)snprintf(path, sizeof(path), "/sys/class/net/%.60s/queues/%.60s/rps_cpus", name, queue);
    return doctor_file(p, path) && strpbrk(p->text, "123456789abcdef");
}

/* False: it is none, as loopback, bridges and what containers see are. */
static bool look_at(struct doctor_plan *p, const char *name, struct card *card)
{
    DIR *device = open_below(p, name, "device");
    DIR *queues = device ? open_below(p, name, "queues") : NULL;
    const struct dirent *e;

    if (device)
        (void)closedir(device);
    if (!queues)
        return false;
    *card = (struct card){ 0 };
    while ((e = readdir(queues))) {
        if (strncmp(e->d_name, "rx-", 3) != 0)
            continue;
        card->queues++;
        card->spread |= spreads(p, name, e->d_name);
    }
    (void)closedir(queues);
    return card->queues > 0;
}

static void tell(struct doctor_plan *p, const char *name, const struct card *card)
{
    bool enough = card->spread || card->queues * 2 >= p->workers;
    const char *many = card->queues == 1 ? "" : "s";

    if (card->spread) {
        doctor_add(&p->report, DOCTOR_OK, "network card", name, "%u queue%s for %u workers, and "
                   "RPS spreads them", card->queues, many, p->workers);
        return;
    }
    doctor_add(&p->report, enough ? DOCTOR_OK : DOCTOR_WARN, "network card", name,
               "%u queue%s for %u workers%s", card->queues, many, p->workers,
               enough ? "" : ": so few cores take in what comes for all");
    if (!enough)
        doctor_advise(&p->report, "ethtool -L %s combined %u; if it cannot: "
                      "scripts/perf-set-irq-affinity.sh --rps %s CPUS", name, p->workers, name);
}

/* With one worker nothing is told. */
void doctor_look_cards(struct doctor_plan *p)
{
    DIR *all = p->workers > 1 ? open_below(p, "", "") : NULL;
    const struct dirent *e;
    struct card card;
    unsigned told = 0;

    while (all && told < CARDS_MOST && (e = readdir(all))) {
        if (e->d_name[0] == '.' || !look_at(p, e->d_name, &card))
            continue;
        tell(p, e->d_name, &card);
        told++;
    }
    if (all)
        (void)closedir(all);
}
