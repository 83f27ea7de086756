/* SPDX-License-Identifier: MIT */
/* thread.h - runs blocking work (name resolution, large files) on a helper thread while the
 * coroutine waits.
 *
 * A function that runs on a helper thread must not touch anything of the coroutine thread: no
 * err_t, no log lines, no co_*, no shared objects. It gets one argument, which holds copies of all
 * its input and takes its results.
 */
#ifndef CO_THREAD_H
#define CO_THREAD_H

#include "base/err.h"
#include "co/co.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each purpose has its own pool, so slow work of one kind does not delay the others. A name server
 * that hangs delays no file. A full or slow disk (DISK for writes; STORE for recordings, often on a
 * separate disk) delays neither reads (FILE, VOD) nor writes to another disk. Signature checks for
 * untrusted clients (KEY) and audio conversion (AUDIO) delay nothing else. Threads are created on
 * demand. All schedulers of the process share the pools. */
enum co_pool {
    CO_POOL_DNS, CO_POOL_FILE, CO_POOL_DISK, CO_POOL_STORE, CO_POOL_TLS, CO_POOL_VOD, CO_POOL_KEY,
    CO_POOL_AUDIO, CO_POOLS,
};

/* Name resolution waits for remote servers, not for a processor, so it has more threads. All
 * schedulers share the threads and the queue. With several schedulers, each other pool has at least
 * one thread per scheduler, and the queue grows by the same factor. */
enum { CO_POOL_THREADS = 4, CO_POOL_DNS_THREADS = 32, CO_POOL_QUEUE = 256 };

/* Runs fn(arg) on a thread of the pool and waits until it has returned. Yields.
 * On any error the caller no longer owns arg: drop(arg) was called or will be, on any thread, as
 * soon as fn is not running. It should do little more than free(). ERR_TOO_MANY: the queue is full;
 * ERR_IO_TIMEOUT: it took too long; ERR_STOPPED; ERR_SYSTEM. */
err_t co_thread_run(enum co_pool pool, void (*fn)(void *arg), void *arg,
                    void (*drop)(void *arg), co_usec timeout)
    __attribute__((warn_unused_result));

/* Same as co_thread_run(), in a queue such as one per disk: a queue uses at most half of the pool's
 * threads at a time, so one that is stuck does not block the others. 0: no queue. */
err_t co_thread_run_queue(enum co_pool pool, uint64_t queue, void (*fn)(void *arg), void *arg,
                         void (*drop)(void *arg), co_usec timeout)
    __attribute__((warn_unused_result));

/* Sets the maximum number of threads of the pool, at most CO_POOL_DNS_THREADS. Running threads
 * stay. Any thread. */
void co_threads_limit(enum co_pool pool, int n);
/* Raises the maximum to n; never lowers it, so the highest request among users of a shared pool
 * applies. */
void co_threads_want(enum co_pool pool, int n);

/* Ends all threads, once no coroutine runs any more. Blocks until they have ended, or until the
 * timeout if some are busy; those end with the process. */
void co_threads_end(co_usec timeout);

/* ---- pinning: threads that stay on some cores, and their children, which need not. */

/* Returns the cores that the process was allowed to use at the first call or the first pinning;
 * empty when the system does not report them. Any thread. */
const cpu_set_t *co_pin_allowed(void);
/* Pins the calling thread to these cores. Returns false on failure; errno has the reason. */
bool co_pin(const cpu_set_t *cores);
/* Gives all cores back to a thread or process that was started by a pinned thread. Makes only
 * system calls, so a child that shares our memory may call it. */
void co_unpin(void);

#endif
