/* SPDX-License-Identifier: MIT */
/* datagrams.c - ports of UDP, and whether the kernel cuts datagrams for us. */
#include "app/doctor/plan.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SEGMENT = 1400 };

/* Why it cannot be had; 0: it can, or this server has it. */
static int lacks(struct doctor_plan *p, const char *host, int port, int *owner)
{
    int failed = doctor_try_port(host, port, SOCK_DGRAM);

    *owner = failed == EADDRINUSE ? doctor_port_owner(p, port, true) : 0;
    if (*owner > 0 && (*owner == doctor_running(p) || (p->serving && *owner == getpid())))
        return 0;
    return failed;
}

static void cannot(struct doctor_plan *p, const struct doctor_datagrams *d, int port, int why,
                   int owner)
{
    char subject[32], name[40];

    (void)snprintf(subject, sizeof(subject), "%d/udp", port);
    if (owner > 0)
        doctor_add(&p->report, DOCTOR_FAIL, "port", subject, "%s: %s has it, pid %d", d->service,
                   doctor_program_name(p, owner, name, sizeof(name)), owner);
    else
        doctor_add(&p->report, DOCTOR_FAIL, "port", subject, "%s: %s", d->service,
                   why == EADDRINUSE ? "another process has it" : strerror(why));
    doctor_advise(&p->report, "%s; who: ss -lunp 'sport = :%d'", d->remedy, port);
}

static void look_ports(struct doctor_plan *p, const struct doctor_datagrams *d)
{
    char subject[32];

    for (unsigned i = 0; i < d->n; i++) {
        int port = d->port + (int)i, owner = 0;
        int why = port > UINT16_MAX ? EINVAL : lacks(p, d->host, port, &owner);

        if (why) {
            cannot(p, d, port, why, why == EADDRINUSE ? owner : 0);
            return;
        }
    }
    if (d->n > 1)
        (void)snprintf(subject, sizeof(subject), "%d-%u/udp", d->port,
                       (unsigned)d->port + d->n - 1);
    else
        (void)snprintf(subject, sizeof(subject), "%d/udp", d->port);
    doctor_add(&p->report, DOCTOR_OK, "port", subject, "%s: free, or ours", d->service);
}

/* Generic segmentation offload: man 7 udp, UDP_SEGMENT. */
static void look_cuts(struct doctor_plan *p)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), each = SEGMENT;
    bool cuts = fd >= 0 && setsockopt(fd, SOL_UDP, UDP_SEGMENT, &each, sizeof(each)) == 0;

    if (fd >= 0)
        (void)close(fd);
    doctor_add(&p->report, cuts ? DOCTOR_OK : DOCTOR_WARN, "kernel", "UDP GSO", "%s",
               cuts ? "rows of datagrams are cut by the kernel"
                    : "the kernel cuts no datagrams: each costs it as much as a row of them");
    if (!cuts)
        doctor_advise(&p->report, "run Linux 4.18 or newer; a container may forbid it");
}

void doctor_look_datagrams(struct doctor_plan *p)
{
    for (size_t i = 0; i < p->datagrams_n; i++)
        look_ports(p, &p->datagrams[i]);
    if (p->udp)
        look_cuts(p);
}
