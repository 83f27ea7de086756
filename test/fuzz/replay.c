/* SPDX-License-Identifier: MIT */
/* replay.c - runs a target with an input, or with all files of a folder. */
#include "replay.h"

#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { HANG_MS = 200, WAIT = 20 };

static const uint8_t *current;
static size_t current_size;
static uint8_t buf[FUZZ_LARGEST];

void replay_save(void)
{
    const char *prefix = getenv("FUZZ_FOUND");
    char path[4096];
    int fd;

    if (!prefix || !current)
        return;
    snprintf(path, sizeof(path), "%s%ld", prefix, (long)getpid());
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd >= 0) {
        if (write(fd, current, current_size) == (ssize_t)current_size)
            fprintf(stderr, "input of %zu bytes kept in %s\n", current_size, path);
        close(fd);
    }
}

static void on_hang(int sig)
{
    if (sig == SIGPROF)
        fprintf(stderr, "an input of %zu bytes takes more than %d ms of processor time\n",
                current_size, HANG_MS);
    else
        fprintf(stderr, "an input of %zu bytes is not done in %d seconds\n", current_size, WAIT);
    replay_save();
    _exit(1);
}

/* An assertion. */
static void on_abort(int sig)
{
    replay_save();
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
}

void replay_init(void)
{
    (void)signal(SIGALRM, on_hang);
    (void)signal(SIGPROF, on_hang);
    (void)signal(SIGABRT, on_abort);
}

static int64_t processor_time(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void watch(int hang_ms, unsigned wait)
{
    const struct itimerval t = { .it_value = { hang_ms / 1000, hang_ms % 1000 * 1000 } };

    setitimer(ITIMER_PROF, &t, NULL);
    alarm(wait);
}

int64_t replay_run(fuzz_target *target, const uint8_t *data, size_t size)
{
    int64_t began = processor_time();

    current = data;
    current_size = size;
    watch(HANG_MS, WAIT);
    (void)target(data, size);
    watch(0, 0);
    current = NULL;
    return processor_time() - began;
}

void replay_warm_up(fuzz_target *target)
{
    alarm(WAIT);
    (void)target((const uint8_t *)"", 0);
    alarm(0);
}

size_t replay_files(const char *path, void (*fn)(const uint8_t *data, size_t size))
{
    struct dirent *e;
    DIR *dir = opendir(path);
    size_t n = 0;
    FILE *f;

    if (!dir) {
        f = fopen(path, "rb");
        if (!f) {
            perror(path);
            exit(1);
        }
        fn(buf, fread(buf, 1, sizeof(buf), f));
        fclose(f);
        return 1;
    }
    while ((e = readdir(dir))) {
        char below[4096];

        snprintf(below, sizeof(below), "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            n += replay_files(below, fn);
    }
    closedir(dir);
    return n;
}
