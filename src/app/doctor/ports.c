/* SPDX-License-Identifier: MIT */
/* ports.c - are the ports of the configuration free, or listened on by the server? */
#include "app/doctor/plan.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* 0, or errno. */
static int try_bind(int family, int type, const char *host, int port)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
    const struct sockaddr *addr = family == AF_INET ? (const void *)&v4 : (const void *)&v6;
    socklen_t size = family == AF_INET ? sizeof(v4) : sizeof(v6);
    int on = 1, off = 0, failed = 0, fd;

    if (*host && inet_pton(family, host, family == AF_INET ? (void *)&v4.sin_addr
                                                           : (void *)&v6.sin6_addr) != 1)
        return EINVAL;
    fd = socket(family, type | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    if (type == SOCK_STREAM) /* of datagrams it would let two in */
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, addr, size) < 0 || (type == SOCK_STREAM && listen(fd, 1) < 0))
        failed = errno;
    (void)close(fd);
    return failed;
}

int doctor_try_port(const char *host, int port, int type)
{
    int failed;

    if (*host)
        return try_bind(strchr(host, ':') ? AF_INET6 : AF_INET, type, host, port);
    failed = try_bind(AF_INET6, type, "", port);
    if (failed == EAFNOSUPPORT || failed == EADDRNOTAVAIL) /* a machine without IPv6 */
        failed = try_bind(AF_INET, type, "", port);
    return failed;
}

const char *doctor_program_name(struct doctor_plan *p, int pid, char *buf, size_t size)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
    if (!doctor_file(p, path))
        p->text[0] = '\0';
    p->text[strcspn(p->text, "\n")] = '\0';
    (void)snprintf(buf, size, "%.32s", *p->text ? p->text : "a process");
    return buf;
}

int doctor_running(const struct doctor_plan *p)
{
    char text[16] = "";
    FILE *f = fopen(p->pid_file, "re");

    if (f && !fgets(text, sizeof(text), f))
        text[0] = '\0';
    if (f)
        (void)fclose(f);
    return (int)strtol(text, NULL, 10);
}

static void taken(struct doctor_plan *p, const struct doctor_port *port, const char *subject)
{
    int owner = doctor_port_owner(p, port->port, false);
    char name[40];

    if (owner > 0 && owner == doctor_running(p)) {
        doctor_add(&p->report, DOCTOR_OK, "port", subject, "%s: the server that runs listens, "
                   "pid %d", port->names, owner);
        return;
    }
    if (owner > 0)
        doctor_add(&p->report, DOCTOR_FAIL, "port", subject, "%s: %s has it, pid %d", port->names,
                   doctor_program_name(p, owner, name,
                                                               sizeof(name)), owner);
    else
        doctor_add(&p->report, DOCTOR_FAIL, "port", subject, "%s: another process has it",
                   port->names);
    doctor_advise(&p->report, "write another port, or end that one; who: ss -ltnp 'sport = :%d'",
                  port->port);
}

static void cannot(struct doctor_plan *p, const struct doctor_port *port, const char *subject,
                   int why)
{
    doctor_add(&p->report, DOCTOR_FAIL, "port", subject, "%s: %s", port->names, strerror(why));
    if (why == EACCES)
        doctor_advise(&p->report, "setcap cap_net_bind_service=+ep objs/srs, in a unit of systemd "
                      "AmbientCapabilities=CAP_NET_BIND_SERVICE; or a port from 1024 on");
    else if (why == EADDRNOTAVAIL)
        doctor_advise(&p->report, "no interface has that address (ip addr): listen %d; takes all",
                      port->port);
    else
        doctor_advise(&p->report, "write an address and a port: listen 127.0.0.1:%d;", port->port);
}

static void look(struct doctor_plan *p, const struct doctor_port *port)
{
    bool v6 = strchr(port->host, ':') != NULL;
    char subject[128];
    int failed;

    (void)snprintf(subject, sizeof(subject), "%s%s%s%s%d", v6 ? "[" : "", port->host,
                   v6 ? "]" : "", *port->host ? ":" : "", port->port);
    if (port->clash) {
        doctor_add(&p->report, DOCTOR_FAIL, "port", subject, "%s: they cannot share one port",
                   port->names);
        doctor_advise(&p->report, "give each its own; only http_server and http_api share");
        return;
    }
    if (p->serving) {
        bool ours = doctor_port_owner(p, port->port, false) == getpid();

        doctor_add(&p->report, ours ? DOCTOR_OK : DOCTOR_FAIL, "port", subject, "%s: %s",
                   port->names, ours ? "listening" : "not listening");
        if (!ours)
            doctor_advise(&p->report, "the log tells why; then reload");
        return;
    }
    failed = doctor_try_port(port->host, port->port, SOCK_STREAM);
    if (!failed)
        doctor_add(&p->report, DOCTOR_OK, "port", subject, "%s: free", port->names);
    else if (failed == EADDRINUSE)
        taken(p, port, subject);
    else
        cannot(p, port, subject, failed);
}

void doctor_look_ports(struct doctor_plan *p)
{
    for (size_t i = 0; i < p->port_n; i++)
        look(p, &p->port[i]);
}
