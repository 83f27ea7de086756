/* SPDX-License-Identifier: MIT */
/* plan.h - what the doctor looks at: copies, so that a helper thread may use them. For
 * app/doctor alone.
 *
 * Functions named doctor_look_* run on that thread: plain C, no coroutines, no err_t, no log.
 */
#ifndef APP_DOCTOR_PLAN_H
#define APP_DOCTOR_PLAN_H

#include "app/doctor/doctor.h"

#include <stdint.h>
#include <sys/resource.h>

enum { DOCTOR_TEXT = 16 * 1024 };

struct doctor_port {
    char *host;  /* "": any address */
    int port;
    char *names; /* of its services: "http, api" */
    int family;  /* those of one family may share a port */
    bool clash;  /* it is written for another family too */
};

struct doctor_tls {
    char *where; /* "rtmps" */
    char *cert, *key;
};

enum doctor_path_kind {
    DOCTOR_FILE,   /* a file that we write; its folder must be there */
    DOCTOR_FOLDER, /* a folder that we write to; it is made when it is missing */
    DOCTOR_READ,   /* a file or folder that we read */
};

struct doctor_path {
    enum doctor_path_kind kind;
    char *directive, *path;
    bool guarded; /* recordings or files of a vhost that asks its players */
};

struct doctor_program {
    char *directive; /* "transcode", "ingest", "exec" */
    char *path;      /* as written, "" for ffmpeg */
    char *found;     /* what runs; NULL: there is none */
    bool ffmpeg;
    char **codecs;
    size_t codec_n;
};

/* Ports of UDP that are needed together, from the first on. */
enum { DOCTOR_DATAGRAMS = 16 };
struct doctor_datagrams {
    char host[64];      /* "": any address */
    int port;
    unsigned n;
    const char *service; /* "rtsp" */
    const char *remedy;  /* if one is taken */
};

enum { DOCTOR_ADDRESSES = 16, DOCTOR_ADDRESS = 64 };

struct doctor_plan {
    struct doctor_report report; /* the rows so far */
    struct conf_arena *arena;    /* of all texts below */
    char root[256];
    bool serving, udp, core_dump;
    struct doctor_datagrams datagrams[DOCTOR_DATAGRAMS];
    size_t datagrams_n;
    int rtc_port; /* of WebRTC; 0: it is off */
    bool sound;   /* of it is to be converted */
    char candidates[DOCTOR_ADDRESSES][DOCTOR_ADDRESS]; /* as written; none: those of interfaces */
    char own[DOCTOR_ADDRESSES][DOCTOR_ADDRESS];        /* addresses of interfaces */
    size_t candidates_n, own_n;
    long connections, reserve; /* max_connections, limits.api_reserve */
    long sessions;             /* of services over datagrams that have a limit */
    unsigned workers, strays;  /* so many of them have masks without a core of ours */
    char *pid_file;
    char **env; /* of programs */
    struct rlimit files, core;
    struct doctor_port *port;
    struct doctor_tls *tls;
    struct doctor_path *path;
    struct doctor_program *program;
    size_t port_n, tls_n, path_n, program_n;
    char text[DOCTOR_TEXT]; /* the file that is being read */
};

/* Does not block. */
struct doctor_plan *doctor_plan_new(const struct conf *c, const struct doctor_how *how);
void doctor_plan_free(void *plan); /* any thread */

/* A small file below root into p->text; false if it cannot be read. */
bool doctor_file(struct doctor_plan *p, const char *path);
/* The number that it begins with; `otherwise` without one ("max" of control groups too). */
int64_t doctor_number(struct doctor_plan *p, const char *path, int64_t otherwise);
/* A number of bytes as "1.5 GB". */
const char *doctor_bytes(int64_t n, char buf[16]);

void doctor_look_limits(struct doctor_plan *p);   /* descriptors, mappings, memory, cores */
void doctor_look_ports(struct doctor_plan *p);
void doctor_look_certs(struct doctor_plan *p);
void doctor_look_paths(struct doctor_plan *p);
void doctor_look_clock(struct doctor_plan *p);
void doctor_look_network(struct doctor_plan *p);  /* the kernel's buffers and queues */
void doctor_look_datagrams(struct doctor_plan *p); /* ports of UDP, and whether rows are cut */
void doctor_look_candidates(struct doctor_plan *p); /* of WebRTC */
void doctor_look_cards(struct doctor_plan *p);    /* of the network, and their queues */
void doctor_look_cpu(struct doctor_plan *p);
void doctor_look_programs(struct doctor_plan *p); /* are they there? */

/* Who has this port, by the kernel's tables: its pid, 0 when nobody does, -1 when it cannot be
 * told. Of TCP who listens there. */
int doctor_port_owner(struct doctor_plan *p, int port, bool udp);
/* 0: it can be bound; else errno. `type` is SOCK_STREAM or SOCK_DGRAM; host "" is any address. */
int doctor_try_port(const char *host, int port, int type);

/* The name of a program, as the kernel has it, in buf. */
const char *doctor_program_name(struct doctor_plan *p, int pid, char *buf, size_t size);
/* The server that runs by this configuration already, or 0. */
int doctor_running(const struct doctor_plan *p);

/* Ask each ffmpeg for its encoders. On a coroutine; yields. */
err_t doctor_ask_ffmpeg(struct doctor_plan *p) __attribute__((warn_unused_result));
/* Is there an encoder of that name in what `ffmpeg -encoders` wrote? */
bool doctor_has_encoder(const char *text, const char *name);

#endif
