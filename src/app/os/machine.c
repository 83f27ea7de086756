/* SPDX-License-Identifier: MIT */
/* machine.c - resource usage of the process and the machine. Formats: proc(5). */
#include "app/os/machine.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SECTOR = 512 };

size_t machine_file(const char *path, char *buf, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    ssize_t got;

    while (fd >= 0 && n < size - 1 && (got = read(fd, buf + n, size - 1 - n)) > 0)
        n += (size_t)got;
    if (fd >= 0)
        (void)close(fd);
    buf[n] = '\0';
    return n;
}

int64_t machine_counter(const char *text, const char *group, const char *name)
{
    const char *names = strstr(text, group), *values;
    size_t n = strlen(name);

    values = names ? strstr(names + 1, group) : NULL;
    while (names && values && *names != '\n') {
        size_t a = strcspn(names, " \n"), b = strcspn(values, " \n");

        if (a == n && strncmp(names, name, n) == 0)
            return strtoll(values, NULL, 10);
        names += a + (names[a] == ' ');
        values += b + (values[b] == ' ');
    }
    return -1;
}

void machine_init(struct machine *m)
{
    memset(m, 0, sizeof(*m));
    m->began_at = co_clock();
}

/* Returns the number after a word at the start of a line ("MemFree:"), or 0. */
static uint64_t number_of(const char *text, const char *word)
{
    size_t n = strlen(word);

    while (text) {
        if (strncmp(text, word, n) == 0)
            return strtoull(text + n, NULL, 10);
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return 0;
}

/* Reads up to `max` numbers separated by spaces. */
static size_t numbers(const char *text, uint64_t *out, size_t max)
{
    size_t n = 0;
    char *end;

    for (; n < max; text = end) {
        uint64_t v = strtoull(text, &end, 10);

        if (end == text)
            break;
        out[n++] = v;
    }
    return n;
}

/* ---- processor */

static uint64_t busy_of(const struct machine_cpu *c)
{
    return c->user + c->nice + c->sys + c->irq + c->softirq + c->steal;
}

static void sample_cpu(struct machine *m, co_usec span)
{
    struct machine_cpu old = m->cpu_ticks, *now = &m->cpu_ticks;
    co_usec used = m->cpu_used;
    struct rusage u;
    uint64_t v[9] = { 0 }, busy, all;

    (void)getrusage(RUSAGE_SELF, &u);
    m->cpu_used = CO_SECONDS(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + u.ru_utime.tv_usec +
                  u.ru_stime.tv_usec;
    if (span > 0)
        m->cpu = (double)(m->cpu_used - used) / (double)span;
    if (machine_file("/proc/stat", m->text, sizeof(m->text)) < 5)
        return;
    (void)numbers(m->text + 4, v, 9); /* after "cpu " */
    *now = (struct machine_cpu){ v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8] };
    busy = busy_of(now) - busy_of(&old);
    all = busy + now->idle - old.idle + now->iowait - old.iowait;
    m->system_cpu = all ? (double)busy / (double)all : 0;
    m->system_cpu_steal = all ? (double)(now->steal - old.steal) / (double)all : 0;
}

/* ---- memory, load, sockets */

uint64_t machine_rss_kbyte(void)
{
    char text[64], *second;

    (void)machine_file("/proc/self/statm", text, sizeof(text));
    second = strchr(text, ' ');
    return second ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) / 1024 : 0;
}

static void sample_memory(struct machine *m)
{
    char *text = m->text;

    (void)machine_file("/proc/meminfo", text, sizeof(m->text));
    m->memory = (struct machine_memory){
        number_of(text, "MemTotal:"), number_of(text, "MemFree:"),
        number_of(text, "MemAvailable:"), number_of(text, "Buffers:"),
        number_of(text, "Cached:"), number_of(text, "Active:"),
        number_of(text, "SwapTotal:"), number_of(text, "SwapFree:"),
    };
    m->rss_kbyte = machine_rss_kbyte();
}

static void sample_load(struct machine *m)
{
    char *text = m->text, *end;

    if (getloadavg(m->load, 3) < 3)
        m->load[0] = m->load[1] = m->load[2] = 0;
    (void)machine_file("/proc/uptime", text, sizeof(m->text));
    m->uptime = strtod(text, &end);
    m->idle = strtod(end, NULL);
}

static void sample_sockets(struct machine *m)
{
    char *text = m->text;
    const char *p;
    uint64_t v[16] = { 0 };

    (void)machine_file("/proc/net/sockstat", text, sizeof(m->text));
    m->sockets = (unsigned)number_of(text, "sockets: used ");
    m->udp = (unsigned)number_of(text, "UDP: inuse ");
    p = strstr(text, " tw ");
    m->tcp_waiting = p ? (unsigned)strtoul(p + 4, NULL, 10) : 0;
    (void)machine_file("/proc/net/snmp", text, sizeof(m->text));
    p = strstr(text, "\nTcp: ");
    p = p ? strstr(p + 1, "\nTcp: ") : NULL; /* the first such line has the names */
    if (p && numbers(p + 6, v, 3) == 3 && (p = strstr(p + 6, " -")))
        (void)numbers(p + 2 + strspn(p + 2, "0123456789"), v, 5); /* MaxConn is -1 */
    m->tcp_established = (unsigned)v[4];
}

/* ---- network */

static bool is_private(const struct sockaddr *a)
{
    const struct sockaddr_in *v4 = (const void *)a;
    uint32_t ip = ntohl(v4->sin_addr.s_addr);

    return ip >> 24 == 10 || ip >> 20 == 0xac1 || ip >> 16 == 0xc0a8 || ip >> 24 == 127;
}

/* Returns true if the interface has IPv4 addresses and all of them are private. */
static bool is_inside(const struct ifaddrs *list, const char *name, size_t size)
{
    bool any = false;

    for (; list; list = list->ifa_next) {
        if (!list->ifa_addr || list->ifa_addr->sa_family != AF_INET ||
            strncmp(list->ifa_name, name, size) != 0 || list->ifa_name[size])
            continue;
        if (!is_private(list->ifa_addr))
            return false;
        any = true;
    }
    return any;
}

static void sample_net(struct machine *m)
{
    struct ifaddrs *list = NULL;
    char *text = m->text;

    (void)machine_file("/proc/net/dev", text, sizeof(m->text));
    (void)getifaddrs(&list);
    m->net = (struct machine_net){ 0 };
    for (char *line = strchr(text, '\n'); line; line = strchr(line, '\n')) {
        const char *name = line + 1 + strspn(line + 1, " ");
        const char *colon = strpbrk(name, ":\n");
        uint64_t v[9];
        size_t size;

        line++;
        if (!colon || *colon != ':' || numbers(colon + 1, v, 9) < 9)
            continue;
        size = (size_t)(colon - name);
        if (size == 2 && strncmp(name, "lo", 2) == 0)
            continue;
        if (is_inside(list, name, size)) {
            m->net.recvi += v[0];
            m->net.sendi += v[8];
        } else {
            m->net.recv += v[0];
            m->net.send += v[8];
        }
    }
    freeifaddrs(list);
}

static bool is_usable(const struct ifaddrs *a)
{
    return a->ifa_addr && !(a->ifa_flags & IFF_LOOPBACK) && (a->ifa_flags & IFF_UP) &&
           (a->ifa_addr->sa_family == AF_INET || a->ifa_addr->sa_family == AF_INET6);
}

const char *machine_address(int index, char *buf, size_t size)
{
    static const int families[] = { AF_INET, AF_INET6 };
    struct ifaddrs *list = NULL;

    buf[0] = '\0';
    (void)getifaddrs(&list);
    for (int f = 0; f < 2; f++) {
        for (struct ifaddrs *a = list; a; a = a->ifa_next) {
            const void *ip;

            if (!is_usable(a) || a->ifa_addr->sa_family != families[f])
                continue;
            ip = f == 0 ? (const void *)&((const struct sockaddr_in *)(void *)a->ifa_addr)->sin_addr
                        : &((const struct sockaddr_in6 *)(void *)a->ifa_addr)->sin6_addr;
            (void)inet_ntop(families[f], ip, buf, (socklen_t)size);
            if (index-- == 0)
                goto out; /* otherwise it keeps the last one */
        }
    }
out:
    freeifaddrs(list);
    return buf;
}

/* ---- disks */

static bool has(const struct conf_list *list, const char *name, size_t size)
{
    for (size_t i = 0; i < list->n; i++) {
        if (strncmp(list->v[i], name, size) == 0 && !list->v[i][size])
            return true;
    }
    return false;
}

static void sample_disk(struct machine *m, const struct conf_list *wanted, co_usec span)
{
    struct machine_disk old = m->disk;
    double seconds = (double)span / 1e6;
    char *text = m->text;

    if (wanted->n == 0)
        return;
    m->disk = (struct machine_disk){ 0 };
    (void)machine_file("/proc/diskstats", text, sizeof(m->text));
    for (char *line = text; line && *line; line = strchr(line, '\n')) {
        uint64_t v[10];
        char *name;
        size_t size;

        line += *line == '\n';
        name = line + strspn(line, " 0123456789"); /* after the device's two numbers */
        size = strcspn(name, " \n");
        if (!has(wanted, name, size) || numbers(name + size, v, 10) < 10)
            continue;
        m->disk.read += v[2] * SECTOR;
        m->disk.write += v[6] * SECTOR;
        m->disk.busy_ms += v[9];
    }
    if (span <= 0)
        return;
    m->disk_read_kbps = (double)(m->disk.read - old.read) / 1024 / seconds;
    m->disk_write_kbps = (double)(m->disk.write - old.write) / 1024 / seconds;
    m->disk_busy = (double)(m->disk.busy_ms - old.busy_ms) / 1000 / seconds / (double)wanted->n;
}

void machine_sample(struct machine *m, const struct conf_stats *stats)
{
    co_usec now = co_clock();
    co_usec span = m->sampled_at ? now - m->sampled_at : 0;
    int64_t wall;

    m->on = stats->enabled;
    if (!m->on)
        return;
    wall = co_wall_ms();
    sample_cpu(m, span);
    sample_memory(m);
    sample_load(m);
    sample_sockets(m);
    sample_net(m);
    sample_disk(m, &stats->disk, span);
    m->sampled_at = now;
    m->sampled_wall = wall;
}
