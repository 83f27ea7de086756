/* SPDX-License-Identifier: MIT */
/* direct.c - reads past the kernel's memory, by the kernel's own asynchronous reads (io_submit(2)):
 * they are there since Linux 2.6, need no library, and are open where io_uring is shut. */
#include "co/os/direct.h"

#include "base/thread_own.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { AT_ONCE = 64 };

int co_direct_open(int fd)
{
    char path[40];

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_DIRECT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* ---- one by one, where there is nothing else */

static void read_one(struct co_direct_read *r)
{
    ssize_t n;

    do
        n = r->n > 0 ? preadv(r->fd, r->v, r->n, r->at) : 0;
    while (n < 0 && errno == EINTR);
    r->got = n < 0 ? -errno : n;
}

/* ---- all at once */

static _Thread_local struct own {
    aio_context_t context; /* 0: the kernel has none for us */
} *own;

static void end_own(void *p)
{
    const struct own *o = p;

    if (o->context)
        (void)syscall(SYS_io_destroy, o->context);
}

static bool has_context(void)
{
    if (!own) {
        own = thread_own(sizeof(*own), end_own);
        if (syscall(SYS_io_setup, AT_ONCE, &own->context) < 0)
            own->context = 0;
    }
    return own->context != 0;
}

/* How many of them are under way. */
static unsigned submit(struct co_direct_read *v, unsigned n)
{
    struct iocb all[AT_ONCE], *list[AT_ONCE];
    unsigned sent = 0;
    long some;

    for (unsigned i = 0; i < n; i++) {
        all[i] = (struct iocb){
            .aio_data = i, .aio_lio_opcode = IOCB_CMD_PREADV, .aio_fildes = (uint32_t)v[i].fd,
            .aio_buf = (uintptr_t)v[i].v, .aio_nbytes = (uint64_t)v[i].n, .aio_offset = v[i].at,
        };
        list[i] = &all[i];
    }
    do {
        some = syscall(SYS_io_submit, own->context, (long)(n - sent), list + sent);
        sent += some > 0 ? (unsigned)some : 0;
    } while (sent < n && some > 0);
    return sent;
}

/* Not before all have ended: until then the memory is the kernel's. */
static void await(struct co_direct_read *v, unsigned n)
{
    struct io_event events[AT_ONCE];

    while (n > 0) {
        long some = syscall(SYS_io_getevents, own->context, (long)n, (long)n, events, NULL);

        for (long i = 0; i < some; i++)
            v[events[i].data].got = (ssize_t)events[i].res;
        n -= some > 0 ? (unsigned)some : 0;
    }
}

static void read_some(struct co_direct_read *v, unsigned n)
{
    unsigned sent = n > 1 && has_context() ? submit(v, n) : 0;

    for (unsigned i = sent; i < n; i++)
        read_one(&v[i]);
    await(v, sent);
}

void co_direct_read(struct co_direct_read *v, unsigned n)
{
    for (unsigned i = 0; i < n; i += AT_ONCE)
        read_some(v + i, n - i < AT_ONCE ? n - i : AT_ONCE);
}
