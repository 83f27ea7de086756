/* SPDX-License-Identifier: MIT */
/* machine.h - resource usage of the process and the machine: CPU, memory, network, disks.
 *
 * Sampled from /proc every few seconds; these reads come from kernel memory and do not block.
 * Totals are the kernel's, rates cover the time between the last two samples.
 */
#ifndef APP_OS_MACHINE_H
#define APP_OS_MACHINE_H

#include "co/co.h"
#include "conf/settings.h"

#include <stdint.h>

/* Jiffies since boot, summed over all processors. */
struct machine_cpu {
    uint64_t user, nice, sys, idle, iowait, irq, softirq, steal, guest;
};

struct machine_net { /* all interfaces except lo */
    uint64_t recv, send;   /* bytes on interfaces with a public address or none */
    uint64_t recvi, sendi; /* bytes on interfaces with private addresses only */
};

struct machine_disk { /* the devices in stats.disk */
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
    /* this process */
    co_usec cpu_used;
    double cpu;             /* 0..1; 1 is one core */
    uint64_t rss_kbyte;
    /* the machine */
    struct machine_cpu cpu_ticks;
    double system_cpu, system_cpu_steal; /* 0..1; 1 is all cores */
    struct machine_memory memory;
    struct machine_net net;
    struct machine_disk disk;
    double disk_read_kbps, disk_write_kbps, disk_busy; /* KB/s; 0..1 */
    double load[3], uptime, idle;
    unsigned sockets, tcp_established, tcp_waiting, udp;
    char text[32 * 1024]; /* buffer for the file being read */
};

void machine_init(struct machine *m);
/* Takes a sample by the configuration's `stats`. */
void machine_sample(struct machine *m, const struct conf_stats *stats);

uint64_t machine_rss_kbyte(void); /* resident memory of this process */
/* Reads a small file, cut to size - 1 bytes; returns the length, 0 on failure. */
size_t machine_file(const char *path, char *buf, size_t size);
/* Returns the value for a name in a pair of lines such as "Group: name name" and "Group: 1 2" of
 * /proc/net/snmp; -1 if there is none. */
int64_t machine_counter(const char *text, const char *group, const char *name);
/* Returns the address of the interface with that index among those that are up, without lo; "" if
 * there is none. Writes to buf. */
const char *machine_address(int index, char *buf, size_t size);

#endif
