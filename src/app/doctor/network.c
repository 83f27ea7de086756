/* SPDX-License-Identifier: MIT */
/* network.c - queues and buffers of the kernel, against max_connections; what it dropped. */
#include "app/doctor/plan.h"

#include "app/os/machine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char all_of_them[] = "; all of them: etc/sysctl.d/60-srs.conf";

/* What should be at least so much. `needed` false: it is told, but is no reason to warn. */
static const struct limit {
    const char *name, *file;
    int64_t least, advised;
    const char *why;
    bool udp; /* only datagrams need it */
} limits[] = {
    { "net.core.somaxconn", "/proc/sys/net/core/somaxconn", 4096, 32768,
      "connections that come at once wait there, the others are dropped", false },
    { "net.ipv4.tcp_max_syn_backlog", "/proc/sys/net/ipv4/tcp_max_syn_backlog", 1024, 32768,
      "half-open connections wait there", false },
    { "net.core.rmem_max", "/proc/sys/net/core/rmem_max", 8 << 20, 33554432,
      "one socket takes the datagrams of all sessions", true },
    { "net.core.wmem_max", "/proc/sys/net/core/wmem_max", 8 << 20, 33554432,
      "one socket sends the datagrams of all sessions", true },
};

static void queues(struct doctor_plan *p)
{
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        const struct limit *l = &limits[i];
        int64_t v = doctor_number(p, l->file, -1);
        bool enough = v >= l->least || (l->udp && !p->udp);

        if (v < 0)
            continue; /* a container does not show all of them */
        doctor_add(&p->report, enough ? DOCTOR_OK : DOCTOR_WARN, "kernel", l->name, "%lld%s%s",
                   (long long)v, v < l->least ? ": " : "",
                   v >= l->least ? "" : enough ? "fine for TCP, little for datagrams"
                                               : l->why);
        if (v < l->least)
            doctor_advise(&p->report, "sysctl -w %s=%lld%s", l->name, (long long)l->advised,
                          all_of_them);
    }
}

/* "min default max" */
static int64_t third(const char *text)
{
    char *end;

    (void)strtoll(text, &end, 10);
    (void)strtoll(end, &end, 10);
    return strtoll(end, NULL, 10);
}

/* What TCP may take of the memory against a slow network for every player. */
static void tcp_memory(struct doctor_plan *p)
{
    int64_t need = (int64_t)p->connections * 64 * 1024, most;
    char need_text[16], most_text[16];

    if (!doctor_file(p, "/proc/sys/net/ipv4/tcp_mem"))
        return;
    most = third(p->text) * sysconf(_SC_PAGESIZE);
    doctor_add(&p->report, need <= most ? DOCTOR_OK : DOCTOR_WARN, "kernel", "net.ipv4.tcp_mem",
               "%s for all of TCP; %ld slow players want %s", doctor_bytes(most, most_text),
               p->connections, doctor_bytes(need, need_text));
    if (need > most)
        doctor_advise(&p->report, "sysctl -w net.ipv4.tcp_mem=\"%lld %lld %lld\"",
                      (long long)(need / 4096), (long long)(need / 3072), (long long)(need / 2048));
}

static void tracked(struct doctor_plan *p)
{
    int64_t most = doctor_number(p, "/proc/sys/net/netfilter/nf_conntrack_max", -1);
    int64_t have = doctor_number(p, "/proc/sys/net/netfilter/nf_conntrack_count", 0);
    int64_t ours = (int64_t)p->connections + p->sessions; /* over UDP it follows all the same */
    bool enough = most > ours + have;

    if (most < 0)
        return; /* nobody tracks */
    doctor_add(&p->report, enough ? DOCTOR_OK : DOCTOR_WARN, "kernel", "nf_conntrack_max",
               "the firewall follows up to %lld connections, %lld now; we may have %lld",
               (long long)most, (long long)have, (long long)ours);
    if (!enough)
        doctor_advise(&p->report, "sysctl -w net.netfilter.nf_conntrack_max=%lld",
                      (long long)(ours + have) * 2);
}

static void dropped(struct doctor_plan *p)
{
    int64_t n = -1;

    if (doctor_file(p, "/proc/net/netstat"))
        n = machine_counter(p->text, "TcpExt:", "ListenOverflows");
    if (n > 0) {
        doctor_add(&p->report, DOCTOR_WARN, "kernel", "accept queues", "%lld connections did not "
                   "fit since the machine began", (long long)n);
        doctor_advise(&p->report, "sysctl -w net.core.somaxconn=32768, then restart%s",
                      all_of_them);
    }
    n = -1;
    if (p->udp && doctor_file(p, "/proc/net/snmp"))
        n = machine_counter(p->text, "Udp:", "RcvbufErrors");
    if (n > 0) {
        doctor_add(&p->report, DOCTOR_WARN, "kernel", "datagrams", "%lld were lost since the "
                   "machine began: a socket's buffer was full", (long long)n);
        doctor_advise(&p->report, "sysctl -w net.core.rmem_max=33554432; who: "
                      "scripts/perf-udp-loss.sh");
    }
}

void doctor_look_network(struct doctor_plan *p)
{
    queues(p);
    tcp_memory(p);
    tracked(p);
    dropped(p);
}
