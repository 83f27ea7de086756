/* SPDX-License-Identifier: MIT */
/* plan.h - what a configuration needs of the machine, and the checks of it. For app/doctor alone.
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
    const char *names;  /* of its services: "http, api" */
    const struct conf_served *of;
    bool clash;         /* others have it too that cannot share it */
    unsigned n;         /* so many ports from this one on */
    const char *remedy; /* of UDP, if one is taken; NULL: it is of TCP */
};

struct doctor_tls {
    const char *where; /* "rtmps" */
    const char *cert, *key;
};

enum doctor_path_kind {
    DOCTOR_FILE,   /* a file that we write; its folder must be there */
    DOCTOR_FOLDER, /* a folder that we write to; it is made when it is missing */
    DOCTOR_READ,   /* a file or folder that we read */
};

struct doctor_path {
    enum doctor_path_kind kind;
    const char *directive, *path;
    bool guarded; /* recordings or files of a vhost that asks its players */
};

struct doctor_program {
    const char *directive; /* "transcode", "ingest", "exec" */
    const char *path;      /* as written; "ffmpeg" where it is not */
    bool ffmpeg;
};

enum { DOCTOR_ADDRESSES = 16, DOCTOR_ADDRESS = 64, DOCTOR_TEXT = 16 * 1024 };

struct doctor_plan {
    struct doctor_report report; /* the rows so far */
    struct conf *conf;           /* texts below are its own, or in the arena */
    struct conf_arena *arena;
    const char *root;
    bool serving, udp, core_dump;
    int rtc_port; /* of WebRTC; 0: it is off */
    bool sound;   /* of it is to be converted */
    struct conf_list candidates;                /* as written */
    char own[DOCTOR_ADDRESSES][DOCTOR_ADDRESS]; /* addresses of interfaces */
    size_t own_n;
    long connections, reserve; /* max_connections, limits.api_reserve */
    long sessions;             /* of services over datagrams that have a limit */
    unsigned workers;
    const char *pid_file;
    struct rlimit files, core;
    struct doctor_port *port;
    struct doctor_tls *tls;
    struct doctor_path *path;
    struct doctor_program *program;
    size_t port_n, tls_n, path_n, program_n;
    char text[DOCTOR_TEXT]; /* the file that is being read */
};

/* Does not block. */
struct doctor_plan *doctor_plan_new(struct conf *c, const struct doctor_how *how);
void doctor_plan_free(void *plan); /* any thread */

/* A row of the report, and what to do about it. */
#define ADD(p, ...) doctor_add(&(p)->report, __VA_ARGS__)
#define ADVISE(p, ...) doctor_advise(&(p)->report, __VA_ARGS__)

/* A small file below root into p->text; false if it cannot be read. */
bool doctor_file(struct doctor_plan *p, const char *path);
/* A number of bytes as "1.5 GB". */
const char *doctor_bytes(int64_t n, char buf[16]);

void doctor_check_machine(struct doctor_plan *p); /* limits, memory, clock, cores, the kernel */
void doctor_check_ports(struct doctor_plan *p);
void doctor_check_certs(struct doctor_plan *p);
void doctor_check_paths(struct doctor_plan *p);
void doctor_check_programs(struct doctor_plan *p);
void doctor_check_candidates(struct doctor_plan *p); /* of WebRTC */

/* 0: it can be bound; else errno. `type` is SOCK_STREAM or SOCK_DGRAM; host "" is any address. */
int doctor_try_port(const char *host, int port, int type);

#endif
