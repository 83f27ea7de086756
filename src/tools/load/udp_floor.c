/* SPDX-License-Identifier: MIT */
/* udp_floor.c - what datagrams cost through co/net/udp, and what it costs to encrypt them.
 *
 * One socket sends to many addresses of the loopback, to each what a server would send a player:
 * the same packets each period; or the packets of a file as a server cuts them, or as many of one
 * size, each encrypted for each player from one buffer, by one call for a frame (of RTMFP: for all
 * of some ms). Those behind each other of one size are one row (UDP_SEGMENT). Another process on
 * another core reads it all by one socket. What a server costs beyond this is the server's.
 */
#include "tools/load/floor.h"

#include "co/net/udp.h"
#include "proto/srtp/srtp.h"
#include "tools/load/run.h"

#include <openssl/evp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 10000, MOST_PEERS = 60000, MOST_BYTES = 60000, MTU = 1200, HEAD = 12, CBC_HEAD = 4,
       PACKETS_MAX = 1000, TOGETHER = 64, GROUPS = 8,
       ROW = 50 /* packets, of 65,507 bytes at most */, BUFFER = 64 << 20,
       ROUNDS = 50000, WARM = 1000 };
#define REST CO_MS(2)
#define AFTER CO_MS(500)

static struct floor {
    int clients, kbps, other_cpu;   /* < 0: any */
    double seconds;
    bool sealed;                    /* encrypted, each for each */
    bool silent, single;            /* no sound; no rows */
    int every;                      /* ms between turns of RTMFP; 0: it is not */
    int groups;                     /* of clients, that take turns in a period */
    const char *path;               /* of a file, or NULL */
    struct load_cut cut;
    enum srtp_profile profile;
    struct floor_client {
        struct udp_path path;
        struct srtp_out *keys;
        EVP_CIPHER_CTX *cbc;
        uint64_t index;
    } *all;
    struct udp *udp;
    uint8_t head[HEAD], payload[MTU], *scratch;
    struct udp_out rows[PACKETS_MAX + TOGETHER];
    struct iovec iov[PACKETS_MAX + TOGETHER];
    unsigned n_rows;                /* that wait */
    unsigned long long sent_rows, lost;
} floor_;

/* What the reader gives when it ends. */
struct result {
    double cpu;
    struct udp_stat stat;
};

static void must_be_fine(err_t err)
{
    char text[512];

    if (!err)
        return;
    fprintf(stderr, "%s\n", err_text(err, text, sizeof(text)));
    exit(1);
}

static struct udp *open_one(const struct floor *f)
{
    const struct udp_opts opts = { .most = MOST_BYTES, .rcvbuf = BUFFER, .sndbuf = BUFFER,
                                   .plain = f->single };
    struct udp *u;

    must_be_fine(co_init());
    must_be_fine(udp_open(&u, "0.0.0.0", 0, &opts));
    return u;
}

/* ------------------------------------------------------------ the reader */

static void put_all(int pipe, const void *what, size_t size)
{
    if (write(pipe, what, size) != (ssize_t)size)
        load_floor_die("pipe");
}

/* As a server reads them. */
static void read_all(const struct floor *f, int pipe, struct result *out)
{
    struct udp *u = open_one(f);
    co_usec until = co_clock() + (co_usec)(f->seconds * 1e6) + AFTER;
    double cpu = load_cpu_seconds();

    put_all(pipe, &u->at.port, sizeof(u->at.port));
    while (co_clock() < until) {
        const struct udp_in *v;
        size_t n = 1;

        while (n > 0)
            must_be_fine(udp_recv_now(u, &v, &n));
        (void)udp_wait(u, until - co_clock());
    }
    *out = (struct result){ load_cpu_seconds() - cpu, u->stat };
}

/* As cheaply as the kernel allows: many at once, and nothing is copied. */
static void drop_all(const struct floor *f, int pipe)
{
    int fd, size = BUFFER;
    struct sockaddr_in6 at;
    socklen_t n = sizeof(at);
    struct udp_addr addr;
    co_usec until = co_clock() + (co_usec)(f->seconds * 1e6) + AFTER;

    must_be_fine(co_init());
    must_be_fine(udp_bind(&fd, "0.0.0.0", 0, false));
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
    if (getsockname(fd, (struct sockaddr *)&at, &n) < 0)
        load_floor_die("socket");
    udp_addr_from(&addr, &at);
    put_all(pipe, &addr.port, sizeof(addr.port));
    while (co_clock() < until) {
        while (recv(fd, NULL, 0, MSG_TRUNC | MSG_DONTWAIT) > 0)
            ;
        must_be_fine(co_sleep(REST));
    }
}

static _Noreturn void be_reader(const struct floor *f, int pipe)
{
    struct result result = { 0 };

    if (f->sealed)
        drop_all(f, pipe);
    else
        read_all(f, pipe, &result);
    put_all(pipe, &result, sizeof(result));
    exit(0);
}

/* ------------------------------------------------------------ one frame for one player */

/* Of RTMFP: a session's id, and whole blocks. */
static size_t encrypt_cbc(struct floor *f, struct floor_client *c, uint8_t *to, size_t size)
{
    static const uint8_t zeros[16];
    int n = 0;

    memcpy(to, &c->index, CBC_HEAD);
    if (EVP_EncryptInit_ex(c->cbc, NULL, NULL, NULL, zeros) != 1 ||
        EVP_EncryptUpdate(c->cbc, to + CBC_HEAD, &n, f->payload, (int)size) != 1)
        exit(1);
    return CBC_HEAD + (size_t)n;
}

static size_t make_packet(struct floor *f, struct floor_client *c, uint8_t *to, size_t size)
{
    if (!f->sealed)
        return size;
    if (f->every)
        return encrypt_cbc(f, c, to, size);
    f->head[2] = (uint8_t)(c->index >> 8);
    f->head[3] = (uint8_t)c->index;
    return srtp_protect(c->keys, to, f->head, HEAD, f->payload, size, c->index++);
}

/* Packets as rows behind those that wait. */
static void fill(struct floor *f, struct floor_client *c, const uint16_t *sizes, unsigned n)
{
    uint8_t *at = f->scratch;
    size_t last = 0;
    unsigned in_row = 0;

    for (unsigned k = 0; k < n; k++) {
        size_t size = make_packet(f, c, at, sizes[k]);
        const struct udp_out *row = in_row > 0 ? &f->rows[f->n_rows - 1] : NULL;

        if (!row || size > row->segment || last < row->segment || in_row == ROW) {
            in_row = 0;
            f->iov[f->n_rows] = (struct iovec){ at, 0 };
            f->rows[f->n_rows] = (struct udp_out){ &f->iov[f->n_rows], 1, size, &c->path,
                                                   UDP_NOT_ECT };
            f->n_rows++;
        }
        in_row++;
        f->iov[f->n_rows - 1].iov_len += size;
        last = size;
        at += size;
    }
}

static void flush(struct floor *f)
{
    size_t gone = f->n_rows > 0 ? udp_send(f->udp, f->rows, f->n_rows) : 0;

    if (gone < f->n_rows) {
        (void)udp_wait(f->udp, UDP_PATIENCE);
        gone += udp_send(f->udp, f->rows + gone, f->n_rows - gone);
    }
    f->lost += f->n_rows - gone;
    f->sent_rows += f->n_rows;
    f->n_rows = 0;
}

static void send_to(struct floor *f, struct floor_client *c, const struct load_cut_frame *frame)
{
    fill(f, c, f->cut.sizes + frame->first, frame->n < PACKETS_MAX ? frame->n : PACKETS_MAX);
    if (f->sealed || f->n_rows >= TOGETHER)
        flush(f);
}

/* Groups and frames that are late go at once, as a server's do. */
static void send_all(struct floor *f)
{
    co_usec from = co_clock(), due = 0, all = (co_usec)(f->seconds * 1e6);
    size_t groups = (size_t)f->groups, turns = f->cut.n_frames * groups;

    for (size_t k = 0; due < all; k++) {
        const struct load_cut_frame *frame = &f->cut.frames[k % f->cut.n_frames];
        size_t group = k / f->cut.n_frames % groups, n = (size_t)f->clients;
        co_usec left;

        due = (co_usec)(k / turns) * CO_MS(f->cut.period) + CO_MS(frame->ms) +
              CO_MS(f->cut.period) * (co_usec)group / (co_usec)groups;
        left = from + due - co_clock();
        if (left > 0)
            must_be_fine(co_sleep(left));
        for (size_t i = n * group / groups; i < n * (group + 1) / groups; i++)
            send_to(f, &f->all[i], frame);
        flush(f);
    }
}

/* ------------------------------------------------------------ both */

static void make_keys(const struct floor *f, struct floor_client *c, unsigned i)
{
    struct srtp_keys k = { .profile = f->profile };

    k.key[0] = (uint8_t)i;
    k.key[1] = (uint8_t)(i >> 8);
    must_be_fine(srtp_out_new(&c->keys, &k));
    c->cbc = EVP_CIPHER_CTX_new();
    if (!c->cbc || EVP_EncryptInit_ex(c->cbc, EVP_aes_128_cbc(), NULL, k.key, NULL) != 1)
        exit(1);
    (void)EVP_CIPHER_CTX_set_padding(c->cbc, 0);
}

/* Gives the processor time that it took to send, and what the other process has to say. */
static double run(struct floor *f, struct result *got)
{
    int ends[2];
    uint16_t port;
    double cpu;

    (void)alarm((unsigned)f->seconds + 60); /* whatever happens */
    f->all = calloc((size_t)f->clients, sizeof(*f->all));
    f->scratch = calloc(PACKETS_MAX, f->sealed ? HEAD + MTU + SRTP_TAIL : MOST_BYTES);
    if (!f->all || !f->scratch || pipe(ends) < 0)
        load_floor_die("start");
    f->head[0] = 0x80;
    for (int i = 0; f->sealed && i < f->clients; i++)
        make_keys(f, &f->all[i], (unsigned)i);
    if (load_floor_fork(f->other_cpu) == 0)
        be_reader(f, ends[1]);
    f->udp = open_one(f);
    if (read(ends[0], &port, sizeof(port)) != sizeof(port))
        load_floor_die("the reader");
    for (int i = 0; i < f->clients; i++) {
        char ip[32];

        (void)snprintf(ip, sizeof(ip), "127.1.%d.%d", i / 250, i % 250 + 1);
        must_be_fine(udp_addr_parse(&f->all[i].path.peer, ip, port));
    }
    cpu = load_cpu_seconds();
    send_all(f);
    cpu = load_cpu_seconds() - cpu;
    if (read(ends[0], got, sizeof(*got)) != sizeof(*got))
        load_floor_die("the reader");
    return cpu;
}

int load_udp_floor(int argc, char **argv)
{
    struct floor *f = &floor_;
    struct result got;
    double cpu, out, in;
    int packets, size;

    if (argc < 7 || argc > 8 || (argc == 8 && strcmp(argv[7], "plain") != 0)) {
        fprintf(stderr, "Usage: sb_udp PEERS PACKETS SIZE PERIOD_MS SECONDS OTHER_CPU [plain]\n\n"
                        "Send PACKETS datagrams of SIZE bytes to each of PEERS each PERIOD_MS;\n"
                        "they are read on OTHER_CPU. plain: without segmentation and merging.\n");
        return 2;
    }
    *f = (struct floor){ .clients = load_floor_number(argv[1], 1, MOST_PEERS), .groups = GROUPS,
                         .seconds = load_floor_number(argv[5], 1, 600),
                         .other_cpu = load_floor_number(argv[6], 0, CPU_SETSIZE - 1),
                         .single = argc == 8 };
    packets = load_floor_number(argv[2], 1, PACKETS_MAX);
    size = load_floor_number(argv[3], 1, MOST_BYTES);
    load_cut_equal(&f->cut, (unsigned)packets, (unsigned)size,
                   (unsigned)load_floor_number(argv[4], GROUPS, 10000));
    cpu = run(f, &got);
    out = (double)(f->udp->stat.out ? f->udp->stat.out : 1);
    in = (double)(got.stat.in ? got.stat.in : 1);
    printf("{\"packets_s\": %.0f, \"send_us\": %.3f, \"send_calls\": %.4f, \"read_us\": %.3f, "
           "\"read_calls\": %.4f, \"lost\": %.5f, \"drops\": %llu, \"cpu\": %.1f}\n",
           out / f->seconds, cpu * 1e6 / out, (double)f->udp->stat.out_calls / out,
           got.cpu * 1e6 / in, (double)got.stat.in_calls / in, 1 - (double)got.stat.in / out,
           (unsigned long long)f->udp->stat.drops, 100 * cpu / f->seconds);
    return 0;
}

/* ------------------------------------------------------------ encrypted */

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
        f->every = load_floor_number(value, 1, 1000);
    else if (strcmp(arg, "-i") == 0 || strcmp(arg, "--input") == 0)
        f->path = value;
    else if (strcmp(arg, "--reader-cpu") == 0)
        f->other_cpu = load_floor_number(value, 0, CPU_SETSIZE - 1);
    else if (strcmp(arg, "-c") == 0 || strcmp(arg, "--clients") == 0)
        f->clients = load_floor_number(value, 1, MOST);
    else if (strcmp(arg, "--kbps") == 0)
        f->kbps = load_floor_number(value, 1, 10000);
    else if (strcmp(arg, "--duration") == 0)
        f->seconds = strtod(value, NULL);
}

static void take_args(struct floor *f, int argc, char **argv)
{
    *f = (struct floor){ .clients = 300, .kbps = 900, .seconds = 5, .other_cpu = -1, .groups = 1,
                         .sealed = true, .profile = SRTP_AEAD_AES_128_GCM };
    for (int i = 1; i < argc; i++)
        if (!take_flag(f, argv[i]))
            take_value(f, argv[i], i + 1 < argc ? argv[i + 1] : "");
    if (f->seconds > 0 && f->seconds <= 600 && (f->every == 0 || f->path))
        return;
    fprintf(stderr, "%s --floor [-c 1..%d] [-i FILE.flv | --kbps 1..10000] [--duration S] [--cm] "
                    "[--no-sound] [--no-gso] [--reader-cpu N]\n"
                    "with --cbc-every MS and a file: RTMFP, by AES-128-CBC, a turn each MS\n",
            argv[0], MOST);
    exit(2);
}

/* ns to encrypt a packet of 1,200 bytes. */
static double one_packet(struct floor *f, enum srtp_profile profile)
{
    const struct srtp_keys k = { .profile = profile, .key = { 1 } };
    struct srtp_out *out;
    double from = 0;

    must_be_fine(srtp_out_new(&out, &k));
    for (int i = -WARM; i < ROUNDS; i++) {
        if (i == 0)
            from = load_cpu_seconds();
        (void)srtp_protect(out, f->scratch, f->head, HEAD, f->payload, MTU, (uint64_t)(i + WARM));
    }
    from = load_cpu_seconds() - from;
    srtp_out_free(out);
    return from * 1e9 / ROUNDS;
}

int load_rtc_floor(int argc, char **argv)
{
    struct floor *f = &floor_;
    struct result got;
    double cpu;

    take_args(f, argc, argv);
    if (f->every)
        must_be_fine(load_cut_messages(&f->cut, f->path, (unsigned)f->every));
    else if (f->path)
        must_be_fine(load_cut_file(&f->cut, f->path));
    else
        load_cut_plain(&f->cut, (unsigned)f->kbps, f->silent);
    cpu = run(f, &got);
    printf("{\n  \"tool\": \"floor\",\n  \"clients\": %d,\n  \"cipher\": \"%s\",\n"
           "  \"seconds\": %.3f,\n  \"packets\": %llu,\n  \"rows\": %llu,\n  \"calls\": %llu,\n"
           "  \"lost_calls\": %llu,\n  \"cpu_percent\": %.2f,\n"
           "  \"us_per_player_second\": %.1f,\n"
           "  \"protect_1200_ns\": { \"cm\": %.0f, \"gcm\": %.0f }\n}\n",
           f->clients, f->every ? "CBC" : f->profile == SRTP_AEAD_AES_128_GCM ? "GCM" : "CM",
           f->seconds, (unsigned long long)f->udp->stat.out, f->sent_rows,
           (unsigned long long)f->udp->stat.out_calls, f->lost, 100 * cpu / f->seconds,
           cpu * 1e6 / f->seconds / f->clients, one_packet(f, SRTP_AES128_CM_SHA1_80),
           one_packet(f, SRTP_AEAD_AES_128_GCM));
    return 0;
}
