/* SPDX-License-Identifier: MIT */
/* thread_own.c - memory that belongs to one thread and is freed when the thread ends. */
#include "base/thread_own.h"

#include "base/must.h"

#include <pthread.h>

struct own {
    struct own *next; /* the previous allocation */
    void (*end)(void *p);
    _Alignas(max_align_t) unsigned char bytes[];
};

static pthread_key_t key; /* key of a thread's list; its destructor runs at the end of the thread */
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void on_end(void *list)
{
    struct own *next;

    for (struct own *o = list; o; o = next) {
        next = o->next;
        if (o->end)
            o->end(o->bytes);
        free(o);
    }
}

static void make_key(void)
{
    must_be(pthread_key_create(&key, on_end) == 0);
}

void *thread_own(size_t size, void (*end)(void *p))
{
    struct own *o = must(calloc(1, sizeof(*o) + size));

    (void)pthread_once(&key_once, make_key);
    o->end = end;
    o->next = pthread_getspecific(key);
    must_be(pthread_setspecific(key, o) == 0);
    return o->bytes;
}
