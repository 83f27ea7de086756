/* SPDX-License-Identifier: MIT */
/* sb_udp.c - what datagrams cost through co/net/udp: packets a second, and processor time of each.
 *
 * One socket sends to many addresses of the loopback, each its packets once in a period, as media
 * goes to players; a second process on another core reads them all by one socket. So one run tells
 * of both sides. With "plain" the kernel neither cuts nor merges: a message for each packet.
 */
#include "co/net/udp.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_PEERS = 60000, MOST_BYTES = 60000, GROUPS = 8, BUFFER = 64 << 20 };

struct plan {
    int peers, packets, size, period_ms, seconds, other_cpu;
    bool plain;
};

/* What the reader tells when it ends. */
struct result {
    double cpu;
    struct udp_stat stat;
};

struct sender {
    struct plan plan;
    uint16_t port;
    uint8_t *bytes;
    struct iovec iov;
    struct udp_path *paths;
    int next, end; /* peers whose turn it is */
    int group;
    co_usec due;
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void must_be(err_t err)
{
    char text[512];

    if (!err)
        return;
    fprintf(stderr, "sb_udp: %s\n", err_text(err, text, sizeof(text)));
    exit(1);
}

static int number(const char *text, int least, int most)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (*end || end == text || n < least || n > most) {
        fprintf(stderr, "sb_udp: %s is not a number from %d to %d\n", text, least, most);
        exit(2);
    }
    return (int)n;
}

static double cpu_seconds(void)
{
    struct rusage u;

    (void)getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* ------------------------------------------------------------ both, as protocols */

static void reader_input(void *me, const struct udp_in *v, size_t n, co_usec now)
{
    (void)me;
    (void)v;
    (void)n;
    (void)now;
}

static co_usec sender_deadline(void *me)
{
    return ((struct sender *)me)->due;
}

static void sender_tick(void *me, co_usec now)
{
    struct sender *s = me;
    const struct plan *p = &s->plan;

    (void)now;
    s->next = (int)((long)p->peers * s->group / GROUPS);
    s->end = (int)((long)p->peers * (s->group + 1) / GROUPS);
    s->group = (s->group + 1) % GROUPS;
    s->due += CO_MS(p->period_ms) / GROUPS;
}

static size_t sender_output(void *me, struct udp_out *v, size_t most, co_usec now)
{
    struct sender *s = me;
    size_t n = 0;

    (void)now;
    for (; n < most && s->next < s->end; n++, s->next++)
        v[n] = (struct udp_out){ &s->iov, 1, (size_t)s->plan.size, &s->paths[s->next], 0 };
    return n;
}

static const struct udp_proto reader = { .input = reader_input };
static const struct udp_proto sender = { reader_input, sender_output, sender_deadline,
                                         sender_tick };

struct driven {
    struct udp *udp;
    const struct udp_proto *proto;
    void *me;
};

static err_t drive(void *arg)
{
    struct driven *d = arg;

    return udp_drive(d->udp, d->proto, d->me);
}

/* Drive it for so long; gives the processor time that took. */
static double drive_for(struct driven *d, co_usec time)
{
    struct co_group g;
    double cpu = cpu_seconds();
    err_t err;

    co_group_init(&g);
    must_be(co_go(&g, "datagrams", drive, d));
    must_be(co_sleep(time));
    cpu = cpu_seconds() - cpu;
    err = co_group_stop(&g);
    if (err_code(err) == ERR_STOPPED)
        err_free(&err);
    must_be(err);
    return cpu;
}

/* ------------------------------------------------------------ the processes */

static struct udp *open_one(const struct plan *p)
{
    struct udp_opts opts = { .most = MOST_BYTES, .rcvbuf = BUFFER, .sndbuf = BUFFER,
                             .plain = p->plain };
    struct udp *u;

    must_be(co_init());
    must_be(udp_open(&u, "0.0.0.0", 0, &opts));
    return u;
}

static void read_all(const struct plan *p, int pipe)
{
    struct driven d = { open_one(p), &reader, NULL };
    struct result result = { 0 };
    cpu_set_t cpu;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    CPU_ZERO(&cpu);
    CPU_SET((size_t)p->other_cpu, &cpu);
    if (sched_setaffinity(0, sizeof(cpu), &cpu) < 0)
        die("the other core");
    if (write(pipe, &d.udp->at.port, sizeof(d.udp->at.port)) < 0)
        die("pipe");
    result.cpu = drive_for(&d, CO_SECONDS(p->seconds) + CO_MS(500));
    result.stat = d.udp->stat;
    if (write(pipe, &result, sizeof(result)) < 0)
        die("pipe");
    exit(0);
}

static void address_all(struct sender *s)
{
    const struct plan *p = &s->plan;
    size_t size = (size_t)p->packets * (size_t)p->size;
    char ip[32];

    s->bytes = malloc(size);
    s->paths = calloc((size_t)p->peers, sizeof(s->paths[0]));
    if (!s->bytes || !s->paths)
        die("memory");
    memset(s->bytes, 1, size);
    s->iov = (struct iovec){ s->bytes, size };
    for (int i = 0; i < p->peers; i++) {
        (void)snprintf(ip, sizeof(ip), "127.1.%d.%d", i / 250, i % 250 + 1);
        must_be(udp_addr_parse(&s->paths[i].peer, ip, s->port));
    }
}

static void send_all(const struct plan *p, int pipe)
{
    struct sender s = { .plan = *p };
    struct driven d = { open_one(p), &sender, &s };
    struct result got;
    double cpu, out;

    if (read(pipe, &s.port, sizeof(s.port)) != sizeof(s.port))
        die("the reader");
    address_all(&s);
    s.due = co_clock();
    cpu = drive_for(&d, CO_SECONDS(p->seconds));
    if (read(pipe, &got, sizeof(got)) != sizeof(got))
        die("the reader");
    out = (double)(d.udp->stat.out ? d.udp->stat.out : 1);
    printf("{\"packets_s\": %.0f, \"send_us\": %.3f, \"send_calls\": %.4f, \"read_us\": %.3f, "
           "\"read_calls\": %.4f, \"lost\": %.5f, \"drops\": %llu, \"cpu\": %.1f}\n",
           out / p->seconds, cpu * 1e6 / out, (double)d.udp->stat.out_calls / out,
           got.cpu * 1e6 / (double)(got.stat.in ? got.stat.in : 1),
           (double)got.stat.in_calls / (double)(got.stat.in ? got.stat.in : 1),
           1 - (double)got.stat.in / out, (unsigned long long)d.udp->stat.drops,
           100 * cpu / p->seconds);
    udp_close(d.udp);
    free(s.bytes);
    free(s.paths);
}

int main(int argc, char **argv)
{
    struct plan p;
    int pipes[2];
    pid_t child = -1;

    if (argc < 7 || argc > 8 || (argc == 8 && strcmp(argv[7], "plain") != 0)) {
        fprintf(stderr, "Usage: sb_udp PEERS PACKETS SIZE PERIOD_MS SECONDS OTHER_CPU [plain]\n\n"
                        "Send PACKETS datagrams of SIZE bytes to each of PEERS each PERIOD_MS;\n"
                        "they are read on OTHER_CPU. plain: without segmentation and merging.\n");
        return 2;
    }
    p = (struct plan){ number(argv[1], 1, MOST_PEERS), number(argv[2], 1, 1000),
                       number(argv[3], 1, MOST_BYTES), number(argv[4], GROUPS, 10000),
                       number(argv[5], 1, 600), number(argv[6], 0, CPU_SETSIZE - 1), argc == 8 };
    (void)alarm((unsigned)p.seconds + 30); /* whatever happens */
    if (pipe(pipes) < 0 || (child = fork()) < 0)
        die("start");
    if (child == 0)
        read_all(&p, pipes[1]);
    send_all(&p, pipes[0]);
    return 0;
}
