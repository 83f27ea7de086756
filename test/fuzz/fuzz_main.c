/* SPDX-License-Identifier: MIT */
/* fuzz_main.c - run a LLVMFuzzerTestOneInput() target without libFuzzer.
 *
 *   target FILE|DIR...          replay these inputs, `make test-fuzz-seeds`
 *   target -r DIR               the same; fails when there is none
 *   target -n RUNS DIR          change the inputs of DIR at random, keep those that reach new
 *   target -t SECONDS DIR       branches, `make fuzz`
 *
 * Coverage comes from gcc's -fsanitize-coverage=trace-pc in everything but this file. An input that
 * crashes, or takes longer than HANG seconds, is written to $FUZZ_FOUND<number>; it belongs into
 * the corpus, with its repair.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __sanitizer_cov_trace_pc(void);
void __sanitizer_set_death_callback(void (*fn)(void));

enum { INPUT_SIZE = 64 * 1024, CORPUS_SIZE = 8192, MAP_SIZE = 1 << 16, HANG = 20 };

struct input {
    uint8_t *data;
    size_t size;
};

static uint8_t seen[MAP_SIZE]; /* per branch: which magnitudes of hits were reached, as bits */
static uint8_t hits[MAP_SIZE]; /* in this run */
static uint16_t touched[MAP_SIZE];
static size_t touched_count;
static struct input corpus[CORPUS_SIZE];
static size_t corpus_count, replayed;
static struct input current;
static uint64_t seed = 88172645463325252u;

void __sanitizer_cov_trace_pc(void)
{
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    uint16_t at = (uint16_t)((pc >> 1) ^ (pc >> 17));

    if (hits[at] == 0)
        touched[touched_count++] = at;
    if (hits[at] < 255)
        hits[at]++;
}

/* Take over what this run reached; was any of it new? */
static int new_reach(void)
{
    int fresh = 0;

    for (size_t i = 0; i < touched_count; i++) {
        unsigned n = hits[touched[i]];
        uint8_t bit = (uint8_t)(n < 4 ? 1u << (n - 1) : n < 8 ? 8 : n < 32 ? 16 : n < 255 ? 32 : 64);

        fresh |= !(seen[touched[i]] & bit);
        seen[touched[i]] |= bit;
        hits[touched[i]] = 0;
    }
    touched_count = 0;
    return fresh;
}

static uint32_t rnd(uint32_t n) /* xorshift64 */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 16) % n);
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
    (void)sig;
    fprintf(stderr, "an input takes longer than %d seconds\n", HANG);
    save_current();
    _exit(1);
}

/* Run one input in a buffer of its exact size, so the sanitizer sees any over-read. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);

    memcpy(exact, data, size);
    current = (struct input){ exact, size };
    alarm(HANG);
    (void)LLVMFuzzerTestOneInput(exact, size);
    alarm(0);
    if (new_reach() && corpus_count < CORPUS_SIZE)
        corpus[corpus_count++] = current;
    else
        free(exact);
    current.data = NULL;
}

/* Replay a file, or all files below a folder. */
static void replay(const char *path)
{
    static uint8_t buf[INPUT_SIZE];
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

/* Put a piece of another input somewhere. */
static size_t graft(uint8_t *buf, size_t size)
{
    const struct input *other = &corpus[rnd((uint32_t)corpus_count)];
    size_t at = rnd((uint32_t)size + 1), from, n;

    if (other->size == 0)
        return size;
    from = rnd((uint32_t)other->size);
    n = 1 + rnd((uint32_t)(other->size - from));
    if (at + n > INPUT_SIZE)
        n = INPUT_SIZE - at;
    memcpy(buf + at, other->data + from, n);
    return at + n > size ? at + n : size;
}

static size_t edit(uint8_t *buf, size_t size)
{
    static const uint32_t lengths[] = { 0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff,
                                        0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xffffffff };
    size_t at = size ? rnd((uint32_t)size) : 0, n;
    uint32_t value;

    switch (rnd(8)) {
    case 0: /* cut */
        return at;
    case 1: /* flip a bit */
        if (size)
            buf[at] ^= (uint8_t)(1u << rnd(8));
        return size;
    case 2: /* a length that is an edge, of 1 to 4 bytes, big-endian */
        value = lengths[rnd(sizeof(lengths) / sizeof(*lengths))];
        n = 1 + rnd(4);
        for (size_t i = 0; i < n && at + i < size; i++)
            buf[at + i] = (uint8_t)(value >> 8 * (n - 1 - i));
        return size;
    case 3: /* double the tail */
        if (size && size + (size - at) <= INPUT_SIZE) {
            memmove(buf + size, buf + at, size - at);
            size += size - at;
        }
        return size;
    case 4: /* take a piece out */
        if (size) {
            n = 1 + rnd((uint32_t)(size - at));
            memmove(buf + at, buf + at + n, size - at - n);
            size -= n;
        }
        return size;
    case 5:
        return graft(buf, size);
    case 6: /* a little more or less */
        if (size)
            buf[at] = (uint8_t)(buf[at] + rnd(9) - 4);
        return size;
    default: /* a random byte more */
        if (size < INPUT_SIZE)
            buf[size++] = (uint8_t)rnd(256);
        return size;
    }
}

static void fuzz(long runs, time_t until)
{
    static uint8_t buf[INPUT_SIZE];
    long done = 0;

    if (corpus_count == 0)
        run(buf, 0);
    if (corpus_count == 0) /* not even one branch: built without coverage */
        abort();
    while (until ? time(NULL) < until : done < runs) {
        const struct input *from = &corpus[rnd((uint32_t)corpus_count)];
        size_t size = from->size;

        memcpy(buf, from->data, size);
        for (uint32_t edits = 1 + rnd(5); edits > 0; edits--)
            size = edit(buf, size);
        run(buf, size);
        done++;
    }
    printf("%ld runs, %zu inputs kept, no crash\n", done, corpus_count);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    long number = argc == 4 ? strtol(argv[2], NULL, 10) : 0;

    signal(SIGALRM, on_hang);
    __sanitizer_set_death_callback(save_current);
    if (argc == 4 && (strcmp(how, "-n") == 0 || strcmp(how, "-t") == 0)) {
        seed ^= (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
        replay(argv[3]);
        fuzz(number, how[1] == 't' ? time(NULL) + number : 0);
    } else {
        for (int i = strcmp(how, "-r") == 0 ? 2 : 1; i < argc; i++)
            replay(argv[i]);
        printf("%zu inputs, no crash\n", replayed);
    }
    for (size_t i = 0; i < corpus_count; i++)
        free(corpus[i].data);
    return replayed > 0 || how[0] != '-' ? 0 : 1;
}
