/* SPDX-License-Identifier: MIT */
/* seeds.c - replays inputs in the normal build: one program with all targets.
 *
 *   seeds CORPUS [TARGET...]    the files of CORPUS/TARGET; fails if there is none
 *
 * Each target has a process of its own. No memory follows an input: a read after its end is a
 * crash without a sanitizer, too.
 */
#include "fuzz.h"
#include "replay.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define X(name) fuzz_target target_##name;
FUZZ_TARGETS
#undef X

static const struct {
    const char *name;
    fuzz_target *run;
} targets[] = {
#define X(name) { #name, target_##name },
    FUZZ_TARGETS
#undef X
};

enum { TARGETS = sizeof(targets) / sizeof(targets[0]) };

static fuzz_target *target;

/* The page after the input cannot be read. */
static void run_before_a_gap(const uint8_t *data, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
    uint8_t *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED || mprotect(map + room, page, PROT_NONE) != 0) {
        perror("mmap");
        _exit(1);
    }
    memcpy(map + room - size, data, size);
    (void)replay_run(target, map + room - size, size);
    munmap(map, room + page);
}

static int replay_target(size_t i, const char *corpus)
{
    char path[4096];
    size_t n;

    snprintf(path, sizeof(path), "%s/%s", corpus, targets[i].name);
    target = targets[i].run;
    replay_init();
    replay_warm_up(target);
    n = replay_files(path, run_before_a_gap);
    printf("%s: %zu inputs, no crash\n", targets[i].name, n);
    return n == 0;
}

static int replay_apart(size_t i, const char *corpus)
{
    int status = 1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(replay_target(i, corpus) || fflush(stdout));
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "%s: status %d\n", targets[i].name, status);
        return 1;
    }
    return 0;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], name) == 0)
            return true;
    }
    return argc == 2;
}

int main(int argc, char **argv)
{
    size_t bad = 0, ran = 0;

    if (argc < 2)
        return 2;
    for (size_t i = 0; i < TARGETS; i++) {
        if (is_wanted(targets[i].name, argc, argv)) {
            bad += (size_t)replay_apart(i, argv[1]);
            ran++;
        }
    }
    return bad > 0 || ran == 0;
}
