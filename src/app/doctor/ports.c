/* SPDX-License-Identifier: MIT */
/* ports.c - checks whether the configured ports are free or used by this server. */
#include "app/doctor/plan.h"

#include <arpa/inet.h>
#include <errno.h>
#include <glob.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKETS_MAX = 8, TCP_LISTENS = 0x0a, SEGMENT = 1400 };

/* ---- binding */

/* Returns 0 or errno. */
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
    if (type == SOCK_STREAM) /* for datagrams it would allow two sockets on one port */
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

    if (port > UINT16_MAX)
        return EINVAL;
    if (*host)
        return try_bind(strchr(host, ':') ? AF_INET6 : AF_INET, type, host, port);
    failed = try_bind(AF_INET6, type, "", port);
    if (failed == EAFNOSUPPORT || failed == EADDRNOTAVAIL) /* the machine has no IPv6 */
        failed = try_bind(AF_INET, type, "", port);
    return failed;
}

/* ---- the process that uses a port */

/* "  0: 0100007F:078F 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 INODE ..." */
static const char *word(const char *line, int i)
{
    line += strspn(line, " ");
    for (; i > 0; i--) {
        line += strcspn(line, " ");
        line += strspn(line, " ");
    }
    return line;
}

/* Finds the inodes of the sockets on a port; for TCP only listening ones, which are first in the
 * table. */
static size_t find_sockets(const struct doctor_plan *p, int port, bool udp,
                           unsigned long out[SOCKETS_MAX])
{
    static const char *const tables[] = { "tcp", "tcp6", "udp", "udp6" };
    char path[300], line[512];
    size_t n = 0;

    for (int i = udp ? 2 : 0; i < (udp ? 4 : 2); i++) {
        FILE *f;

        (void)snprintf(path, sizeof(path), "%s/proc/net/%s", p->root, tables[i]);
        f = fopen(path, "re");
        while (f && n < SOCKETS_MAX && fgets(line, sizeof(line), f)) {
            const char *local = strchr(word(line, 1), ':');
            bool head = strchr(line, ':') == NULL;

            if (!head && !udp && strtoul(word(line, 3), NULL, 16) != TCP_LISTENS)
                break;
            if (!head && local && strtol(local + 1, NULL, 16) == port)
                out[n++] = strtoul(word(line, 9), NULL, 10);
        }
        if (f)
            (void)fclose(f);
    }
    return n;
}

/* Returns the pid of the process that has one of these sockets, or -1 if unknown. */
static int owner_of(const struct doctor_plan *p, const char *pids, const unsigned long *sockets,
                    size_t n)
{
    char path[300], link[64], wanted[64];
    glob_t found = { 0 };
    int owner = -1;

    (void)snprintf(path, sizeof(path), "%s/proc/%s/fd/*", p->root, pids);
    (void)glob(path, GLOB_NOSORT, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc && owner < 0; i++) {
        ssize_t size = readlink(found.gl_pathv[i], link, sizeof(link) - 1);

        link[size > 0 ? size : 0] = '\0';
        for (size_t k = 0; k < n; k++) {
            (void)snprintf(wanted, sizeof(wanted), "socket:[%lu]", sockets[k]);
            if (strcmp(link, wanted) == 0)
                owner = (int)strtol(found.gl_pathv[i] + strlen(p->root) + strlen("/proc/"), NULL,
                                    10);
        }
    }
    globfree(&found);
    return owner;
}

/* Returns the pid of the process that uses a port; 0: none, -1: unknown. */
static int port_owner(const struct doctor_plan *p, int port, bool udp)
{
    unsigned long sockets[SOCKETS_MAX];
    size_t n = find_sockets(p, port, udp, sockets);

    if (n == 0)
        return 0;
    return owner_of(p, "self", sockets, n) == 0 ? (int)getpid()
                                                : owner_of(p, "[0-9]*", sockets, n);
}

/* Returns the pid of the server that already runs with this configuration, or 0. */
static int running(const struct doctor_plan *p)
{
    char text[16] = "";
    FILE *f = fopen(p->pid_file, "re");

    if (f && !fgets(text, sizeof(text), f))
        text[0] = '\0';
    if (f)
        (void)fclose(f);
    return (int)strtol(text, NULL, 10);
}

/* ---- rows */

static void add_taken(struct doctor_plan *p, const struct doctor_port *port, const char *subject,
                      int owner)
{
    char path[64];

    if (owner <= 0) {
        ADD(p, DOCTOR_FAIL, "port", subject, "%s: used by another process", port->names);
        return;
    }
    (void)snprintf(path, sizeof(path), "/proc/%d/comm", owner);
    if (!doctor_file(p, path))
        (void)snprintf(p->text, sizeof(p->text), "a process");
    ADD(p, DOCTOR_FAIL, "port", subject, "%s: used by %.*s, pid %d", port->names,
        (int)strcspn(p->text, "\n"), p->text, owner);
}

static void add_failed(struct doctor_plan *p, const struct doctor_port *port, int number,
                       const char *subject, int why, int owner)
{
    const char *remedy = port->remedy ? port->remedy : "write another port, or end that one";

    if (why == EADDRINUSE)
        add_taken(p, port, subject, owner);
    else
        ADD(p, DOCTOR_FAIL, "port", subject, "%s: %s", port->names, strerror(why));
    if (port->remedy || why == EADDRINUSE)
        ADVISE(p, "%s; find the process: ss -l%cnp 'sport = :%d'", remedy, port->remedy ? 'u' : 't',
               number);
    else if (why == EACCES)
        ADVISE(p, "setcap cap_net_bind_service=+ep objs/srs, in a systemd unit "
                  "AmbientCapabilities=CAP_NET_BIND_SERVICE; or use a port above 1023");
    else if (why == EADDRNOTAVAIL)
        ADVISE(p, "no interface has that address (ip addr): listen %d; takes all", port->port);
    else
        ADVISE(p, "give an address and a port: listen 127.0.0.1:%d;", port->port);
}

/* Writes "1935", "[::1]:1935", "8000/udp", or "8560-8563/udp" for several ports. */
static void name_of(const struct doctor_port *port, char *buf, size_t size)
{
    bool v6 = strchr(port->host, ':') != NULL;

    if (port->remedy && port->n > 1)
        (void)snprintf(buf, size, "%d-%u/udp", port->port, (unsigned)port->port + port->n - 1);
    else if (port->remedy)
        (void)snprintf(buf, size, "%d/udp", port->port);
    else
        (void)snprintf(buf, size, "%s%s%s%s%d", v6 ? "[" : "", port->host, v6 ? "]" : "",
                       *port->host ? ":" : "", port->port);
}

/* Checks each port; reports the first one that is not available. */
static void check_free(struct doctor_plan *p, const struct doctor_port *port, char subject[128])
{
    bool udp = port->remedy != NULL;
    int owner = 0;

    for (int number = port->port; number < port->port + (int)port->n; number++) {
        int why = doctor_try_port(port->host, number, udp ? SOCK_DGRAM : SOCK_STREAM);

        owner = why == EADDRINUSE ? port_owner(p, number, udp) : 0;
        if (!why || (owner > 0 && owner == (p->serving ? (int)getpid() : running(p))))
            continue;
        if (udp)
            (void)snprintf(subject, 128, "%d/udp", number);
        add_failed(p, port, number, subject, why, owner);
        return;
    }
    if (udp)
        ADD(p, DOCTOR_OK, "port", subject, "%s: free, or used by this server", port->names);
    else if (owner)
        ADD(p, DOCTOR_OK, "port", subject, "%s: used by the running server, pid %d", port->names,
            owner);
    else
        ADD(p, DOCTOR_OK, "port", subject, "%s: free", port->names);
}

static void check(struct doctor_plan *p, const struct doctor_port *port)
{
    char subject[128];
    bool ours;

    name_of(port, subject, sizeof(subject));
    if (port->clash) {
        ADD(p, DOCTOR_FAIL, "port", subject, "%s: they cannot share one port", port->names);
        ADVISE(p, "use different ports; only http_server and http_api can share one");
    } else if (p->serving && !port->remedy) {
        ours = port_owner(p, port->port, false) == getpid();
        ADD(p, ours ? DOCTOR_OK : DOCTOR_FAIL, "port", subject, "%s: %s", port->names,
            ours ? "listening" : "not listening");
        ADVISE(p, "see the log for the reason, then reload");
    } else {
        check_free(p, port, subject);
    }
}

/* Generic segmentation offload: man 7 udp, UDP_SEGMENT. */
static void check_offload(struct doctor_plan *p)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), each = SEGMENT;
    bool cuts = fd >= 0 && setsockopt(fd, SOL_UDP, UDP_SEGMENT, &each, sizeof(each)) == 0;

    if (fd >= 0)
        (void)close(fd);
    ADD(p, cuts ? DOCTOR_OK : DOCTOR_WARN, "kernel", "UDP GSO", "%s",
        cuts ? "available: the kernel splits batches of datagrams"
             : "not available: every datagram costs as much as a batch");
    ADVISE(p, "run Linux 4.18 or newer; a container may forbid it");
}

void doctor_check_ports(struct doctor_plan *p)
{
    for (size_t i = 0; i < p->port_n; i++)
        check(p, &p->port[i]);
    if (p->udp)
        check_offload(p);
}
