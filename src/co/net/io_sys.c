/* SPDX-License-Identifier: MIT */
/* io_sys.c - recv(), send() and similar calls as bare system calls. */
#include "co/net/io_sys.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config.h"

#if BUILD_SANITIZER /* sanitizers intercept the C library's calls */
#define CALL(library, ...) library
#else
#define CALL(library, ...) syscall(__VA_ARGS__)
#endif

/* Keeps the call from becoming a tail jump, so our frame is there during the call. A stack walk
 * skips the caller of syscall(), which then is this function and not its caller. */
#define FRAME __asm__ volatile("")

ssize_t io_sys_recv(int fd, void *buf, size_t size, int flags)
{
    ssize_t got = CALL(recv(fd, buf, size, flags), SYS_recvfrom, fd, buf, size, flags, NULL, NULL);

    FRAME;
    return got;
}

ssize_t io_sys_send(int fd, const void *buf, size_t size, int flags)
{
    ssize_t put = CALL(send(fd, buf, size, flags), SYS_sendto, fd, buf, size, flags, NULL, 0);

    FRAME;
    return put;
}

ssize_t io_sys_sendmsg(int fd, const struct msghdr *msg, int flags)
{
    ssize_t put = CALL(sendmsg(fd, msg, flags), SYS_sendmsg, fd, msg, flags);

    FRAME;
    return put;
}

int io_sys_recvmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags)
{
    long got = CALL(recvmmsg(fd, msgs, n, flags, NULL), SYS_recvmmsg, fd, msgs, n, flags, NULL);

    FRAME;
    return (int)got;
}

int io_sys_sendmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags)
{
    long put = CALL(sendmmsg(fd, msgs, n, flags), SYS_sendmmsg, fd, msgs, n, flags);

    FRAME;
    return (int)put;
}
