/* SPDX-License-Identifier: MIT */
/* random_id.c - random ids from the system's random numbers, which are read in batches. */
#include "base/random_id.h"

#include "base/must.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

static _Thread_local unsigned char pool[256];
static _Thread_local size_t left;

static void fill(void)
{
    ssize_t n;

    do {
        n = getrandom(pool, sizeof(pool), 0);
    } while (n < 0 && errno == EINTR);
    must_be(n == (ssize_t)sizeof(pool)); /* up to 256 bytes are never cut short */
    left = sizeof(pool);
}

/* Returns the next random byte and clears it in the pool. */
static unsigned char next(void)
{
    unsigned char byte;

    if (left == 0)
        fill();
    byte = pool[--left];
    pool[left] = 0;
    return byte;
}

void random_id(char *out, size_t n)
{
    static const char set[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    enum { LETTERS = sizeof(set) - 1, FAIR = 256 / LETTERS * LETTERS };

    for (size_t i = 0; i < n;) {
        unsigned char byte = next();

        if (byte < FAIR)
            out[i++] = set[byte % LETTERS];
    }
    out[n] = '\0';
}
