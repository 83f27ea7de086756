/* SPDX-License-Identifier: MIT */
/* test_st.c - state-threads as we patch it: kept registrations, ready bits, stacks.
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

static void turn(void) /* let the scheduler ask the kernel */
{
    st_usleep(1 * MS);
}

/* ---- echo */

#if defined(__SANITIZE_THREAD__)
enum { PAIRS = 100 }; /* each switch takes it some microseconds */
#else
enum { PAIRS = 1000 };
#endif
enum { TRIPS = 20 };

static void *echo(void *arg)
{
    char buf[64];
    ssize_t n;

    while ((n = st_read(arg, buf, sizeof(buf), SECOND)) > 0) {
        if (st_write(arg, buf, (size_t)n, SECOND) != n)
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

        if (st_write(arg, buf, (size_t)len, SECOND) != len ||
            st_read_fully(arg, back, (size_t)len, SECOND) != len || memcmp(buf, back, (size_t)len))
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
    assert_int_equal(st_write(p.b, "last", 4, SECOND), 4);
    shutdown(st_netfd_fileno(p.b), SHUT_WR);
    assert_int_equal(st_netfd_poll(p.a, POLLIN, SECOND), 0);
    assert_int_equal(read(st_netfd_fileno(p.a), buf, sizeof(buf)), 4);
    st_netfd_unready(p.a, POLLIN);
    assert_true(st_netfd_ready(p.a) & POLLIN);
    assert_true(st_netfd_ready(p.a) & POLLRDHUP);
    for (int i = 0; i < 3; i++)
        assert_int_equal(st_netfd_poll(p.a, POLLIN, SECOND), 0);
    assert_int_equal(st_read(p.a, buf, sizeof(buf), SECOND), 0);
    assert_int_equal(st_write(p.a, "still", 5, SECOND), 5); /* only one way has ended */
    pair_close(p);
}

static void hangup_wakes_both_ways(void **state)
{
    struct pair p = pair_open();
    char buf[16];

    (void)state;
    assert_int_equal(st_netfd_close(p.b), 0);
    assert_int_equal(st_netfd_poll(p.a, POLLIN, SECOND), 0);
    assert_true(st_netfd_ready(p.a) & POLLHUP);
    st_netfd_unready(p.a, POLLIN | POLLOUT);
    assert_int_equal(st_netfd_poll(p.a, POLLOUT, SECOND), 0);
    assert_int_equal(st_write(p.a, "x", 1, SECOND), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(st_read(p.a, buf, sizeof(buf), SECOND), 0);
    p.b = NULL;
    pair_close(p);
}

/* ---- bits */

static void poll_consumes_and_unready_forgets(void **state)
{
    struct pair p = pair_open();
    char buf[16];

    (void)state;
    (void)st_netfd_ready(p.a);
    assert_int_equal(st_write(p.b, "abc", 3, SECOND), 3);
    turn();
    assert_int_equal(st_netfd_ready(p.a), POLLIN | POLLOUT);
    assert_int_equal(st_netfd_poll(p.a, POLLIN, 0), 0);
    assert_int_equal(st_netfd_ready(p.a), POLLIN | POLLOUT); /* it told the truth: data is there */
    assert_int_equal(read(st_netfd_fileno(p.a), buf, sizeof(buf)), 3);
    assert_int_equal(st_netfd_poll(p.a, POLLIN, 5 * MS), -1); /* no edge since */
    assert_int_equal(errno, ETIME);
    st_netfd_unready(p.a, POLLIN);
    assert_int_equal(st_netfd_ready(p.a), POLLOUT);
    assert_int_equal(st_write(p.b, "d", 1, SECOND), 1);
    assert_int_equal(st_netfd_poll(p.a, POLLIN, SECOND), 0);
    pair_close(p);
}

static int told, told_bits;

static void tell(void *arg, int bits)
{
    (void)arg;
    told++;
    told_bits |= bits;
}

static void *read_one(void *arg)
{
    char c;

    return (void *)(intptr_t)st_read(arg, &c, 1, SECOND);
}

static void notify_is_for_what_nobody_polls(void **state)
{
    struct pair p = pair_open();
    st_thread_t t;

    (void)state;
    st_netfd_notify(p.a, tell, NULL);
    turn(); /* output is ready */
    told = told_bits = 0;
    assert_int_equal(st_write(p.b, "a", 1, SECOND), 1);
    turn();
    assert_int_equal(told, 1);
    assert_int_equal(told_bits, POLLIN);
    assert_int_equal(finish(start(read_one, p.a)), 1);
    t = start(read_one, p.a);
    turn();
    told = 0;
    assert_int_equal(st_write(p.b, "b", 1, SECOND), 1);
    assert_int_equal(finish(t), 1);
    assert_int_equal(told, 0); /* it was polled for */
    st_netfd_notify(p.a, NULL, NULL);
    assert_int_equal(st_write(p.b, "c", 1, SECOND), 1);
    turn();
    assert_int_equal(told, 0);
    pair_close(p);
}

/* ---- waits */

static void *fill(void *arg)
{
    static char block[1 << 20];

    return (void *)(intptr_t)st_write(arg, block, sizeof(block), SECOND);
}

static void one_reader_and_one_writer(void **state)
{
    struct pair p = pair_open();
    st_thread_t writer = start(fill, p.a), reader = start(read_one, p.a);
    static char sink[1 << 20];

    (void)state;
    turn();
    assert_int_equal(st_netfd_poll(p.a, POLLIN, SECOND), -1);
    assert_int_equal(errno, EBUSY);
    assert_int_equal(st_netfd_poll(p.a, POLLOUT, SECOND), -1);
    assert_int_equal(errno, EBUSY);
    assert_int_equal(st_netfd_close(p.a), -1);
    assert_int_equal(errno, EBUSY);
    assert_int_equal(st_read_fully(p.b, sink, sizeof(sink), SECOND), sizeof(sink));
    assert_int_equal(finish(writer), sizeof(sink));
    assert_int_equal(st_write(p.b, "x", 1, SECOND), 1);
    assert_int_equal(finish(reader), 1);
    assert_int_equal(st_netfd_poll(p.a, POLLPRI, SECOND), -1);
    assert_int_equal(errno, EINVAL);
    pair_close(p);
}

static void timeouts_are_on_time(void **state)
{
    struct pair p = pair_open();
    st_utime_t began = st_utime(), took;
    char c;

    (void)state;
    assert_int_equal(st_read(p.a, &c, 1, 30 * MS), -1);
    took = st_utime() - began;
    assert_int_equal(errno, ETIME);
    assert_true(took >= 29 * MS && took < 500 * MS);
    assert_int_equal(st_netfd_poll(p.a, POLLIN, 0), -1);
    assert_int_equal(errno, ETIME);
    pair_close(p);
}

static void *read_twice(void *arg)
{
    char c;
    bool first = st_read(arg, &c, 1, SECOND) == -1 && errno == EINTR;

    return (void *)(intptr_t)(first && st_read(arg, &c, 1, SECOND) == 1);
}

static void interrupt_ends_one_wait(void **state)
{
    struct pair p = pair_open();
    st_thread_t t = start(read_twice, p.a);

    (void)state;
    turn();
    st_thread_interrupt(t);
    turn();
    assert_int_equal(st_write(p.b, "x", 1, SECOND), 1);
    assert_int_equal(finish(t), 1);
    pair_close(p);
}

static void poll_of_many(void **state)
{
    struct pair p = pair_open(), q = pair_open();
    struct pollfd pds[] = {
        { .fd = st_netfd_fileno(p.a), .events = POLLIN },
        { .fd = st_netfd_fileno(q.a), .events = POLLIN },
        { .fd = 1 << 20, .events = POLLIN },
    };

    (void)state;
    assert_int_equal(st_poll(pds, 2, 5 * MS), 0);
    assert_int_equal(st_write(q.b, "x", 1, SECOND), 1);
    assert_int_equal(st_poll(pds, 2, SECOND), 1);
    assert_int_equal(pds[0].revents, 0);
    assert_int_equal(pds[1].revents, POLLIN);
    assert_int_equal(st_poll(pds, 3, SECOND), 1);
    assert_int_equal(pds[2].revents, POLLNVAL);
    pair_close(p);
    pair_close(q);
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
        assert_int_equal(st_write(p.b, "x", 1, SECOND), 1); /* told only after it is closed */
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
    assert_int_equal(st_write(old.b, "x", 1, SECOND), 1);
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
    assert_int_equal(st_write(p.b, "x", 1, SECOND), 1);
    assert_int_equal(st_netfd_poll(p.a, POLLIN, SECOND), 0);
    pair_close(p);
}

static void regular_files_are_always_ready(void **state)
{
    FILE *f = tmpfile();
    st_netfd_t fd = st_netfd_open(dup(fileno(f)));
    char c;

    (void)state;
    assert_int_equal(st_netfd_poll(fd, POLLIN, SECOND), 0);
    st_netfd_unready(fd, POLLIN);
    assert_int_equal(st_netfd_ready(fd), POLLIN | POLLOUT);
    assert_int_equal(st_read(fd, &c, 1, SECOND), 0);
    assert_int_equal(st_netfd_close(fd), 0);
    fclose(f);
}

static void *accept_one(void *arg)
{
    st_netfd_t fd = st_accept(arg, NULL, NULL, SECOND);
    char c;
    bool ok = fd && st_read(fd, &c, 1, SECOND) == 1;

    if (fd)
        st_netfd_close(fd);
    return (void *)(intptr_t)ok;
}

static st_netfd_t tcp_socket(void)
{
    return st_netfd_open_socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
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
    assert_int_equal(st_connect(fd, (void *)&sin, sizeof(sin), SECOND), -1);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(st_netfd_close(fd), 0);

    assert_int_equal(listen(st_netfd_fileno(listener), 8), 0);
    t = start(accept_one, listener);
    fd = tcp_socket();
    (void)st_netfd_ready(fd); /* too early: the kernel tells of a hangup */
    turn();
    assert_int_equal(st_connect(fd, (void *)&sin, sizeof(sin), SECOND), 0);
    turn();
    assert_int_equal(st_netfd_ready(fd) & POLLOUT, POLLOUT);
    assert_int_equal(st_write(fd, "x", 1, SECOND), 1);
    assert_int_equal(finish(t), 1);
    assert_int_equal(st_netfd_close(fd), 0);
    assert_int_equal(st_netfd_close(listener), 0);
}

/* Run fn in a forked child within a coroutine; what waitpid tells of it. */
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

    /* The second read waits: the first one is answered by what the kernel has. */
    return (void *)(intptr_t)(st_write(p->b, "x", 1, SECOND) != 1 ||
                              st_read(p->a, &c, 1, SECOND) != 1 ||
                              st_netfd_poll(p->a, POLLIN, 10 * MS) != -1 || errno != ETIME ||
                              st_write(p->b, "x", 1, SECOND) != 1 ||
                              st_netfd_poll(p->a, POLLIN, SECOND) != 0 ||
                              st_read(p->a, &c, 1, SECOND) != 1);
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
    assert_int_equal(st_write(q.b, "x", 1, SECOND), 1);
    assert_int_equal(st_netfd_poll(q.a, POLLIN, SECOND), 0);
    assert_int_equal(st_read(q.a, &c, 1, SECOND), 1);
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

/* Follow the frame pointers to the end; all of them must be on the stack of the thread. */
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
        TEST(poll_consumes_and_unready_forgets),
        TEST(notify_is_for_what_nobody_polls),
        TEST(one_reader_and_one_writer),
        TEST(timeouts_are_on_time),
        TEST(interrupt_ends_one_wait),
        TEST(poll_of_many),
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
