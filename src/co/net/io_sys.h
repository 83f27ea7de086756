/* SPDX-License-Identifier: MIT */
/* io_sys.h - recv(), send() and similar calls as bare system calls, so that stacks can be walked
 * through them.
 *
 * The C library's versions use the frame pointer register for something else, so a profiler that
 * follows frame pointers would lose the whole coroutine. They also check for cancellation, which no
 * thread here uses. Same arguments, same results, same errno.
 */
#ifndef CO_NET_IO_SYS_H
#define CO_NET_IO_SYS_H

#include <sys/socket.h>
#include <sys/types.h>

ssize_t io_sys_recv(int fd, void *buf, size_t size, int flags);
ssize_t io_sys_send(int fd, const void *buf, size_t size, int flags);
ssize_t io_sys_sendmsg(int fd, const struct msghdr *msg, int flags);
int io_sys_recvmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags); /* no timeout */
int io_sys_sendmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags);

#endif
