/* SPDX-License-Identifier: MIT */
/* plan.h - what a configuration needs from the machine, and its checks. Private to app/doctor.
 *
 * Functions named doctor_check_* run on a helper thread: plain C, no coroutines, no err_t, no log.
 */
#ifndef APP_DOCTOR_PLAN_H
#define APP_DOCTOR_PLAN_H

#include "app/doctor/doctor.h"
#include "conf/protocol.h"

#include <stdint.h>
#include <sys/resource.h>

struct doctor_port {
    const char *host;   /* "": any address */
    int port;
    const char *names;  /* its services: "http, api" */
    const struct conf_served *of;
    bool clash;         /* another service uses it and cannot share it */
    unsigned n;         /* number of consecutive ports */
    const char *remedy; /* advice if a UDP port is taken; NULL: the port is TCP */
};

struct doctor_tls {
    const char *where; /* the service, such as "rtmps" */
    const char *cert, *key;
};

enum doctor_path_kind {
    DOCTOR_FILE,   /* a file to write; its folder must exist */
    DOCTOR_FOLDER, /* a folder to write to; created if missing */
    DOCTOR_READ,   /* a file or folder to read */
};

struct doctor_path {
    enum doctor_path_kind kind;
    const char *directive, *path;
    bool guarded; /* belongs to a vhost that authorizes its players */
};

struct doctor_program {
    const char *directive; /* "transcode", "ingest", "exec" */
    const char *path;      /* as configured; "ffmpeg" by default */
    bool ffmpeg;
};

enum { DOCTOR_ADDRESSES = 16, DOCTOR_ADDRESS = 64, DOCTOR_TEXT = 16 * 1024 };

struct doctor_plan {
    struct doctor_report report; /* the rows so far */
    struct conf *conf;           /* owns the texts below, or the arena does */
    struct conf_arena *arena;
    const char *root;
    bool serving, udp, core_dump;
    int rtc_port; /* UDP port of WebRTC; 0: it is off */
    bool audio;   /* audio for WebRTC must be transcoded */
    struct conf_list candidates;                /* as configured */
    char own[DOCTOR_ADDRESSES][DOCTOR_ADDRESS]; /* addresses of interfaces */
    size_t own_n;
    long connections, reserve; /* max_connections, limits.api_reserve */
    long sessions;             /* sum of the session limits of datagram protocols */
    unsigned workers;
    const char *pid_file;
    struct rlimit files, core;
    struct doctor_port *port;
    struct doctor_tls *tls;
    struct doctor_path *path;
    struct doctor_program *program;
    size_t port_n, tls_n, path_n, program_n;
    char text[DOCTOR_TEXT]; /* buffer of the file being read */
};

/* Does not block. */
struct doctor_plan *doctor_plan_new(struct conf *c, const struct doctor_how *how);
void doctor_plan_free(void *plan); /* any thread */

/* Add a row to the report, and advice to it. */
#define ADD(p, ...) doctor_add(&(p)->report, __VA_ARGS__)
#define ADVISE(p, ...) doctor_advise(&(p)->report, __VA_ARGS__)

/* Reads a small file below root into p->text; returns false on failure. */
bool doctor_file(struct doctor_plan *p, const char *path);
/* Formats a number of bytes, such as "1.5 GB". */
const char *doctor_bytes(int64_t n, char buf[16]);

void doctor_check_machine(struct doctor_plan *p); /* limits, memory, clock, cores, the kernel */
void doctor_check_ports(struct doctor_plan *p);
void doctor_check_certs(struct doctor_plan *p);
void doctor_check_paths(struct doctor_plan *p);
void doctor_check_programs(struct doctor_plan *p);
void doctor_check_candidates(struct doctor_plan *p); /* addresses for WebRTC */

/* Tries to bind a port; returns 0 or errno. `type` is SOCK_STREAM or SOCK_DGRAM; host "" is any
 * address. */
int doctor_try_port(const char *host, int port, int type);

#endif
