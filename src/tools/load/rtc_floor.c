/* SPDX-License-Identifier: MIT */
/* rtc_floor.c - what encryption and the kernel alone take to send to so many players: a stream of
 * video at 25 frames a second and sound at 50 packets, each encrypted for each of them from one
 * buffer, by one call for a frame (UDP_SEGMENT). Another process reads it all and looks at nothing.
 * What a server costs beyond this is the server's.
 */
#include "tools/load/rtc_floor.h"

#include "base/err.h"
#include "proto/srtp/srtp.h"

#include <arpa/inet.h>
#include <netinet/udp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 10000, FPS = 25, SOUND_A_FRAME = 2, SOUND = 120, MTU = 1200, HEAD = 12,
       SLICES = 8, PACKETS_MAX = 64, BUFFER = 4 << 20, EVENTS = 256, ROUNDS = 50000 };

struct floor {
    int clients, kbps, reader_cpu; /* where the other process is; < 0: anywhere */
    bool silent;                    /* no sound */
    double seconds;
    enum srtp_profile profile;
    int to[MOST];                   /* sockets of the reader */
    struct sockaddr_in at[MOST];
    struct srtp_out *keys[MOST];
    uint64_t index[MOST];
    int fd;
    uint8_t head[HEAD], payload[MTU], scratch[PACKETS_MAX * (HEAD + MTU + SRTP_TAIL)];
    unsigned long long packets, calls, lost;
};

static struct floor floor_; /* too large for a stack */

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void rest(double s)
{
    struct timespec t = { (time_t)s, (long)((s - (double)(time_t)s) * 1e9) };

    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static int number(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

static void take_args(struct floor *f, int argc, char **argv)
{
    *f = (struct floor){ .clients = 300, .kbps = 900, .seconds = 5, .reader_cpu = -1,
                         .profile = SRTP_AEAD_AES_128_GCM };
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(argv[i], "--cm") == 0)
            f->profile = SRTP_AES128_CM_SHA1_80;
        else if (strcmp(argv[i], "--no-sound") == 0)
            f->silent = true;
        else if (strcmp(argv[i], "--reader-cpu") == 0)
            f->reader_cpu = number(value);
        else if (strcmp(argv[i], "-c") == 0 || strcmp(argv[i], "--clients") == 0)
            f->clients = number(value);
        else if (strcmp(argv[i], "--kbps") == 0)
            f->kbps = number(value);
        else if (strcmp(argv[i], "--duration") == 0)
            f->seconds = strtod(value, NULL);
    }
    if (f->clients < 1 || f->clients > MOST || f->kbps < 1 || f->kbps > 10000 ||
        !(f->seconds > 0 && f->seconds <= 600)) {
        fprintf(stderr, "sb_rtc_load --floor [-c 1..%d] [--kbps 1..10000] [--duration S] [--cm] "
                        "[--no-sound] [--reader-cpu N]\n", MOST);
        exit(2);
    }
}

static void open_all(struct floor *f)
{
    struct srtp_keys k = { .profile = f->profile };
    int size = BUFFER;

    f->fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (f->fd < 0)
        die("socket");
    (void)setsockopt(f->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    for (int i = 0; i < f->clients; i++) {
        socklen_t n = sizeof(f->at[i]);
        err_t err;

        f->at[i] = (struct sockaddr_in){ .sin_family = AF_INET };
        f->at[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        f->to[i] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        if (f->to[i] < 0 || bind(f->to[i], (struct sockaddr *)&f->at[i], n) < 0 ||
            getsockname(f->to[i], (struct sockaddr *)&f->at[i], &n) < 0)
            die("socket");
        k.key[0] = (uint8_t)i;
        k.key[1] = (uint8_t)(i >> 8);
        err = srtp_out_new(&f->keys[i], &k);
        if (err)
            exit(1);
    }
}

/* The other process: whatever comes is taken and dropped. */
static _Noreturn void read_all(const struct floor *f)
{
    int ep = epoll_create1(0);
    cpu_set_t cpu;

    CPU_ZERO(&cpu);
    if (f->reader_cpu >= 0) {
        CPU_SET((size_t)f->reader_cpu, &cpu);
        (void)sched_setaffinity(0, sizeof(cpu), &cpu);
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < f->clients; i++) {
        struct epoll_event e = { .events = EPOLLIN, .data.fd = f->to[i] };

        if (epoll_ctl(ep, EPOLL_CTL_ADD, f->to[i], &e) < 0)
            die("epoll_ctl");
    }
    for (;;) {
        struct epoll_event e[EVENTS];
        int n = epoll_wait(ep, e, EVENTS, -1);

        for (int i = 0; i < n; i++)
            while (recv(e[i].data.fd, NULL, 0, MSG_TRUNC) > 0)
                ;
        rest(0.002); /* many at once */
    }
}

/* So many packets of that payload to one player, by one call. */
static void send_to(struct floor *f, int i, unsigned n, size_t payload)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(uint16_t))];
    } control = { .room = { 0 } };
    size_t size = 0, one = 0;
    struct iovec iov = { f->scratch, 0 };
    struct msghdr m = { .msg_name = &f->at[i], .msg_namelen = sizeof(f->at[i]), .msg_iov = &iov,
                        .msg_iovlen = 1 };

    for (unsigned k = 0; k < n; k++) {
        f->head[2] = (uint8_t)(f->index[i] >> 8);
        f->head[3] = (uint8_t)f->index[i];
        one = srtp_protect(f->keys[i], f->scratch + size, f->head, HEAD, f->payload, payload,
                           f->index[i]++);
        size += one;
    }
    iov.iov_len = size;
    if (n > 1) {
        m.msg_control = control.room;
        m.msg_controllen = sizeof(control.room);
        control.head = (struct cmsghdr){ .cmsg_level = SOL_UDP, .cmsg_type = UDP_SEGMENT,
                                         .cmsg_len = CMSG_LEN(sizeof(uint16_t)) };
        memcpy(CMSG_DATA(&control.head), &(uint16_t){ (uint16_t)one }, sizeof(uint16_t));
    }
    f->packets += n;
    f->calls++;
    f->lost += sendmsg(f->fd, &m, MSG_DONTWAIT) < 0;
}

static void run(struct floor *f)
{
    unsigned frame = (unsigned)f->kbps * 125 / FPS, n = (frame + MTU - 1) / MTU;
    double from = seconds_of(CLOCK_MONOTONIC), step = 1.0 / FPS / SLICES;

    n = n < PACKETS_MAX ? n : PACKETS_MAX;
    for (unsigned turn = 0; turn * step < f->seconds; turn++) {
        double left = from + turn * step - seconds_of(CLOCK_MONOTONIC);

        if (left > 0)
            rest(left);
        for (int i = (int)(turn % SLICES); i < f->clients; i += SLICES) {
            send_to(f, i, n, frame / n);
            for (int k = 0; k < SOUND_A_FRAME && !f->silent; k++)
                send_to(f, i, 1, SOUND);
        }
    }
}

/* ns to encrypt a packet of 1,200 bytes. */
static double one_packet(struct floor *f, enum srtp_profile profile)
{
    const struct srtp_keys k = { .profile = profile, .key = { 1 } };
    struct srtp_out *out;
    double from = 0;
    err_t err = srtp_out_new(&out, &k);

    if (err)
        exit(1);
    for (int i = -1000; i < ROUNDS; i++) {
        if (i == 0)
            from = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        (void)srtp_protect(out, f->scratch, f->head, HEAD, f->payload, MTU, (uint16_t)i);
    }
    from = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - from;
    srtp_out_free(out);
    return from * 1e9 / ROUNDS;
}

int load_rtc_floor(int argc, char **argv)
{
    struct floor *f = &floor_;
    struct rlimit lim;
    double cpu, wall;
    pid_t reader;

    take_args(f, argc, argv);
    (void)getrlimit(RLIMIT_NOFILE, &lim);
    lim.rlim_cur = lim.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &lim);
    open_all(f);
    f->head[0] = 0x80;
    reader = fork();
    if (reader < 0)
        die("fork");
    if (reader == 0)
        read_all(f);
    cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    wall = seconds_of(CLOCK_MONOTONIC);
    run(f);
    cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = seconds_of(CLOCK_MONOTONIC) - wall;
    (void)kill(reader, SIGKILL);
    printf("{\n  \"tool\": \"sb_rtc_load --floor\",\n  \"clients\": %d,\n  \"kbps\": %d,\n"
           "  \"cipher\": \"%s\",\n  \"seconds\": %.3f,\n  \"packets\": %llu,\n"
           "  \"calls\": %llu,\n  \"lost_calls\": %llu,\n  \"cpu_percent\": %.2f,\n"
           "  \"us_per_player_second\": %.1f,\n"
           "  \"protect_1200_ns\": { \"cm\": %.0f, \"gcm\": %.0f }\n}\n",
           f->clients, f->kbps, f->profile == SRTP_AEAD_AES_128_GCM ? "GCM" : "CM", wall,
           f->packets, f->calls, f->lost, 100 * cpu / wall, cpu * 1e6 / wall / f->clients,
           one_packet(f, SRTP_AES128_CM_SHA1_80), one_packet(f, SRTP_AEAD_AES_128_GCM));
    return 0;
}
