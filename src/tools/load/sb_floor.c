/* SPDX-License-Identifier: MIT */
/* sb_floor.c - what the kernel alone takes to send, or to receive: the floor under media servers.
 *
 * No protocol, no coroutines. To send: one buffer goes to every connection in turn, some bytes each
 * some ms, in groups spread over that time as a server spreads its players; another process on
 * another core reads it all and copies nothing. To receive: that process sends the same in small
 * messages, as encoders do, and here is a read whenever all bytes of a period are there, into
 * memory that holds two seconds of each connection, as a group of pictures does. What a server
 * costs beyond this is the server's.
 */
#include "tools/load/floor.h"
#include "tools/load/run.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 19000, MOST_BYTES = 16 << 20, BACKLOG = 1024, EVENTS = 256, GULP = 1 << 20,
       IDLE_MS = 10000, WARMUP_MS = 2500, KEPT_MS = 2000, MESSAGES = 25 /* in a period */ };

struct plan {
    bool receive;
    int clients, bytes, period_ms, groups, seconds, other_cpu;
};

/* One of both processes: its ends of the connections. */
struct side {
    struct plan plan;
    int *fds;
    char *buf;
    long calls, bytes;
};

/* ------------------------------------------------------------ connections */

static int listen_here(struct sockaddr_in *at)
{
    socklen_t size = sizeof(*at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    *at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    if (fd < 0 || bind(fd, (struct sockaddr *)at, size) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)at, &size) < 0)
        load_floor_die("listen");
    return fd;
}

static void connect_all(struct side *s, const struct sockaddr_in *at)
{
    for (int i = 0; i < s->plan.clients; i++) {
        s->fds[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (s->fds[i] < 0 || connect(s->fds[i], (const struct sockaddr *)at, sizeof(*at)) < 0)
            load_floor_die("connect");
    }
}

static void accept_all(struct side *s, int fd)
{
    for (int i = 0; i < s->plan.clients; i++) {
        s->fds[i] = accept(fd, NULL, NULL);
        if (s->fds[i] < 0)
            load_floor_die("accept");
    }
}

static int watch_all(const struct side *s)
{
    int ep = epoll_create1(0);

    for (int i = 0; i < s->plan.clients; i++) {
        struct epoll_event event = { .events = EPOLLIN, .data = { .u32 = (uint32_t)i } };

        if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, s->fds[i], &event) < 0)
            load_floor_die("epoll");
    }
    return ep;
}

/* ------------------------------------------------------------ sending */

static void send_group(struct side *s, int group, int bytes)
{
    const struct plan *p = &s->plan;
    int from = (int)((long)p->clients * group / p->groups);
    int to = (int)((long)p->clients * (group + 1) / p->groups);

    for (int i = from; i < to; i++) {
        ssize_t n = send(s->fds[i], s->buf, (size_t)bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno != EAGAIN)
            exit(0); /* the other one is done */
        s->calls++;
        s->bytes += n > 0 ? n : 0;
    }
}

/* Groups that are late go at once, as a server's do. */
static void send_for(struct side *s, long ms, int bytes, int period_us)
{
    const struct plan *p = &s->plan;
    long step = 1000l * period_us / p->groups, turns = ms * 1000000 / step;
    struct timespec due;

    (void)clock_gettime(CLOCK_MONOTONIC, &due);
    for (long t = 0; t < turns; t++) {
        due.tv_nsec += step;
        due.tv_sec += due.tv_nsec / 1000000000;
        due.tv_nsec %= 1000000000;
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        send_group(s, (int)(t % p->groups), bytes);
    }
}

/* ------------------------------------------------------------ receiving */

static long now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Each connection's own part of the memory is filled round and round. */
static void receive_for(struct side *s, int ep, long ms)
{
    const struct plan *p = &s->plan;
    size_t slots = KEPT_MS / (size_t)p->period_ms + 1, slot = (size_t)p->bytes * 2;
    struct epoll_event events[EVENTS];
    long end = now_ms() + ms;
    size_t turn = 0;

    if (!s->buf && !(s->buf = calloc((size_t)p->clients * slots, slot)))
        load_floor_die("memory");
    while (now_ms() < end) {
        int n = epoll_wait(ep, events, EVENTS, 100);

        for (int i = 0; i < n; i++) {
            size_t who = events[i].data.u32;
            char *to = s->buf + (who * slots + turn / (size_t)p->clients % slots) * slot;
            ssize_t got = recv(s->fds[who], to, slot, MSG_DONTWAIT);

            turn++;
            s->calls++;
            s->bytes += got > 0 ? got : 0;
        }
    }
}

static void wake_when_all_is_there(struct side *s)
{
    for (int i = 0; i < s->plan.clients; i++)
        if (setsockopt(s->fds[i], SOL_SOCKET, SO_RCVLOWAT, &s->plan.bytes, sizeof(int)) < 0)
            load_floor_die("SO_RCVLOWAT");
}

/* Until the sender is gone. */
static void drop_all(struct side *s, int ep)
{
    struct epoll_event events[EVENTS];
    int n;

    while ((n = epoll_wait(ep, events, EVENTS, IDLE_MS)) > 0) {
        for (int i = 0; i < n; i++)
            if (recv(s->fds[events[i].data.u32], NULL, GULP, MSG_TRUNC | MSG_DONTWAIT) == 0)
                exit(0);
    }
}

/* ------------------------------------------------------------ both */

static _Noreturn void other_process(struct side *s, const struct sockaddr_in *at)
{
    const struct plan *p = &s->plan;

    connect_all(s, at);
    if (p->receive)
        send_for(s, WARMUP_MS + (p->seconds + 1) * 1000l, p->bytes / MESSAGES,
                 p->period_ms * 1000 / MESSAGES);
    else
        drop_all(s, watch_all(s));
    exit(0);
}

static void measure(struct side *s)
{
    const struct plan *p = &s->plan;
    int ep = p->receive ? watch_all(s) : -1;
    double cpu = 0;

    for (int warm = 1; warm >= 0; warm--) { /* windows and memory grow */
        long ms = warm ? WARMUP_MS : p->seconds * 1000;

        cpu = load_cpu_seconds();
        s->calls = s->bytes = 0;
        if (p->receive)
            receive_for(s, ep, ms);
        else
            send_for(s, ms, p->bytes, p->period_ms * 1000);
    }
    cpu = load_cpu_seconds() - cpu;
    printf("{\"us_each\": %.2f, \"us_call\": %.2f, \"cpu\": %.2f, \"kbps\": %.1f}\n",
           cpu * 1e6 / p->seconds / p->clients, cpu * 1e6 / (double)(s->calls ? s->calls : 1),
           100 * cpu / p->seconds, (double)s->bytes * 8e-3 / p->seconds / p->clients);
}

static void usage(void)
{
    fprintf(stderr, "Usage: sb_floor send|receive CLIENTS BYTES PERIOD_MS GROUPS SECONDS "
                    "OTHER_CPU\n\n"
                    "What the kernel alone takes to send BYTES each PERIOD_MS to CLIENTS, or to\n"
                    "receive them; in GROUPS that take turns, with the clients on OTHER_CPU.\n");
    exit(2);
}

int main(int argc, char **argv)
{
    struct sockaddr_in at;
    struct side s = { .calls = 0 };
    pid_t child;
    int fd;

    if (argc != 8 || (strcmp(argv[1], "send") != 0 && strcmp(argv[1], "receive") != 0))
        usage();
    s.plan = (struct plan){ strcmp(argv[1], "receive") == 0, load_floor_number(argv[2], 1, MOST),
                            load_floor_number(argv[3], MESSAGES, MOST_BYTES),
                            load_floor_number(argv[4], MESSAGES, 10000),
                            load_floor_number(argv[5], 1, 1000), load_floor_number(argv[6], 1, 600),
                            load_floor_number(argv[7], 0, CPU_SETSIZE - 1) };
    (void)alarm((unsigned)s.plan.seconds + 60); /* whatever happens */
    fd = listen_here(&at);
    s.fds = calloc((size_t)s.plan.clients, sizeof(s.fds[0]));
    if (!s.fds)
        load_floor_die("start");
    child = load_floor_fork(s.plan.other_cpu);
    if (child == 0 || !s.plan.receive) { /* who sends */
        s.buf = malloc((size_t)s.plan.bytes);
        if (!s.buf)
            load_floor_die("memory");
        memset(s.buf, 1, (size_t)s.plan.bytes); /* zeros that nobody wrote are all one page */
    }
    if (child == 0)
        other_process(&s, &at);
    accept_all(&s, fd);
    if (s.plan.receive)
        wake_when_all_is_there(&s);
    measure(&s);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    free(s.fds);
    free(s.buf);
    return 0;
}
