/* SPDX-License-Identifier: MIT */
/* rtc_floor.c - what encryption and the kernel alone take to send to so many players: the packets
 * of a file as a server cuts them, or as many of one size, each encrypted for each of them from one
 * buffer, by one call for a frame (of RTMFP: for all of some ms); those behind each other of one
 * size are one row (UDP_SEGMENT).
 * Another process reads it all and looks at nothing. What a server costs beyond this is the
 * server's.
 */
#include "tools/load/rtc_floor.h"

#include "base/err.h"
#include "proto/srtp/srtp.h"
#include "tools/load/rtc_cut.h"

#include <arpa/inet.h>
#include <netinet/udp.h>
#include <openssl/evp.h>
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

enum { MOST = 10000, MTU = 1200, HEAD = 12, CBC_HEAD = 4,
       ROW = 50, /* packets, of 65,507 bytes at most */
       PACKETS_MAX = 256, BUFFER = 4 << 20, EVENTS = 256, ROUNDS = 50000,
       WARM = 1000 };

struct floor {
    int clients, kbps, reader_cpu; /* where the other process is; < 0: anywhere */
    bool silent, single;            /* no sound; no rows */
    int every;                      /* ms between turns of RTMFP; 0: it is WebRTC */
    const char *path;               /* of a file, or NULL */
    struct load_cut cut;
    double seconds;
    enum srtp_profile profile;
    int to[MOST];                   /* sockets of the reader */
    struct sockaddr_in at[MOST];
    struct srtp_out *keys[MOST];
    EVP_CIPHER_CTX *cbc[MOST];
    uint64_t index[MOST];
    int fd;
    uint8_t head[HEAD], payload[MTU], scratch[PACKETS_MAX * (HEAD + MTU + SRTP_TAIL)];
    struct mmsghdr rows[PACKETS_MAX];
    struct iovec iov[PACKETS_MAX];
    _Alignas(struct cmsghdr) uint8_t control[PACKETS_MAX][CMSG_SPACE(sizeof(uint16_t))];
    unsigned long long packets, sent_rows, calls, lost;
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

static bool take_flag(struct floor *f, const char *arg)
{
    if (strcmp(arg, "--cm") == 0)
        f->profile = SRTP_AES128_CM_SHA1_80;
    else if (strcmp(arg, "--no-sound") == 0)
        f->silent = true;
    else if (strcmp(arg, "--no-gso") == 0)
        f->single = true;
    else
        return false;
    return true;
}

static void take_value(struct floor *f, const char *arg, const char *value)
{
    if (strcmp(arg, "--cbc-every") == 0)
        f->every = number(value);
    else if (strcmp(arg, "-i") == 0 || strcmp(arg, "--input") == 0)
        f->path = value;
    else if (strcmp(arg, "--reader-cpu") == 0)
        f->reader_cpu = number(value);
    else if (strcmp(arg, "-c") == 0 || strcmp(arg, "--clients") == 0)
        f->clients = number(value);
    else if (strcmp(arg, "--kbps") == 0)
        f->kbps = number(value);
    else if (strcmp(arg, "--duration") == 0)
        f->seconds = strtod(value, NULL);
}

static bool is_fine(const struct floor *f)
{
    return f->clients >= 1 && f->clients <= MOST && f->kbps >= 1 && f->kbps <= 10000 &&
           f->seconds > 0 && f->seconds <= 600 && f->every >= 0 && (f->every == 0 || f->path);
}

static void take_args(struct floor *f, int argc, char **argv)
{
    *f = (struct floor){ .clients = 300, .kbps = 900, .seconds = 5, .reader_cpu = -1,
                         .profile = SRTP_AEAD_AES_128_GCM };
    for (int i = 1; i < argc; i++)
        if (!take_flag(f, argv[i]))
            take_value(f, argv[i], i + 1 < argc ? argv[i + 1] : "");
    if (is_fine(f))
        return;
    fprintf(stderr, "%s --floor [-c 1..%d] [-i FILE.flv | --kbps 1..10000] [--duration S] [--cm] "
                    "[--no-sound] [--no-gso] [--reader-cpu N]\n"
                    "with --cbc-every MS and a file: RTMFP, by AES-128-CBC, a turn each MS\n",
            argv[0], MOST);
    exit(2);
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
        f->cbc[i] = EVP_CIPHER_CTX_new();
        if (err || !f->cbc[i] ||
            EVP_EncryptInit_ex(f->cbc[i], EVP_aes_128_cbc(), NULL, k.key, NULL) != 1)
            exit(1);
        (void)EVP_CIPHER_CTX_set_padding(f->cbc[i], 0);
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

/* ---- one frame for one player */

static void end_row(struct floor *f, int i, unsigned row, size_t segment)
{
    struct msghdr *m = &f->rows[row].msg_hdr;
    struct cmsghdr *c = (void *)f->control[row];

    *m = (struct msghdr){ .msg_name = &f->at[i], .msg_namelen = sizeof(f->at[i]),
                          .msg_iov = &f->iov[row], .msg_iovlen = 1 };
    if (f->iov[row].iov_len <= segment)
        return;
    m->msg_control = c;
    m->msg_controllen = sizeof(f->control[row]);
    c->cmsg_level = SOL_UDP;
    c->cmsg_type = UDP_SEGMENT;
    c->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    memcpy(CMSG_DATA(c), &(uint16_t){ (uint16_t)segment }, sizeof(uint16_t));
}

/* Of RTMFP: a session's id, and whole blocks. */
static size_t encrypt_cbc(struct floor *f, int i, uint8_t *to, size_t size)
{
    static const uint8_t zeros[16];
    int n = 0;

    memcpy(to, &f->index[i], CBC_HEAD);
    if (EVP_EncryptInit_ex(f->cbc[i], NULL, NULL, NULL, zeros) != 1 ||
        EVP_EncryptUpdate(f->cbc[i], to + CBC_HEAD, &n, f->payload, (int)size) != 1)
        exit(1);
    return CBC_HEAD + (size_t)n;
}

static size_t encrypt(struct floor *f, int i, uint8_t *to, size_t size)
{
    if (f->every)
        return encrypt_cbc(f, i, to, size);
    f->head[2] = (uint8_t)(f->index[i] >> 8);
    f->head[3] = (uint8_t)f->index[i];
    return srtp_protect(f->keys[i], to, f->head, HEAD, f->payload, size, f->index[i]++);
}

/* Packets as rows; gives how many. */
static unsigned fill(struct floor *f, int i, const uint16_t *sizes, unsigned n)
{
    uint8_t *at = f->scratch;
    size_t segment = 0, last = 0;
    unsigned row = 0, in_row = 0;

    for (unsigned k = 0; k < n; k++) {
        size_t size = encrypt(f, i, at, sizes[k]);

        if (in_row > 0 && (f->single || size > segment || last < segment || in_row == ROW)) {
            end_row(f, i, row++, segment);
            in_row = 0;
        }
        if (in_row++ == 0) {
            segment = size;
            f->iov[row] = (struct iovec){ at, 0 };
        }
        f->iov[row].iov_len += size;
        last = size;
        at += size;
    }
    end_row(f, i, row, segment);
    return row + 1;
}

static void send_to(struct floor *f, int i, const struct load_cut_frame *frame)
{
    unsigned n = frame->n < PACKETS_MAX ? frame->n : PACKETS_MAX;
    unsigned rows = fill(f, i, f->cut.sizes + frame->first, n);

    for (unsigned gone = 0; gone < rows;) {
        int put = sendmmsg(f->fd, f->rows + gone, rows - gone, MSG_DONTWAIT);

        f->calls++;
        f->lost += put < 0;
        gone += put < 0 ? 1 : (unsigned)put;
    }
    f->sent_rows += rows;
    f->packets += n;
}

static void run(struct floor *f)
{
    double from = seconds_of(CLOCK_MONOTONIC), due = 0;

    for (size_t k = 0; due < f->seconds; k++) {
        const struct load_cut_frame *frame = &f->cut.frames[k % f->cut.n_frames];
        double left;

        due = (double)(k / f->cut.n_frames) * f->cut.period / 1e3 + frame->ms / 1e3;
        left = from + due - seconds_of(CLOCK_MONOTONIC);
        if (left > 0)
            rest(left);
        for (int i = 0; i < f->clients; i++)
            send_to(f, i, frame);
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
    for (int i = -WARM; i < ROUNDS; i++) {
        if (i == 0)
            from = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        (void)srtp_protect(out, f->scratch, f->head, HEAD, f->payload, MTU,
                           (uint64_t)(i + WARM));
    }
    from = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - from;
    srtp_out_free(out);
    return from * 1e9 / ROUNDS;
}

static const char *name_of(const struct floor *f)
{
    return f->every ? "CBC" : f->profile == SRTP_AEAD_AES_128_GCM ? "GCM" : "CM";
}

static void tell(struct floor *f, double cpu, double wall)
{
    printf("{\n  \"tool\": \"floor\",\n  \"clients\": %d,\n  \"cipher\": \"%s\",\n"
           "  \"seconds\": %.3f,\n  \"packets\": %llu,\n  \"rows\": %llu,\n  \"calls\": %llu,\n"
           "  \"lost_calls\": %llu,\n  \"cpu_percent\": %.2f,\n"
           "  \"us_per_player_second\": %.1f,\n"
           "  \"protect_1200_ns\": { \"cm\": %.0f, \"gcm\": %.0f }\n}\n",
           f->clients, name_of(f), wall, f->packets,
           f->sent_rows, f->calls, f->lost, 100 * cpu / wall, cpu * 1e6 / wall / f->clients,
           one_packet(f, SRTP_AES128_CM_SHA1_80), one_packet(f, SRTP_AEAD_AES_128_GCM));
}

static void cut(struct floor *f)
{
    char text[200];
    err_t err = NULL;

    if (f->every)
        err = load_cut_messages(&f->cut, f->path, (unsigned)f->every);
    else if (f->path)
        err = load_cut_file(&f->cut, f->path);
    else
        load_cut_plain(&f->cut, (unsigned)f->kbps, f->silent);
    if (!err)
        return;
    fprintf(stderr, "sb_rtc_load: %s\n", err_text(err, text, sizeof(text)));
    exit(1);
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
    cut(f);
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
    tell(f, cpu, wall);
    return 0;
}
