/* SPDX-License-Identifier: MIT */
/* sb_send_floor.c - what the kernel alone takes to send: the floor under every media server.
 *
 * No protocol, no coroutines, no events: one buffer goes to every connection in turn, some bytes
 * each some ms, in groups spread over that time as a server spreads its players. A child reads it
 * all on another core and copies nothing. What a server costs beyond this is the server's.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 19000, MOST_BYTES = 16 << 20, BACKLOG = 1024, EVENTS = 256, GULP = 1 << 20,
       IDLE_MS = 10000 };

struct plan {
    int clients, bytes, period_ms, groups, seconds, reader_cpu;
};

struct loop {
    struct plan plan;
    int *fds;
    char *buf;
    long sends, cut; /* cut: the connection was full and took less */
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int number(const char *text, int least, int most)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (*end || end == text || n < least || n > most) {
        fprintf(stderr, "sb_send_floor: %s is not a number from %d to %d\n", text, least, most);
        exit(2);
    }
    return (int)n;
}

static int listen_here(struct sockaddr_in *at)
{
    socklen_t size = sizeof(*at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    *at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    if (fd < 0 || bind(fd, (struct sockaddr *)at, size) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)at, &size) < 0)
        die("listen");
    return fd;
}

static void connect_all(int ep, const struct sockaddr_in *at, int clients)
{
    for (int i = 0; i < clients; i++) {
        struct epoll_event event = { .events = EPOLLIN };

        event.data.fd = socket(AF_INET, SOCK_STREAM, 0);
        if (event.data.fd < 0 ||
            connect(event.data.fd, (const struct sockaddr *)at, sizeof(*at)) < 0 ||
            epoll_ctl(ep, EPOLL_CTL_ADD, event.data.fd, &event) < 0)
            die("connect");
    }
}

/* The child: until the sender is gone. */
static void read_all(const struct plan *p, const struct sockaddr_in *at)
{
    struct epoll_event events[EVENTS];
    int ep = epoll_create1(0), n;
    cpu_set_t cpu;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    CPU_ZERO(&cpu);
    CPU_SET((size_t)p->reader_cpu, &cpu);
    if (sched_setaffinity(0, sizeof(cpu), &cpu) < 0)
        die("reader's core");
    connect_all(ep, at, p->clients);
    while ((n = epoll_wait(ep, events, EVENTS, IDLE_MS)) > 0) {
        for (int i = 0; i < n; i++)
            if (recv(events[i].data.fd, NULL, GULP, MSG_TRUNC | MSG_DONTWAIT) == 0)
                exit(0);
    }
    exit(0);
}

static void send_group(struct loop *l, int group)
{
    const struct plan *p = &l->plan;
    int from = (int)((long)p->clients * group / p->groups);
    int to = (int)((long)p->clients * (group + 1) / p->groups);

    for (int i = from; i < to; i++) {
        ssize_t n = send(l->fds[i], l->buf, (size_t)p->bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno != EAGAIN)
            die("send");
        l->sends++;
        l->cut += n < p->bytes;
    }
}

/* Groups that are late go at once, as a server's do. */
static void send_for(struct loop *l, int ms)
{
    const struct plan *p = &l->plan;
    long step = 1000000l * p->period_ms / p->groups, turns = (long)ms * 1000000 / step;
    struct timespec due;

    (void)clock_gettime(CLOCK_MONOTONIC, &due);
    for (long t = 0; t < turns; t++) {
        due.tv_nsec += step;
        due.tv_sec += due.tv_nsec / 1000000000;
        due.tv_nsec %= 1000000000;
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        send_group(l, (int)(t % p->groups));
    }
}

static double cpu_seconds(void)
{
    struct rusage u;

    (void)getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void measure(struct loop *l)
{
    const struct plan *p = &l->plan;
    double cpu;

    send_for(l, 1000); /* windows grow */
    l->sends = l->cut = 0;
    cpu = cpu_seconds();
    send_for(l, p->seconds * 1000);
    cpu = cpu_seconds() - cpu;
    printf("{\"us_each\": %.2f, \"us_send\": %.2f, \"cpu\": %.2f, \"cut\": %ld}\n",
           cpu * 1e6 / p->seconds / p->clients, cpu * 1e6 / (double)l->sends,
           100 * cpu / p->seconds, l->cut);
}

int main(int argc, char **argv)
{
    struct sockaddr_in at;
    struct loop l = { .cut = 0 };
    int fd;
    pid_t child;

    if (argc != 7) {
        fprintf(stderr, "Usage: sb_send_floor CLIENTS BYTES PERIOD_MS GROUPS SECONDS READER_CPU\n"
                        "\nWhat the kernel alone takes to send BYTES each PERIOD_MS to CLIENTS.\n");
        return 2;
    }
    l.plan = (struct plan){ number(argv[1], 1, MOST), number(argv[2], 1, MOST_BYTES),
                            number(argv[3], 1, 10000), number(argv[4], 1, 1000),
                            number(argv[5], 1, 600), number(argv[6], 0, 1023) };
    (void)alarm((unsigned)l.plan.seconds + 60); /* whatever happens */
    fd = listen_here(&at);
    child = fork();
    if (child == 0)
        read_all(&l.plan, &at);
    l.fds = calloc((size_t)l.plan.clients, sizeof(l.fds[0]));
    l.buf = calloc(1, (size_t)l.plan.bytes);
    if (child < 0 || !l.fds || !l.buf)
        die("start");
    memset(l.buf, 1, (size_t)l.plan.bytes); /* zeros that nobody wrote are all one page */
    for (int i = 0; i < l.plan.clients; i++) {
        l.fds[i] = accept(fd, NULL, NULL);
        if (l.fds[i] < 0)
            die("accept");
    }
    measure(&l);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    free(l.fds);
    free(l.buf);
    return 0;
}
