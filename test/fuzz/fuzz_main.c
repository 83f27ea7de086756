/* SPDX-License-Identifier: MIT */
/* fuzz_main.c - run a LLVMFuzzerTestOneInput() target without libFuzzer.
 *
 *   target FILE|DIR...          replay these inputs, `make test-fuzz-seeds`
 *   target -r DIR               the same; fails if there is none
 *   target -n RUNS DIR          change the inputs of DIR at random, keep those that reach new
 *   target -t SECONDS DIR       branches or cause more work than any before, `make fuzz`
 *
 * Coverage comes from gcc's -fsanitize-coverage=trace-pc in all objects but the drivers. An
 * input that is written to $FUZZ_FOUND<number> (replay.h) belongs in the corpus, with its fix.
 */
#include "fuzz.h"
#include "mutate.h"
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void __sanitizer_cov_trace_pc(void);
void __sanitizer_set_death_callback(void (*fn)(void));
const char *__asan_default_options(void);
extern char __executable_start; /* the linker's */

enum {
    INPUT_SIZE = 64 * 1024, /* for targets without their own limit */
    CORPUS_SIZE = 8192,
    MAP_SIZE = 1 << 21, /* an entry for each 4 bytes of 8 MB of code */
};

static uint8_t seen[MAP_SIZE]; /* per branch: which magnitudes of hits were reached, as bits */
static uint8_t hits[MAP_SIZE]; /* in this run */
static uint32_t touched[MAP_SIZE];
static size_t touched_count, edges;
static uint64_t steps, most_steps; /* branches taken in this run, and in the one with most */
static struct input corpus[CORPUS_SIZE];
static size_t corpus_count;
static int64_t slowest, used; /* by one run, by all; in microseconds of CPU time */
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

/* Runs are short: freed memory need not be quarantined for long, and reused memory is
 * already mapped. */
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16:malloc_context_size=12";
}

/* Merges the coverage of this run; returns whether any of it is new. */
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

/* ---- one run */

/* In a buffer of exactly its size, so the sanitizer detects any over-read. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    int64_t took;

    memcpy(exact, data, size);
    took = replay_run(LLVMFuzzerTestOneInput, exact, size);
    if (took > slowest)
        slowest = took;
    used += took;
    if (new_reach() && corpus_count < CORPUS_SIZE)
        corpus[corpus_count++] = (struct input){ exact, size };
    else
        free(exact);
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
    printf("%ld runs, %lld per second of processor time, slowest %lld ms, %zu inputs kept, "
           "%zu edges covered, no crash\n", done, (long long)(done * 1000000 / (used + 1)),
           (long long)slowest / 1000, corpus_count, edges);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    long number = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
    size_t replayed = 0;

    replay_init();
    __sanitizer_set_death_callback(replay_save);
    replay_warm_up(LLVMFuzzerTestOneInput);
    new_reach();
    most_steps = 0;
    if (argc == 4 && (strcmp(how, "-n") == 0 || strcmp(how, "-t") == 0)) {
        mutate_seed((uint64_t)time(NULL) << 20 ^ (uint64_t)getpid());
        replayed = replay_files(argv[3], run);
        used = 0;
        fuzz(number, how[1] == 't' ? number : 0);
    } else {
        for (int i = strcmp(how, "-r") == 0 ? 2 : 1; i < argc; i++)
            replayed += replay_files(argv[i], run);
        printf("%zu inputs, no crash\n", replayed);
    }
    for (size_t i = 0; i < corpus_count; i++)
        free(corpus[i].data);
    return replayed > 0 || how[0] != '-' ? 0 : 1;
}
