/* SPDX-License-Identifier: MIT */
/* test_st.c - our patched state-threads: kept registrations, ready bits, stacks.
 *
 * Assertions are made on the first thread only: cmocka leaves a failing test by longjmp.
 */
#include "unit.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <st.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 32 * 1024, MS = 1000, SECOND = 1000 * MS };

static int ctl_calls;

int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
    ctl_calls++;
    return (int)syscall(SYS_epoll_ctl, epfd, op, fd, event);
}

struct pair {
    st_netfd_t a, b;
};

static struct pair pair_open(void)
{
    int fd[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
    return (struct pair){ st_netfd_open_socket(fd[0]), st_netfd_open_socket(fd[1]) };
}

static void pair_close(struct pair p)
{
    if (p.a)
        assert_int_equal(st_netfd_close(p.a), 0);
    if (p.b)
        assert_int_equal(st_netfd_close(p.b), 0);
}

static st_thread_t start(void *(*fn)(void *), void *arg)
{
    st_thread_t t = st_thread_create(fn, arg, 1, STACK);

    assert_non_null(t);
    return t;
}

static intptr_t finish(st_thread_t t)
{
    void *result = NULL;

    assert_int_equal(st_thread_join(t, &result), 0);
    return (intptr_t)result;
}

static void turn(void) /* lets the scheduler ask the kernel */
{
    st_usleep(1 * MS);
}

/* ---- waiting and moving bytes, as src/co does: by the ready bits, and a call for each edge */

static void on_news(void *cond, int bits)
{
    (void)bits;
    st_cond_broadcast(cond);
}

/* 0: one of the bits is ready, or it is over; -1 with ETIME or EINTR. */
static int wait_for(st_netfd_t fd, int bits, st_utime_t timeout)
{
    st_cond_t news = st_cond_new();
    st_utime_t until = st_utime() + timeout, now = 0;
    int failed = 0, why;

    st_netfd_notify(fd, on_news, news);
    while (!failed && !(st_netfd_ready(fd) & (bits | POLLHUP | POLLERR))) {
        now = st_utime();
        errno = ETIME;
        failed = now >= until ? -1 : st_cond_timedwait(news, until - now);
    }
    why = errno;
    st_netfd_notify(fd, NULL, NULL);
    st_cond_destroy(news);
    errno = why;
    return failed;
}

static ssize_t get(st_netfd_t fd, void *buf, size_t size, st_utime_t timeout)
{
    ssize_t n;

    while ((n = read(st_netfd_fileno(fd), buf, size)) < 0 && errno == EAGAIN) {
        st_netfd_unready(fd, POLLIN);
        if (wait_for(fd, POLLIN, timeout) != 0)
            return -1;
    }
    return n;
}

static ssize_t get_all(st_netfd_t fd, void *buf, size_t size, st_utime_t timeout)
{
    size_t have = 0;
    ssize_t n;

    while (have < size && (n = get(fd, (char *)buf + have, size - have, timeout)) > 0)
        have += (size_t)n;
    return (ssize_t)have;
}

static ssize_t put(st_netfd_t fd, const void *buf, size_t size, st_utime_t timeout)
{
    size_t gone = 0;

    while (gone < size) {
        ssize_t n = write(st_netfd_fileno(fd), (const char *)buf + gone, size - gone);

        if (n < 0 && errno != EAGAIN)
            return -1;
        gone += n > 0 ? (size_t)n : 0;
        if (gone < size) {
            st_netfd_unready(fd, POLLOUT);
            if (wait_for(fd, POLLOUT, timeout) != 0)
                return -1;
        }
    }
    return (ssize_t)gone;
}

/* ---- echo */

#if defined(__SANITIZE_THREAD__)
enum { PAIRS = 100 }; /* each switch takes some microseconds */
#else
enum { PAIRS = 1000 };
#endif
enum { TRIPS = 20 };

static void *echo(void *arg)
{
    char buf[64];
    ssize_t n;

    while ((n = get(arg, buf, sizeof(buf), SECOND)) > 0) {
        if (put(arg, buf, (size_t)n, SECOND) != n)
            return (void *)1;
    }
    return (void *)(intptr_t)(n < 0);
}

static void *ask(void *arg)
{
    char buf[64];

    for (int i = 0; i < TRIPS; i++) {
        int len = snprintf(buf, sizeof(buf), "question %d", i);
        char back[64];

        if (put(arg, buf, (size_t)len, SECOND) != len ||
            get_all(arg, back, (size_t)len, SECOND) != len || memcmp(buf, back, (size_t)len))
            return (void *)1;
    }
    shutdown(st_netfd_fileno(arg), SHUT_WR);
    return NULL;
}

static void echoes_register_each_descriptor_once(void **state)
{
    static struct pair pairs[PAIRS];
    static st_thread_t threads[2 * PAIRS];
    intptr_t failed = 0;

    (void)state;
    ctl_calls = 0;
    for (int i = 0; i < PAIRS; i++) {
        pairs[i] = pair_open();
        threads[2 * i] = start(echo, pairs[i].b);
        threads[2 * i + 1] = start(ask, pairs[i].a);
    }
    for (int i = 0; i < 2 * PAIRS; i++)
        failed += finish(threads[i]);
    for (int i = 0; i < PAIRS; i++)
        pair_close(pairs[i]);
    assert_int_equal(failed, 0);
    assert_int_equal(ctl_calls, 2 * PAIRS);
}

/* ---- ends */

static void end_that_comes_with_data_is_not_lost(void **state)
{
    struct pair p = pair_open();
    char buf[16];

    (void)state;
    assert_int_equal(st_netfd_ready(p.a), 0); /* the kernel was not asked yet */
    assert_int_equal(put(p.b, "last", 4, SECOND), 4);
    shutdown(st_netfd_fileno(p.b), SHUT_WR);
    assert_int_equal(wait_for(p.a, POLLIN, SECOND), 0);
    assert_int_equal(read(st_netfd_fileno(p.a), buf, sizeof(buf)), 4);
    st_netfd_unready(p.a, POLLIN);
    assert_true(st_netfd_ready(p.a) & POLLIN);
    assert_true(st_netfd_ready(p.a) & POLLRDHUP);
    for (int i = 0; i < 3; i++)
        assert_int_equal(wait_for(p.a, POLLIN, SECOND), 0);
    assert_int_equal(get(p.a, buf, sizeof(buf), SECOND), 0);
    assert_int_equal(put(p.a, "still", 5, SECOND), 5); /* only one direction has ended */
    pair_close(p);
}

static void hangup_wakes_both_ways(void **state)
{
    struct pair p = pair_open();
    char buf[16];

    (void)state;
    assert_int_equal(st_netfd_close(p.b), 0);
    assert_int_equal(wait_for(p.a, POLLIN, SECOND), 0);
    assert_true(st_netfd_ready(p.a) & POLLHUP);
    st_netfd_unready(p.a, POLLIN | POLLOUT);
    assert_int_equal(wait_for(p.a, POLLOUT, SECOND), 0);
    assert_int_equal(put(p.a, "x", 1, SECOND), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(get(p.a, buf, sizeof(buf), SECOND), 0);
    p.b = NULL;
    pair_close(p);
}

/* ---- bits */

static void unready_forgets(void **state)
{
    struct pair p = pair_open();
    char buf[16];

    (void)state;
    (void)st_netfd_ready(p.a);
    assert_int_equal(put(p.b, "abc", 3, SECOND), 3);
    turn();
    assert_int_equal(st_netfd_ready(p.a), POLLIN | POLLOUT);
    assert_int_equal(wait_for(p.a, POLLIN, 0), 0);
    assert_int_equal(st_netfd_ready(p.a), POLLIN | POLLOUT); /* the bit was right: data is there */
    assert_int_equal(read(st_netfd_fileno(p.a), buf, sizeof(buf)), 3);
    st_netfd_unready(p.a, POLLIN);
    assert_int_equal(wait_for(p.a, POLLIN, 5 * MS), -1); /* no edge since */
    assert_int_equal(errno, ETIME);
    assert_int_equal(st_netfd_ready(p.a), POLLOUT);
    assert_int_equal(put(p.b, "d", 1, SECOND), 1);
    assert_int_equal(wait_for(p.a, POLLIN, SECOND), 0);
    pair_close(p);
}

static int told, told_bits;

static void tell(void *arg, int bits)
{
    (void)arg;
    told++;
    told_bits |= bits;
}

static void notify_calls_for_each_edge(void **state)
{
    struct pair p = pair_open();
    char c;

    (void)state;
    st_netfd_notify(p.a, tell, NULL);
    turn(); /* output is ready */
    told = told_bits = 0;
    assert_int_equal(put(p.b, "a", 1, SECOND), 1);
    turn();
    assert_int_equal(told, 1);
    assert_int_equal(told_bits, POLLIN);
    assert_int_equal(get(p.a, &c, 1, SECOND), 1);
    assert_int_equal(put(p.b, "b", 1, SECOND), 1);
    turn();
    assert_int_equal(told, 2);
    st_netfd_notify(p.a, NULL, NULL);
    assert_int_equal(put(p.b, "c", 1, SECOND), 1);
    turn();
    assert_int_equal(told, 2);
    pair_close(p);
}

/* ---- waits */

static void *fill(void *arg)
{
    static char block[1 << 20];

    return (void *)(intptr_t)put(arg, block, sizeof(block), SECOND);
}

static void a_full_pipe_is_waited_for(void **state)
{
    struct pair p = pair_open();
    st_thread_t writer = start(fill, p.a);
    static char sink[1 << 20];

    (void)state;
    turn();
    assert_false(st_netfd_ready(p.a) & POLLOUT);
    assert_int_equal(get_all(p.b, sink, sizeof(sink), SECOND), sizeof(sink));
    assert_int_equal(finish(writer), sizeof(sink));
    pair_close(p);
}

static void timeouts_are_on_time(void **state)
{
    struct pair p = pair_open();
    st_utime_t began = st_utime(), took;
    char c;

    (void)state;
    assert_int_equal(get(p.a, &c, 1, 30 * MS), -1);
    took = st_utime() - began;
    assert_int_equal(errno, ETIME);
    assert_true(took >= 29 * MS && took < 500 * MS);
    assert_int_equal(wait_for(p.a, POLLIN, 0), -1);
    assert_int_equal(errno, ETIME);
    pair_close(p);
}

static void *read_twice(void *arg)
{
    char c;
    bool first = get(arg, &c, 1, SECOND) == -1 && errno == EINTR;

    return (void *)(intptr_t)(first && get(arg, &c, 1, SECOND) == 1);
}

static void interrupt_ends_one_wait(void **state)
{
    struct pair p = pair_open();
    st_thread_t t = start(read_twice, p.a);

    (void)state;
    turn();
    st_thread_interrupt(t);
    turn();
    assert_int_equal(put(p.b, "x", 1, SECOND), 1);
    assert_int_equal(finish(t), 1);
    pair_close(p);
}

/* ---- descriptors */

static void reused_numbers_begin_clean(void **state)
{
    int number = -1;

    (void)state;
    for (int i = 0; i < 100; i++) {
        struct pair p = pair_open();

        assert_true(i == 0 || st_netfd_fileno(p.a) == number);
        number = st_netfd_fileno(p.a);
        assert_int_equal(st_netfd_ready(p.a), 0);
        turn();
        assert_int_equal(st_netfd_ready(p.a), POLLOUT);
        assert_int_equal(put(p.b, "x", 1, SECOND), 1); /* reported only after it is closed */
        pair_close(p);
    }
}

static void events_of_an_earlier_use_are_dropped(void **state)
{
    struct pair old = pair_open(), now;
    int copy = dup(st_netfd_fileno(old.a)), number = st_netfd_fileno(old.a);

    (void)state;
    (void)st_netfd_ready(old.a);
    assert_int_equal(st_netfd_close(old.a), 0); /* the copy keeps it in the epoll set */
    now = pair_open();
    assert_int_equal(st_netfd_fileno(now.a), number);
    (void)st_netfd_ready(now.a);
    assert_int_equal(put(old.b, "x", 1, SECOND), 1);
    turn();
    assert_int_equal(st_netfd_ready(now.a), POLLOUT);
    close(copy);
    old.a = NULL;
    pair_close(old);
    pair_close(now);
}

static void freed_descriptor_leaves_the_set(void **state)
{
    struct pair p = pair_open();
    int fd = st_netfd_fileno(p.a);

    (void)state;
    (void)st_netfd_ready(p.a);
    ctl_calls = 0;
    st_netfd_free(p.a);
    assert_int_equal(ctl_calls, 1);
    p.a = st_netfd_open_socket(fd);
    assert_int_equal(put(p.b, "x", 1, SECOND), 1);
    assert_int_equal(wait_for(p.a, POLLIN, SECOND), 0);
    pair_close(p);
}

static void regular_files_are_always_ready(void **state)
{
    FILE *f = tmpfile();
    st_netfd_t fd = st_netfd_open(dup(fileno(f)));
    char c;

    (void)state;
    assert_int_equal(wait_for(fd, POLLIN, SECOND), 0);
    st_netfd_unready(fd, POLLIN);
    assert_int_equal(st_netfd_ready(fd), POLLIN | POLLOUT);
    assert_int_equal(get(fd, &c, 1, SECOND), 0);
    assert_int_equal(st_netfd_close(fd), 0);
    fclose(f);
}

static void *accept_one(void *arg)
{
    st_netfd_t fd = NULL;
    char c;
    bool ok;

    if (wait_for(arg, POLLIN, SECOND) == 0)
        fd = st_netfd_open_socket(accept4(st_netfd_fileno(arg), NULL, NULL, SOCK_CLOEXEC));
    ok = fd && get(fd, &c, 1, SECOND) == 1;
    if (fd)
        st_netfd_close(fd);
    return (void *)(intptr_t)ok;
}

static st_netfd_t tcp_socket(void)
{
    return st_netfd_open_socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

/* 0, or errno. */
static int dial(st_netfd_t fd, const struct sockaddr_in *to)
{
    int why = 0;
    socklen_t size = sizeof(why);

    if (connect(st_netfd_fileno(fd), (const void *)to, sizeof(*to)) == 0)
        return 0;
    if (errno != EINPROGRESS || wait_for(fd, POLLOUT, SECOND) != 0)
        return errno;
    assert_int_equal(getsockopt(st_netfd_fileno(fd), SOL_SOCKET, SO_ERROR, &why, &size), 0);
    return why;
}

static void connect_waits_for_the_answer(void **state)
{
    struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(sin);
    st_netfd_t listener = tcp_socket(), fd = tcp_socket();
    st_thread_t t;

    (void)state;
    assert_int_equal(bind(st_netfd_fileno(listener), (void *)&sin, sizeof(sin)), 0);
    assert_int_equal(getsockname(st_netfd_fileno(listener), (void *)&sin, &len), 0);
    assert_int_equal(dial(fd, &sin), ECONNREFUSED);
    assert_int_equal(st_netfd_close(fd), 0);

    assert_int_equal(listen(st_netfd_fileno(listener), 8), 0);
    t = start(accept_one, listener);
    fd = tcp_socket();
    assert_int_equal(dial(fd, &sin), 0);
    (void)st_netfd_ready(fd);
    turn();
    assert_int_equal(st_netfd_ready(fd) & POLLOUT, POLLOUT);
    assert_int_equal(put(fd, "x", 1, SECOND), 1);
    assert_int_equal(finish(t), 1);
    assert_int_equal(st_netfd_close(fd), 0);
    assert_int_equal(st_netfd_close(listener), 0);
}

/* Runs fn in a forked child within a coroutine; returns waitpid's status. */
static int in_child(void *(*fn)(void *), void *arg)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        struct rlimit none = { 0, 0 };
        void *result = (void *)1;

        setrlimit(RLIMIT_CORE, &none);
        if (!freopen("/dev/null", "w", stderr) ||
            st_thread_join(st_thread_create(fn, arg, 1, STACK), &result) != 0)
            _exit(2);
        _exit((int)(intptr_t)result);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void *echo_itself(void *arg)
{
    struct pair *p = arg;
    char c;

    /* The second read waits: the first one is answered from the kernel's buffer. */
    return (void *)(intptr_t)(put(p->b, "x", 1, SECOND) != 1 ||
                              get(p->a, &c, 1, SECOND) != 1 ||
                              get(p->a, &c, 1, 10 * MS) != -1 || errno != ETIME ||
                              put(p->b, "x", 1, SECOND) != 1 ||
                              wait_for(p->a, POLLIN, SECOND) != 0 ||
                              get(p->a, &c, 1, SECOND) != 1);
}

static void child_makes_its_own_set(void **state)
{
    struct pair p = pair_open();
    struct pair q = pair_open();
    char c;

    (void)state;
    (void)st_netfd_ready(p.a);
    (void)st_netfd_ready(q.a);
    assert_int_equal(in_child(echo_itself, &p), 0);
    assert_int_equal(put(q.b, "x", 1, SECOND), 1);
    assert_int_equal(wait_for(q.a, POLLIN, SECOND), 0);
    assert_int_equal(get(q.a, &c, 1, SECOND), 1);
    pair_close(p);
    pair_close(q);
}

/* ---- stacks */

static int deeper(int level)
{
    volatile char room[1024];

    memset((char *)(intptr_t)room, level, sizeof(room));
    return level < 64 ? deeper(level + 1) + (room[level] != level) : 0;
}

static void *as_deep_as_it_gets(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)deeper(0);
}

static void *shallow(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)deeper(60);
}

static void overflow_hits_the_guard_page(void **state)
{
    (void)state;
    assert_int_equal(in_child(shallow, NULL), 0);
    assert_int_not_equal(in_child(as_deep_as_it_gets, NULL), 0);
}

/* Follows the frame pointers to the end; all of them must be on the stack of the thread. */
static void *walk_frames(void *arg)
{
    void *base, **frame = __builtin_frame_address(0);
    size_t size;
    int n;

    if (st_thread_stack(st_thread_self(), &base, &size) != 0 || size != (size_t)(intptr_t)arg)
        return NULL;
    for (n = 1; n < 100; n++) {
        if ((char *)frame < (char *)base || (char *)frame >= (char *)base + size || !frame[1])
            return NULL;
        if (!frame[0])
            break;
        frame = frame[0];
    }
    return (void *)(intptr_t)n;
}

static void frame_pointers_end_with_the_stack(void **state)
{
    static const struct {
        int asked, given;
    } rows[] = { { 32 * 1024, 32 * 1024 }, { 20001, 20480 }, { 16384, 16384 }, { 0, 65536 } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int again = 0; again < 2; again++) {
            void *n = NULL, *given = (void *)(intptr_t)rows[i].given;

            st_thread_join(st_thread_create(walk_frames, given, 1, rows[i].asked), &n);
            assert_int_equal((intptr_t)n, 2); /* walk_frames, the thread's main, the end */
        }
    }
}

static void counters_move(void **state)
{
    unsigned long before = st_switch_count;

    (void)state;
    turn();
    assert_true(st_switch_count >= before + 2);
    assert_int_equal(st_in_idle, 0);
}

static void *sleep_a_bit(void *unused)
{
    (void)st_usleep(MS);
    return unused;
}

/* The last test: the scheduler ends when nothing of it is left, and another one begins. */
static void ends_when_nothing_is_left(void **state)
{
    st_thread_t t = start(sleep_a_bit, NULL);
    struct pair p = pair_open();

    (void)state;
    assert_int_equal(st_end(), -1);
    assert_int_equal(errno, EBUSY);
    assert_int_equal(st_thread_join(t, NULL), 0);
    turn();
    assert_int_equal(st_end(), -1);
    assert_int_equal(errno, EBUSY);
    pair_close(p);
    assert_int_equal(st_end(), 0);
    assert_int_equal(st_init(), 0);
    assert_int_equal(st_thread_join(start(sleep_a_bit, NULL), NULL), 0);
}

static int init(void **state)
{
    (void)state;
    return st_init();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(echoes_register_each_descriptor_once),
        TEST(end_that_comes_with_data_is_not_lost),
        TEST(hangup_wakes_both_ways),
        TEST(unready_forgets),
        TEST(notify_calls_for_each_edge),
        TEST(a_full_pipe_is_waited_for),
        TEST(timeouts_are_on_time),
        TEST(interrupt_ends_one_wait),
        TEST(reused_numbers_begin_clean),
        TEST(events_of_an_earlier_use_are_dropped),
        TEST(freed_descriptor_leaves_the_set),
        TEST(regular_files_are_always_ready),
        TEST(connect_waits_for_the_answer),
        TEST(child_makes_its_own_set),
        TEST(overflow_hits_the_guard_page),
        TEST(frame_pointers_end_with_the_stack),
        TEST(counters_move),
        TEST(ends_when_nothing_is_left),
    };

    return cmocka_run_group_tests(tests, init, NULL);
}
