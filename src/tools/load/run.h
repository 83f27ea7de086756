/* SPDX-License-Identifier: MIT */
/* run.h - main loop of a load tool: starts its clients on schedule, restarts them, reports.
 *
 * A client is one coroutine. It connects, calls the tool's session function, waits, and does so
 * again as -t, -d and -e say.
 */
#ifndef TOOLS_LOAD_RUN_H
#define TOOLS_LOAD_RUN_H

#include "tools/load/marker.h"
#include "tools/load/opts.h"
#include "tools/load/stat.h"
#include "tools/load/talk.h"
#include "tools/load/url.h"

struct load_run;

struct load_client {
    struct load_run *run;
    unsigned index;
    bool alive;             /* plays or publishes */
    struct load_talk talk;
    struct load_flv flv;   /* of an HTTP player */
    co_usec began;          /* this session */
    co_usec asked;          /* when it asked for media; 0: not yet */
    co_usec until;          /* when churn ends it; 0: never */
    /* media of this session; the tool counts */
    uint64_t bytes;
    uint64_t mark_bytes;    /* of them before the mark */
    co_usec mark_at;        /* when this client's rate is counted from; 0: no media yet */
    co_usec read_at;        /* when bytes came last: rates are counted from burst to burst */
    int64_t last_at;        /* µs, wall clock, of the last media; 0: none yet */
    int64_t longest_gap;    /* µs, since the mark */
    int64_t base;           /* least of arrival minus timestamp, ms */
    uint32_t last_time[2];  /* ms, of audio and video */
    uint32_t audio_step, audio_last; /* ms between messages of audio: as a rule, the last two */
    bool seen[2], have_key, have_marker, had_marker;
    struct load_marker marker; /* of the message that is being read */
    uint32_t number;            /* of the last whole one */
    void *mine;                 /* what the tool keeps of this session; its own */
};

struct load_tool {
    const char *name, *what;
    enum load_tools kind;
    const char *schemes; /* of its URLs: "http https" */
    /* Connect; NULL: load_talk_open(). Its io is in c->talk, closed by the caller. */
    err_t (*open)(struct load_client *c, const struct load_url *url, const char *bind_ip,
                  co_usec timeout);
    /* Before the first client; may be NULL. */
    err_t (*prepare)(struct load_run *run);
    /* The talk is connected. Sets c->alive once media flows; returns why it ended: NULL when
     * c->until came. Its talk is closed by the caller. */
    err_t (*session)(struct load_client *c, const struct load_url *url);
    void (*finish)(void); /* after the last client; may be NULL */
};

struct load_run {
    const struct load_tool *tool;
    struct load_opts opts;
    struct load_stat stat;
    struct load_client *clients;
    struct co_group group;
    char ip[64];          /* of the server */
    co_usec began, mark;  /* mark 0: to come */
    double cpu_at_mark;   /* s */
    int started, done;
    double media_kbps;
};

int load_main(const struct load_tool *tool, int argc, char **argv);

/* Returns whether the time of this session is over. */
bool load_is_over(const struct load_client *c);
/* Limits the timeout of the next read to the rest of the session. */
void load_limit_wait(struct load_client *c);
/* Returns the error of a read, or NULL if it is a timeout because the session is over. */
err_t load_unless_over(const struct load_client *c, err_t err)
    __attribute__((warn_unused_result));

/* Counts n received bytes of media and delays the player to the rate of --read-kbps. Yields. */
err_t load_count(struct load_client *c, size_t n) __attribute__((warn_unused_result));
/* µs until the session is over, `most` at most. */
co_usec load_left(const struct load_client *c, co_usec most);

int64_t load_wall(void); /* µs */
double load_cpu_seconds(void); /* of this process */

/* A process of this machine: process.c */
struct load_pid {
    double cpu; /* s, of all its threads */
    double kb;  /* resident */
};
bool load_pid_look(struct load_pid *out, int pid); /* false: there is no such process */

#endif
