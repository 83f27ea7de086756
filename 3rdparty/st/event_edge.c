/* SPDX-License-Identifier: MIT */
/* event_edge.c - descriptors and their events: registered once, edge-triggered, no walks.
 *
 * A descriptor enters the epoll set at its first use and stays until it is closed. What the
 * kernel tells is kept in the descriptor's bits (see st.h), and its owner is called: a wait costs no
 * system call, and an event costs one look at one descriptor, however many threads wait.
 *
 * An event carries the number of the descriptor and of its use. Events of an earlier use (closed
 * here, but a forked child still has it open, or closed by a hook in the same batch) are dropped.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

enum {
    ENDED = POLLRDHUP | POLLHUP,
    EVENTS = 1024, /* told by one call; more come with the next one */
    PLENTY = 64,   /* no need to gather more */
    AHEAD = 4      /* events that are dealt with while what a later one touches is fetched */
};

_Static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLERR == POLLERR &&
                   EPOLLHUP == POLLHUP && EPOLLRDHUP == POLLRDHUP,
               "events of epoll and poll have the same bits");

_Thread_local const _st_eventsys_t *_st_eventsys;
_Thread_local volatile int st_in_idle;
_Thread_local volatile unsigned long st_look_count;
_Thread_local unsigned st_batch_usec;
_Thread_local void (*st_on_woken)(void);

static _Thread_local int epfd = -1;
static _Thread_local volatile sig_atomic_t forked;
static _Thread_local _st_netfd_t **table; /* by osfd; NULL: not open here */
static _Thread_local int table_size;
static _Thread_local _st_netfd_t *free_list;
static _Thread_local struct epoll_event *events; /* EVENTS of them */
static _Thread_local int told;                   /* how many came at the last look */

/*****************************************
 * The epoll set
 */

static int control(int op, _st_netfd_t *fd)
{
    struct epoll_event ev = {
        .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
        .data.u64 = (uint64_t)fd->gen << 32 | (uint32_t)fd->osfd,
    };

    return epoll_ctl(epfd, op, fd->osfd, &ev);
}

static int open_set(void)
{
    if (epfd >= 0)
        close(epfd);
    epfd = epoll_create1(EPOLL_CLOEXEC);
    return epfd < 0 ? -1 : 0;
}

/* The set is shared with the parent after a fork: a child that goes on makes its own. It has only
 * the thread that forked. */
static void after_fork(void)
{
    forked = 1;
}

static int rebuild(void)
{
    forked = 0;
    if (open_set() != 0)
        return -1;
    for (int i = 0; i < table_size; i++) {
        if (table[i] && table[i]->watched == 1 && control(EPOLL_CTL_ADD, table[i]) != 0)
            table[i]->watched = 0;
    }
    return 0;
}

/* Put fd into the set if it is not there. Files that epoll does not take never block. */
static int watch(_st_netfd_t *fd)
{
    if (fd->watched)
        return 0;
    if (forked && rebuild() != 0)
        return -1;
    if (control(EPOLL_CTL_ADD, fd) == 0 ||
        (errno == EEXIST && control(EPOLL_CTL_MOD, fd) == 0)) {
        fd->watched = 1;
        return 0;
    }
    if (errno != EPERM)
        return -1;
    fd->watched = -1;
    fd->ready = POLLIN | POLLOUT;
    return 0;
}

/*****************************************
 * Dispatch
 */

static void dispatch_one(_st_netfd_t *fd, int bits)
{
    int news = bits & (POLLIN | ENDED | POLLERR | (POLLOUT & ~fd->ready));

    if (bits & ENDED)
        bits |= POLLIN;
    if (bits & (POLLHUP | POLLERR))
        bits |= POLLIN | POLLOUT;
    fd->ready |= (short)bits;
    if (news && fd->notify)
        fd->notify(fd->notify_arg, news);
}

/* Microseconds until a thread can run, or the first one in the timeout heap is due; -1: there is
 * none. What ran since the last look at the clock took its time too. */
static int64_t until_due(void)
{
    st_utime_t now;

    if (_st_anybody_can_run())
        return 0;
    if (_ST_SLEEPQ == NULL)
        return -1;
    if (_ST_SLEEPQ->due <= _ST_LAST_CLOCK)
        return 0;
    now = st_utime();
    return _ST_SLEEPQ->due <= now ? 0 : (int64_t)(_ST_SLEEPQ->due - now);
}

static int wait_events(int64_t usec)
{
    int64_t msec = usec < 0 ? -1 : (usec + 999) / 1000;

#ifndef ST_VALGRIND /* which does not know the call */
    static _Thread_local int missing; /* before Linux 5.11 */
    struct timespec ts = { .tv_sec = usec / 1000000, .tv_nsec = usec % 1000000 * 1000 };

    if (usec > 0 && !missing) {
        /* Not the C library's: it uses the frame pointer's register for something else. */
        int n = (int)syscall(SYS_epoll_pwait2, epfd, events, EVENTS, &ts, NULL, 0);

        if (n >= 0 || errno != ENOSYS)
            return n;
        missing = 1;
    }
#endif
    return epoll_wait(epfd, events, EVENTS, msec > INT32_MAX ? INT32_MAX : (int)msec);
}

/* Let events gather before anybody looks: to sleep and be woken costs more than to take one more
 * event along. A timer is not late for it. Where so many came at the last look they gather by
 * themselves while they are dealt with, and a nap would only put us behind. What is left of the
 * time to wait. */
static int64_t gather(int64_t usec)
{
    unsigned nap = st_batch_usec;
    struct timespec ts = { .tv_nsec = nap * 1000l };

    if (nap == 0 || told >= PLENTY || (usec >= 0 && usec <= nap))
        return usec;
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ts, NULL);
    return usec < 0 ? usec : usec - nap;
}

static _st_netfd_t *told_of(const struct epoll_event *e)
{
    uint32_t osfd = (uint32_t)e->data.u64;

    return osfd < (uint32_t)table_size ? table[osfd] : NULL;
}

/* The descriptor of an event, and when that is there, who waits for it. Inline, or gcc 12 leaves out
 * the call of what has no effect but this. */
__attribute__((always_inline)) static inline void fetch_near(int at, int n)
{
    _st_netfd_t *fd;

    if (at + 2 * AHEAD < n)
        __builtin_prefetch(told_of(&events[at + 2 * AHEAD]), 1);
    fd = at + AHEAD < n ? told_of(&events[at + AHEAD]) : NULL;
    if (!fd)
        return;
    __builtin_prefetch(fd->notify_arg);
    __builtin_prefetch(fd->near[0], 1);
    __builtin_prefetch((const char *)fd->near[0] + 64, 1);
    __builtin_prefetch(fd->near[1], 1);
    __builtin_prefetch((const char *)fd->near[1] + 64, 1);
    __builtin_prefetch((const char *)fd->near[1] + 128, 1);
}

static void edge_dispatch(void)
{
    int64_t usec = until_due();
    int n;

    if (forked && rebuild() != 0)
        abort();
    st_look_count++;
    st_in_idle = 1;
    n = told = wait_events(gather(usec));
    st_in_idle = 0;
    if (n < 0 && errno != EINTR)
        abort(); /* the set is gone: every wait would last for ever */
    if (st_on_woken)
        st_on_woken();
    for (int i = 0; i < n; i++) {
        _st_netfd_t *fd = told_of(&events[i]);

        fetch_near(i, n);
        if (fd && fd->gen == (uint32_t)(events[i].data.u64 >> 32))
            dispatch_one(fd, (int)events[i].events);
    }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void hear_of_forks(void)
{
    if (pthread_atfork(NULL, NULL, after_fork) != 0)
        abort();
}

static int edge_init(void)
{
    if (pthread_once(&once, hear_of_forks) != 0)
        return -1;
    if (!events && !(events = calloc(EVENTS, sizeof(*events))))
        return -1;
    return open_set();
}

static int is_any_open(void)
{
    for (int i = 0; i < table_size; i++) {
        if (table[i])
            return 1;
    }
    return 0;
}

/* -1: a descriptor is open here. */
int _st_events_end(void)
{
    if (is_any_open())
        return -1;
    while (free_list) {
        _st_netfd_t *next = free_list->next;

        free(free_list);
        free_list = next;
    }
    free(table);
    free(events);
    table = NULL;
    events = NULL;
    table_size = told = 0;
    close(epfd);
    epfd = -1;
    forked = 0;
    st_batch_usec = 0;
    st_on_woken = NULL;
    _st_eventsys = NULL;
    return 0;
}

static const _st_eventsys_t edge = {
    .name = "epoll, edge-triggered",
    .val = ST_EVENTSYS_ALT,
    .init = edge_init,
    .dispatch = edge_dispatch,
};

int st_set_eventsys(int eventsys)
{
    if (_st_eventsys) {
        errno = EBUSY;
        return -1;
    }
    if (eventsys != ST_EVENTSYS_DEFAULT && eventsys != ST_EVENTSYS_ALT) {
        errno = EINVAL;
        return -1;
    }
    _st_eventsys = &edge;
    return 0;
}

/* Whoever writes to what is closed learns it by EPIPE. */
int _st_io_init(void)
{
    return signal(SIGPIPE, SIG_IGN) == SIG_ERR ? -1 : 0;
}

/*****************************************
 * Descriptors
 */

static int table_reach(int osfd)
{
    int size = table_size ? table_size : 256;
    _st_netfd_t **grown;

    while (size <= osfd)
        size *= 2;
    if (size == table_size)
        return 0;
    grown = realloc(table, (size_t)size * sizeof(*table));
    if (!grown)
        return -1;
    memset(grown + table_size, 0, (size_t)(size - table_size) * sizeof(*table));
    table = grown;
    table_size = size;
    return 0;
}

static int set_nonblock(int osfd, int is_socket)
{
    int on = 1, flags;

    if (is_socket && ioctl(osfd, FIONBIO, &on) == 0)
        return 0;
    flags = fcntl(osfd, F_GETFL, 0);
    return flags < 0 ? -1 : fcntl(osfd, F_SETFL, flags | O_NONBLOCK);
}

static _st_netfd_t *netfd_new(int osfd, int is_socket)
{
    static _Thread_local unsigned gen;
    _st_netfd_t *fd = free_list;

    if (osfd < 0) {
        errno = EBADF;
        return NULL;
    }
    if (table_reach(osfd) != 0 || set_nonblock(osfd, is_socket) < 0)
        return NULL;
    if (fd)
        free_list = fd->next;
    else if (!(fd = malloc(sizeof(*fd))))
        return NULL;
    memset(fd, 0, sizeof(*fd));
    fd->osfd = osfd;
    fd->inuse = 1;
    fd->gen = ++gen;
    table[osfd] = fd;
    return fd;
}

static void forget(_st_netfd_t *fd)
{
    if (table[fd->osfd] == fd)
        table[fd->osfd] = NULL;
    fd->inuse = 0;
    fd->next = free_list;
    free_list = fd;
}

_st_netfd_t *st_netfd_open(int osfd)
{
    return netfd_new(osfd, 0);
}

_st_netfd_t *st_netfd_open_socket(int osfd)
{
    return netfd_new(osfd, 1);
}

void st_netfd_free(_st_netfd_t *fd)
{
    if (!fd->inuse)
        return;
    if (fd->watched == 1 && table[fd->osfd] == fd && !forked)
        (void)control(EPOLL_CTL_DEL, fd); /* fails if the program closed it */
    forget(fd);
}

int st_netfd_close(_st_netfd_t *fd)
{
    int osfd = fd->osfd;

    forget(fd);
    return close(osfd); /* leaves the epoll set by this */
}

int st_netfd_fileno(_st_netfd_t *fd)
{
    return fd->osfd;
}

/*****************************************
 * Ready bits
 */

int st_netfd_ready(_st_netfd_t *fd)
{
    return watch(fd) == 0 ? fd->ready : POLLERR;
}

void st_netfd_unready(_st_netfd_t *fd, int bits)
{
    if (fd->watched == -1)
        return;
    if (fd->ready & ENDED)
        bits &= ~POLLIN;
    if (fd->ready & POLLHUP)
        bits &= ~POLLOUT;
    else if (bits & (POLLIN | POLLOUT))
        bits |= POLLERR;
    bits &= POLLIN | POLLOUT | POLLERR;
    fd->ready &= (short)~bits;
}

void st_netfd_notify(_st_netfd_t *fd, void (*fn)(void *arg, int bits), void *arg)
{
    fd->notify = fn;
    fd->notify_arg = arg;
    if (fn)
        (void)watch(fd);
}

void st_netfd_near(_st_netfd_t *fd, const void *p)
{
    fd->near[0] = p;
    fd->near[1] = _ST_CURRENT_THREAD();
}
