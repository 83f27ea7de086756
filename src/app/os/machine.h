/* SPDX-License-Identifier: MIT */
/* machine.h - what the process and the machine use: processor, memory, network, disks.
 *
 * Taken from /proc every few seconds; the files there are the kernel's memory and hold up nobody.
 * Totals are as the kernel counts them, rates are over the span between the last two samples.
 */
#ifndef APP_OS_MACHINE_H
#define APP_OS_MACHINE_H

#include "co/co.h"
#include "conf/settings.h"

#include <stdint.h>

/* Jiffies since the machine began, of all processors together. */
struct machine_cpu {
    uint64_t user, nice, sys, idle, iowait, irq, softirq, steal, guest;
};

struct machine_net { /* of all interfaces but lo */
    uint64_t recv, send;   /* bytes: by interfaces with a public address, or with none */
    uint64_t recvi, sendi; /* by those with private ones alone */
};

struct machine_disk { /* of the devices of stats.disk */
    uint64_t read, write; /* bytes */
    uint64_t busy_ms;
};

struct machine_memory { /* kB */
    uint64_t total, free, available, buffers, cached, active, swap_total, swap_free;
};

struct machine {
    bool on;                /* stats.enabled */
    co_usec sampled_at;     /* 0: not yet */
    int64_t sampled_wall;   /* ms since 1970 */
    co_usec began_at;
    /* of this process */
    co_usec cpu_used;
    double cpu;             /* 0..1 of one core */
    uint64_t rss_kbyte;
    /* of the machine */
    struct machine_cpu cpu_ticks;
    double system_cpu, system_cpu_steal; /* 0..1 of all */
    struct machine_memory memory;
    struct machine_net net;
    struct machine_disk disk;
    double disk_read_kbps, disk_write_kbps, disk_busy; /* KB/s; 0..1 */
    double load[3], uptime, idle;
    unsigned sockets, tcp_established, tcp_waiting, udp;
    char text[32 * 1024]; /* the file that is being read */
};

void machine_init(struct machine *m);
/* Take a sample, as the configuration's `stats` says. */
void machine_sample(struct machine *m, const struct conf_stats *stats);

uint64_t machine_rss_kbyte(void); /* memory of this process */
/* Read a small file, cut to size - 1; gives the length, 0 when it cannot be read. */
size_t machine_file(const char *path, char *buf, size_t size);
/* Of two lines "Group: name name" and "Group: 1 2", as /proc/net/snmp has them, the value below a
 * name; -1 without. */
int64_t machine_counter(const char *text, const char *group, const char *name);
/* The address of the interface with that index among those that are up and are not lo; "" when
 * there is none. Writes to buf. */
const char *machine_address(int index, char *buf, size_t size);

#endif
