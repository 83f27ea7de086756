/* SPDX-License-Identifier: MIT */
/* text.c - the hash of names in tables. */
#include "base/text.h"

#include "base/siphash.h"

#include <pthread.h>

static uint8_t secret[SIPHASH_KEY];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_secret(void)
{
    siphash_new_key(secret);
}

uint32_t text_hash(const char *text)
{
    (void)pthread_once(&once, make_secret);
    return (uint32_t)siphash(secret, text, strlen(text));
}
