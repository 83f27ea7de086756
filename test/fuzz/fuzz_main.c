/* SPDX-License-Identifier: MIT */
/* fuzz_main.c - run a LLVMFuzzerTestOneInput() target without libFuzzer.
 *
 *   target FILE|DIR...          replay these inputs, `make test-fuzz-seeds`
 *   target -r DIR               the same; fails when there is none
 *   target -n RUNS DIR          change the inputs of DIR at random, keep those that reach new
 *   target -t SECONDS DIR       branches or make more work than any before, `make fuzz`
 *
 * Coverage comes from gcc's -fsanitize-coverage=trace-pc in all but the drivers. An input that
 * crashes, takes more than HANG_MS of processor time, or is not done in WAIT seconds, is written to
 * $FUZZ_FOUND<number>; it belongs into the corpus, with its repair.
 */
#include "fuzz.h"
#include "mutate.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

void __sanitizer_cov_trace_pc(void);
void __sanitizer_set_death_callback(void (*fn)(void));
const char *__asan_default_options(void);
extern char __executable_start; /* the linker's */

enum {
    INPUT_SIZE = 64 * 1024, /* of targets that do not say otherwise */
    CORPUS_SIZE = 8192,
    MAP_SIZE = 1 << 21, /* a place for each 4 bytes of 8 MB of code */
    HANG_MS = 200,
    WAIT = 20,
};

static uint8_t seen[MAP_SIZE]; /* per branch: which magnitudes of hits were reached, as bits */
static uint8_t hits[MAP_SIZE]; /* in this run */
static uint32_t touched[MAP_SIZE];
static size_t touched_count, edges;
static uint64_t steps, most_steps; /* branches taken in this run, and in the one with most */
static struct input corpus[CORPUS_SIZE];
static size_t corpus_count, replayed;
static struct input current;
static int64_t slowest; /* run, in microseconds of processor time */
static uint8_t buf[FUZZ_LARGEST];

void __sanitizer_cov_trace_pc(void)
{
    uintptr_t pc = (uintptr_t)__builtin_return_address(0) - (uintptr_t)&__executable_start;
    uint32_t at = (uint32_t)(pc >> 2) % MAP_SIZE;

    steps++;
    if (hits[at] == 0)
        touched[touched_count++] = at;
    if (hits[at] < 255)
        hits[at]++;
}

/* Runs are short: what they freed need not be watched for long, and memory that is used again is
 * already there. */
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16:malloc_context_size=12";
}

/* Take over what this run reached; was any of it new? */
static int new_reach(void)
{
    int fresh = steps > most_steps + most_steps / 4;

    for (size_t i = 0; i < touched_count; i++) {
        unsigned n = hits[touched[i]];
        uint8_t bit = (uint8_t)(n < 4 ? 1u << (n - 1) : n < 8 ? 8 : n < 32 ? 16 : n < 255 ? 32 : 64);

        edges += !seen[touched[i]];
        fresh |= !(seen[touched[i]] & bit);
        seen[touched[i]] |= bit;
        hits[touched[i]] = 0;
    }
    if (steps > most_steps)
        most_steps = steps;
    touched_count = steps = 0;
    return fresh;
}

/* The sanitizers are about to end the process: keep what did it. */
static void save_current(void)
{
    const char *prefix = getenv("FUZZ_FOUND");
    char path[4096];
    int fd;

    if (!prefix || !current.data)
        return;
    snprintf(path, sizeof(path), "%s%ld", prefix, (long)getpid());
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd >= 0) {
        if (write(fd, current.data, current.size) == (ssize_t)current.size)
            fprintf(stderr, "input of %zu bytes kept in %s\n", current.size, path);
        close(fd);
    }
}

static void on_hang(int sig)
{
    if (sig == SIGPROF)
        fprintf(stderr, "an input of %zu bytes takes more than %d ms of processor time\n",
                current.size, HANG_MS);
    else
        fprintf(stderr, "an input of %zu bytes is not done in %d seconds\n", current.size, WAIT);
    save_current();
    _exit(1);
}

/* An assertion. */
static void on_abort(int sig)
{
    save_current();
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
}

/* ---- one run */

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

/* In a buffer of its exact size, so the sanitizer sees any over-read. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    int64_t took = processor_time();

    memcpy(exact, data, size);
    current = (struct input){ exact, size };
    watch(HANG_MS, WAIT);
    (void)LLVMFuzzerTestOneInput(exact, size);
    watch(0, 0);
    took = processor_time() - took;
    if (took > slowest)
        slowest = took;
    if (new_reach() && corpus_count < CORPUS_SIZE)
        corpus[corpus_count++] = current;
    else
        free(exact);
    current.data = NULL;
}

/* What a target sets up once is no part of what an input costs. */
static void warm_up(void)
{
    alarm(WAIT);
    (void)LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    alarm(0);
    new_reach();
    most_steps = 0;
}

/* Replay a file, or all files below a folder. */
static void replay(const char *path)
{
    struct dirent *e;
    DIR *dir = opendir(path);
    FILE *f;

    if (!dir) {
        f = fopen(path, "rb");
        if (!f) {
            perror(path);
            exit(1);
        }
        run(buf, fread(buf, 1, sizeof(buf), f));
        fclose(f);
        replayed++;
        return;
    }
    while ((e = readdir(dir))) {
        char below[4096];

        snprintf(below, sizeof(below), "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            replay(below);
    }
    closedir(dir);
}

/* ---- many */

/* Large ones take long: they get a small part of the time. */
static const struct input *choose(void)
{
    const struct input *from = &corpus[mutate_random((uint32_t)corpus_count)];

    for (int i = 0; i < 10 && from->size > 4096 && mutate_random(64); i++)
        from = &corpus[mutate_random((uint32_t)corpus_count)];
    return from;
}

static void fuzz(long runs, time_t seconds)
{
    size_t most = &fuzz_input_most ? fuzz_input_most : INPUT_SIZE;
    time_t begin = time(NULL);
    int64_t used = processor_time();
    long done = 0;

    if (corpus_count == 0)
        run(buf, 0);
    if (corpus_count == 0) /* not even one branch: built without coverage */
        abort();
    while (seconds ? time(NULL) < begin + seconds : done < runs) {
        const struct input *from = choose();
        size_t size = from->size < most ? from->size : most;

        memcpy(buf, from->data, size);
        for (uint32_t edits = 1 + mutate_random(5); edits > 0; edits--)
            size = mutate(buf, size, most, choose());
        run(buf, size);
        done++;
    }
    used = processor_time() - used;
    printf("%ld runs, %lld per second of processor time, slowest %lld ms, %zu inputs kept, "
           "%zu edges covered, no crash\n", done, (long long)(done * 1000000 / (used + 1)),
           (long long)slowest / 1000, corpus_count, edges);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    long number = argc == 4 ? strtol(argv[2], NULL, 10) : 0;

    signal(SIGALRM, on_hang);
    signal(SIGPROF, on_hang);
    signal(SIGABRT, on_abort);
    __sanitizer_set_death_callback(save_current);
    warm_up();
    if (argc == 4 && (strcmp(how, "-n") == 0 || strcmp(how, "-t") == 0)) {
        mutate_seed((uint64_t)time(NULL) << 20 ^ (uint64_t)getpid());
        replay(argv[3]);
        fuzz(number, how[1] == 't' ? number : 0);
    } else {
        for (int i = strcmp(how, "-r") == 0 ? 2 : 1; i < argc; i++)
            replay(argv[i]);
        printf("%zu inputs, no crash\n", replayed);
    }
    for (size_t i = 0; i < corpus_count; i++)
        free(corpus[i].data);
    return replayed > 0 || how[0] != '-' ? 0 : 1;
}
