/* SPDX-License-Identifier: MIT */
/* notify.c - wakes a coroutine from another thread, over an eventfd. */
#include "co/notify.h"

#include <errno.h>
#include <poll.h>
#include <st.h>
#include <sys/eventfd.h>
#include <unistd.h>

err_t co_notify_open(struct co_notify *n)
{
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    err_t err;

    if (fd < 0)
        return err_sys(ERR_SYSTEM, "eventfd");
    err = sock_open(&n->sock, fd);
    if (err)
        (void)close(fd);
    return err;
}

void co_notify_close(struct co_notify *n)
{
    sock_close(&n->sock);
}

void co_notify_raise(const struct co_notify *n)
{
    int sys = errno;

    (void)!write(n->sock.fd, &(uint64_t){ 1 }, sizeof(uint64_t));
    errno = sys;
}

/* Returns whether it was raised, and resets it. */
static bool take(struct co_notify *n)
{
    uint64_t times;

    if (read(n->sock.fd, &times, sizeof(times)) == sizeof(times))
        return true;
    st_netfd_unready(n->sock.st, POLLIN);
    return false;
}

enum co_wake co_notify_wait(struct co_notify *n, co_usec timeout)
{
    co_usec until = timeout == CO_FOREVER ? CO_FOREVER : co_now() + timeout;
    bool other = false;

    for (bool first = true; !take(n); first = false) {
        co_usec left = until == CO_FOREVER ? CO_FOREVER : until - co_now();
        enum co_wake wake;

        other |= !first;
        if (until != CO_FOREVER && left <= 0)
            return CO_TIMEOUT;
        wake = sock_wait(&n->sock, POLLIN, left);
        if (wake != CO_WOKEN)
            return wake;
    }
    if (other)
        co_unpark(co_self()); /* the wake-up was for the next wait, not for this one */
    return CO_WOKEN;
}
