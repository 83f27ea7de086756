/* SPDX-License-Identifier: MIT */
/* fuzz_main.c - run a LLVMFuzzerTestOneInput() target without libFuzzer.
 *
 *   target FILE...            replay these inputs (regression: `make check-fuzz`)
 *   target -n RUNS CORPUS     change inputs of CORPUS at random, keep those that
 *                             reach new branches (needs -fsanitize-coverage=trace-pc,
 *                             which gcc has; this file is built without it)
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __sanitizer_cov_trace_pc(void);

enum { INPUT_SIZE = 4096, CORPUS_SIZE = 4096 };

static uint8_t hit[1 << 16];
static size_t new_hits;
static struct { uint8_t *data; size_t size; } corpus[CORPUS_SIZE];
static size_t corpus_count;
static uint64_t seed = 88172645463325252u;

void __sanitizer_cov_trace_pc(void)
{
    uint8_t *h = &hit[((uintptr_t)__builtin_return_address(0) >> 1) & 0xffff];

    if (!*h) {
        *h = 1;
        new_hits++;
    }
}

static uint32_t rnd(uint32_t n) /* xorshift64 */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed % n);
}

static size_t load(const char *path, uint8_t *buf)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(buf, 1, INPUT_SIZE, f) : 0;

    if (f)
        fclose(f);
    return n;
}

/* Run one input in a buffer of its exact size, so the sanitizer sees any over-read. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);

    memcpy(exact, data, size);
    new_hits = 0;
    (void)LLVMFuzzerTestOneInput(exact, size);
    if (new_hits && corpus_count < CORPUS_SIZE) {
        corpus[corpus_count].data = exact;
        corpus[corpus_count++].size = size;
    } else {
        free(exact);
    }
}

static size_t mutate(uint8_t *buf, size_t size)
{
    for (uint32_t edits = 1 + rnd(4); edits > 0; edits--) {
        size_t at = size ? rnd((uint32_t)size) : 0;

        switch (rnd(5)) {
        case 0: /* cut */
            size = at;
            break;
        case 1: /* flip a bit */
            if (size)
                buf[at] ^= (uint8_t)(1u << rnd(8));
            break;
        case 2: /* an extreme byte */
            if (size)
                buf[at] = (uint8_t)"\x00\x01\x7f\x80\xff"[rnd(5)];
            break;
        case 3: /* double the tail */
            if (size && size + (size - at) <= INPUT_SIZE) {
                memmove(buf + size, buf + at, size - at);
                size += size - at;
            }
            break;
        default: /* a random byte more */
            if (size < INPUT_SIZE)
                buf[size++] = (uint8_t)rnd(256);
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    static uint8_t buf[INPUT_SIZE];
    struct dirent *e;
    DIR *dir;

    if (argc != 4 || strcmp(argv[1], "-n") != 0) {
        for (int i = 1; i < argc; i++)
            run(buf, load(argv[i], buf));
        printf("%d inputs, no crash\n", argc - 1);
        return 0;
    }
    dir = opendir(argv[3]);
    while (dir && (e = readdir(dir))) {
        char path[4096];

        snprintf(path, sizeof(path), "%s/%s", argv[3], e->d_name);
        if (e->d_name[0] != '.')
            run(buf, load(path, buf));
    }
    if (dir)
        closedir(dir);
    if (corpus_count == 0)
        run(buf, 0);
    for (long i = 0, runs = atol(argv[2]); i < runs; i++) {
        size_t k = rnd((uint32_t)corpus_count);

        memcpy(buf, corpus[k].data, corpus[k].size);
        run(buf, mutate(buf, corpus[k].size));
    }
    printf("%s runs, %zu inputs kept, no crash\n", argv[2], corpus_count);
    for (size_t i = 0; i < corpus_count; i++)
        free(corpus[i].data);
    return 0;
}
