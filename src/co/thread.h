/* SPDX-License-Identifier: MIT */
/* thread.h - run what blocks (names, big files) on a helper thread and wait for it as a coroutine.
 *
 * A function that runs there must not touch anything of the coroutine thread: no err_t, no log
 * lines, no co_*, no shared objects. It gets one argument, which holds copies of all it needs and
 * takes what it gives back.
 */
#ifndef CO_THREAD_H
#define CO_THREAD_H

#include "base/err.h"
#include "co/co.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each purpose has its own threads, so a name server that hangs holds up no file, and a disk that
 * takes no more writes (DISK; STORE: what is kept is often on one of its own) holds up nobody who
 * reads (FILE; VOD: what plays), or writes to the other, and keys of strangers (KEY) or sound that
 * is converted (SOUND) nobody at all.
 * The threads are made when they are first needed; those of the process are the same for all of its
 * schedulers. */
enum co_pool {
    CO_POOL_DNS, CO_POOL_FILE, CO_POOL_DISK, CO_POOL_STORE, CO_POOL_TLS, CO_POOL_VOD, CO_POOL_KEY,
    CO_POOL_AUDIO, CO_POOLS,
};

/* Names wait for others' servers, not for a processor: they have more threads. The schedulers of
 * the process share the threads and the queue; where there are several, the threads of other pools
 * are at least as many, and so many times as much may wait. */
enum { CO_POOL_THREADS = 4, CO_POOL_DNS_THREADS = 32, CO_POOL_QUEUE = 256 };

/* Run fn(arg) on a thread of the pool, wait until it has returned. Yields.
 * On any error arg is not the caller's any more: drop(arg) was called or will be, on whichever
 * thread and as soon as fn does not run, so it does little more than free(). ERR_TOO_MANY: the
 * queue is full; ERR_IO_TIMEOUT: it took too long; ERR_STOPPED; ERR_SYSTEM. */
err_t co_thread_run(enum co_pool pool, void (*fn)(void *arg), void *arg,
                    void (*drop)(void *arg), co_usec timeout)
    __attribute__((warn_unused_result));

/* The same in a lane, such as all that reads from one disk: no lane has more than half of the
 * pool's threads at a time, so one where nothing goes on does not hold up the others. 0: none. */
err_t co_thread_run_lane(enum co_pool pool, uint64_t lane, void (*fn)(void *arg), void *arg,
                         void (*drop)(void *arg), co_usec timeout)
    __attribute__((warn_unused_result));

/* How many threads the pool may have, at most CO_POOL_DNS_THREADS; those that are there stay. Any
 * thread. */
void co_threads_limit(enum co_pool pool, int n);
/* The same, unless it may have more already: of who shares a pool, who wants most decides. */
void co_threads_want(enum co_pool pool, int n);

/* End all threads, when no coroutine runs any more: blocks until they have ended, or until the
 * timeout with those that are in the middle of something, which end with the process. */
void co_threads_end(co_usec timeout);

/* ---- threads that stay on some cores, and what they start, which need not. */

/* The cores that the process was let run on when this was first asked, or something was pinned;
 * none when the system does not say. Any thread. */
const cpu_set_t *co_pin_allowed(void);
/* The thread that calls runs on these cores only, from now on. False: errno says why not. */
bool co_pin(const cpu_set_t *cores);
/* A thread or a process that was started by a pinned one has all cores again. Calls the system at
 * most: also a child that has our memory may. */
void co_unpin(void);

#endif
