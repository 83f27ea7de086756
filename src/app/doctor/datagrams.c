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

enum { PAIR = 2, SEGMENT = 1400 };

/* Why it cannot be had; 0: it can, or this server has it. */
static int lacks(struct doctor_plan *p, int port, int *owner)
{
    int failed = doctor_try_port("", port, SOCK_DGRAM);

    *owner = failed == EADDRINUSE ? doctor_port_owner(p, port, true) : 0;
    if (*owner > 0 && (*owner == doctor_running(p) || (p->serving && *owner == getpid())))
        return 0;
    return failed;
}

static void cannot(struct doctor_plan *p, int port, int why, int owner)
{
    char subject[32], name[40];

    (void)snprintf(subject, sizeof(subject), "%d/udp", port);
    if (owner > 0)
        doctor_add(&p->report, DOCTOR_FAIL, "port", subject, "rtsp: %s has it, pid %d",
                   doctor_program_name(p, owner, name, sizeof(name)), owner);
    else
        doctor_add(&p->report, DOCTOR_FAIL, "port", subject, "rtsp: %s",
                   why == EADDRINUSE ? "another process has it" : strerror(why));
    doctor_advise(&p->report, "write another udp_port, or transports tcp; who: ss -lunp "
                  "'sport = :%d'", port);
}

static void look_ports(struct doctor_plan *p)
{
    unsigned n = PAIR * (p->workers ? p->workers : 1);
    char subject[32];

    for (unsigned i = 0; i < n; i++) {
        int port = p->udp_port + (int)i, owner;
        int why = port > UINT16_MAX ? EINVAL : lacks(p, port, &owner);

        if (why) {
            cannot(p, port, why, why == EADDRINUSE ? owner : 0);
            return;
        }
    }
    (void)snprintf(subject, sizeof(subject), "%d-%u/udp", p->udp_port,
                   (unsigned)p->udp_port + n - 1);
    doctor_add(&p->report, DOCTOR_OK, "port", subject, "rtsp: free, or ours");
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
    if (p->udp_port)
        look_ports(p);
    if (p->udp)
        look_cuts(p);
}
