/* SPDX-License-Identifier: MIT */
/* job_log.c - the output of a program. */
#include "sink/program/job_log.h"

#include "base/log.h"
#include "base/log_clean.h"
#include "base/must.h"
#include "sink/store/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_WAITING = 64 * 1024, LONGEST = 4096 }; /* pending bytes; bytes of a line */
enum { LOG_MODE = 0640 }; /* not readable by all, since command lines contain tokens */

struct job_log {
    struct disk_lane lane;
    char *path;
    char *wait;         /* text that was not put yet */
    size_t wait_size;
    unsigned left_out;  /* lines dropped for lack of space */
    char part[LONGEST]; /* an incomplete line */
    size_t part_size;
    char line[JOB_LOG_LINE], counter[JOB_LOG_LINE];
    bool closed, told;
};

struct writing {
    struct disk_job job; /* first */
    struct job_log *log;
    char *path, *text;
    size_t size;
};

struct job_log *job_log_open(struct disk *disk, const char *path)
{
    struct job_log *l = must(calloc(1, sizeof(*l)));

    if (path)
        l->path = must_dup(path);
    disk_lane_init(&l->lane, disk);
    return l;
}

static void free_log(struct job_log *l)
{
    free(l->path);
    free(l->wait);
    free(l);
}

/* ---- the file */

/* On a helper thread. */
static void run(struct disk_job *job)
{
    struct writing *w = (struct writing *)job;
    char old[4096];
    struct stat st;
    int fd;

    if (stat(w->path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > JOB_LOG_MOST &&
        snprintf(old, sizeof(old), "%s.1", w->path) < (int)sizeof(old))
        (void)rename(w->path, old);
    fd = disk_open(job, w->path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    (void)disk_write(job, fd, w->text, w->size);
    (void)close(fd);
}

static void put(struct job_log *l);

static void done(struct disk_job *job)
{
    struct writing *w = (struct writing *)job;
    struct job_log *l = w->log;

    if (job->error && !l->told) {
        errno = job->error;
        log_warn("cannot write the log of a program to %s: %s: %s", w->path, job->what,
                 strerror(job->error));
    }
    l->told = job->error != 0;
    free(w->path);
    free(w->text);
    free(w);
    if (l->wait_size > 0)
        put(l);
    else if (l->closed)
        free_log(l);
}

static void put(struct job_log *l)
{
    struct writing *w = must(calloc(1, sizeof(*w)));

    w->path = must_dup(l->path);
    w->job = (struct disk_job){ .run = run, .done = done, .bytes = l->wait_size,
                                .mode = LOG_MODE };
    w->log = l;
    w->text = l->wait;
    w->size = l->wait_size;
    l->wait = NULL;
    l->wait_size = 0;
    (void)disk_put(&l->lane, &w->job, true); /* MOST_WAITING limits it */
}

static void add(struct job_log *l, const char *text, size_t size)
{
    char note[64];
    size_t n = 0;

    if (!l->path)
        return;
    if (l->wait_size + size + sizeof(note) > MOST_WAITING) {
        l->left_out++;
        return;
    }
    if (l->left_out)
        n = (size_t)snprintf(note, sizeof(note), "(%u lines left out)\n", l->left_out);
    l->left_out = 0;
    l->wait = must(realloc(l->wait, l->wait_size + n + size + 1));
    memcpy(l->wait + l->wait_size, note, n);
    memcpy(l->wait + l->wait_size + n, text, size);
    l->wait[l->wait_size + n + size] = '\n';
    l->wait_size += n + size + 1;
    if (l->lane.jobs == 0)
        put(l);
}

void job_log_note(struct job_log *l, const char *line)
{
    add(l, line, strlen(line));
}

/* ---- lines */

static void keep(char to[JOB_LOG_LINE], const char *text, size_t size)
{
    size_t n = size < JOB_LOG_LINE ? size : JOB_LOG_LINE - 1;

    char *shown;

    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
    to[n] = '\0';
    shown = log_hide_keys(to, false);
    (void)snprintf(to, JOB_LOG_LINE, "%s", shown);
    free(shown);
}

static void end_line(struct job_log *l)
{
    if (l->part_size > 0) {
        keep(l->line, l->part, l->part_size);
        add(l, l->part, l->part_size);
    }
    l->part_size = 0;
}

static void one(struct job_log *l, char c)
{
    if (l->part_size > 0 && l->part[l->part_size - 1] == '\r') {
        if (c != '\n') /* "\r\n" is the end of a line, not of a counter */
            keep(l->counter, l->part, l->part_size - 1);
        l->part_size = c == '\n' ? l->part_size - 1 : 0;
    }
    if (c == '\n')
        end_line(l);
    else if (l->part_size < sizeof(l->part))
        l->part[l->part_size++] = c;
}

void job_log_said(void *log, const char *text, size_t size)
{
    struct job_log *l = log;

    for (size_t i = 0; i < size; i++)
        one(l, text[i]);
    if (l->part_size > 1 && l->part[l->part_size - 1] == '\r') /* does not wait for the next byte */
        keep(l->counter, l->part, l->part_size - 1);
}

void job_log_end(struct job_log *l)
{
    if (l->part_size > 0)
        one(l, '\n');
}

const char *job_log_line(const struct job_log *l)
{
    return l->line;
}

const char *job_log_counter(const struct job_log *l)
{
    return l->counter;
}

void job_log_close(struct job_log *l)
{
    job_log_end(l);
    if (l->lane.jobs > 0)
        l->closed = true;
    else
        free_log(l);
}
