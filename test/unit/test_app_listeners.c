/* SPDX-License-Identifier: MIT */
/* test_app_listeners.c - endpoints of workers: opened sockets, distribution of clients, changes. */
#include "app/listeners.h"
#include "co/co.h"
#include "co/net/io_tcp.h"
#include "conf_mem.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_WORKERS = 3, GUESTS = 60, RTMP = 1, API = 2, FAMILY = 7 };

struct seen {
    struct listeners *l;
    unsigned guests, services;
    bool proxied;
};

static struct seen seen[MOST_WORKERS];
static int ports[3]; /* that were free a moment ago */

static void on_accept(void *arg, const struct listeners_guest *guest)
{
    struct seen *s = arg;

    s->guests++;
    s->services = guest->services;
    s->proxied = guest->proxied;
    (void)close(guest->fd);
}

static size_t descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    size_t n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

static int port_of(int fd)
{
    struct sockaddr_in addr;
    socklen_t size = sizeof(addr);

    assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &size), 0);
    return ntohs(addr.sin_port);
}

static int setup(void **state)
{
    int fd[COUNT(ports)];

    (void)state;
    assert_ok(co_init());
    memset(seen, 0, sizeof(seen));
    for (size_t i = 0; i < COUNT(ports); i++) {
        assert_ok(io_listen_open(&fd[i], "127.0.0.1", 0, 1, IO_LISTEN_ONE));
        ports[i] = port_of(fd[i]);
    }
    for (size_t i = 0; i < COUNT(ports); i++)
        (void)close(fd[i]);
    for (int i = 0; i < MOST_WORKERS; i++)
        seen[i].l = listeners_new(on_accept, &seen[i]);
    return 0;
}

static int teardown(void **state)
{
    for (int i = 0; i < MOST_WORKERS; i++)
        listeners_free(seen[i].l);
    return nothing_left(state);
}

/* A configuration: endpoints of RTMP and of the API, as indexes of ports, -1 for none. */
struct wants {
    int rtmp[2], api[2];
};

struct made {
    char text[4][32];
    struct conf_endpoint v[4];
    struct conf_endpoints rtmp, api;
    struct listeners_want want[2];
};

static void endpoints_of(struct made *m, const int *which, size_t from, struct conf_endpoints *out)
{
    *out = (struct conf_endpoints){ .v = m->v + from };
    for (size_t i = 0; i < 2 && which[i] >= 0; i++, out->n++) {
        int port = ports[which[i]];

        (void)snprintf(m->text[from + i], sizeof(m->text[0]), "127.0.0.1:%d", port);
        m->v[from + i] = (struct conf_endpoint){ .text = m->text[from + i], .host = "127.0.0.1",
                                                 .port = port };
    }
}

static err_t prepare(struct listeners_plan **plan, const struct wants *w, unsigned workers)
{
    struct made m;

    endpoints_of(&m, w->rtmp, 0, &m.rtmp);
    endpoints_of(&m, w->api, 2, &m.api);
    m.want[0] = (struct listeners_want){ FAMILY, RTMP, &m.rtmp, false };
    m.want[1] = (struct listeners_want){ FAMILY, API, &m.api, true };
    return listeners_prepare(plan, seen[0].l, m.want, COUNT(m.want), workers);
}

static void change(const struct wants *w, unsigned workers)
{
    struct listeners_plan *plan = NULL;

    assert_ok(prepare(&plan, w, workers));
    for (unsigned i = workers; i-- > 0;) /* in any order */
        listeners_apply(seen[i].l, plan, i);
    listeners_plan_free(plan);
    assert_ok(co_sleep(CO_MS(1))); /* sockets that are no longer needed are closed automatically */
}

/* Number of `n` connects that are accepted; each worker counts its own. */
static unsigned guests(int which, int n)
{
    unsigned before = 0, after = 0;
    int connected = 0;

    for (int i = 0; i < MOST_WORKERS; i++) {
        before += seen[i].guests;
        seen[i].services = 0;
    }
    for (int i = 0; i < n; i++) {
        struct io *io;
        err_t err = io_tcp_connect(&io, "127.0.0.1", ports[which], NULL, CO_SECONDS(2));

        connected += !err;
        if (!err)
            io_close(io);
        err_free(&err);
    }
    for (int turn = 0; turn < 1000; turn++) {
        after = 0;
        for (int i = 0; i < MOST_WORKERS; i++)
            after += seen[i].guests;
        if (after - before == (unsigned)connected)
            break;
        assert_ok(co_sleep(CO_MS(1)));
    }
    return after - before;
}

static void test_one_worker(void **state)
{
    size_t before = descriptors();

    (void)state;
    change(&(struct wants){ { 0, 1 }, { 1, 2 } }, 1);
    assert_int_equal(descriptors(), before + 3);
    assert_int_equal(guests(0, 2), 2);
    assert_int_equal(seen[0].services, RTMP);
    assert_int_equal(guests(1, 2), 2);
    assert_int_equal(seen[0].services, RTMP | API);
    assert_int_equal(guests(2, 2), 2);
    assert_int_equal(seen[0].services, API);
    change(&(struct wants){ { 1, -1 }, { 2, -1 } }, 1);
    assert_int_equal(descriptors(), before + 2);
    assert_int_equal(guests(0, 1), 0);
    assert_int_equal(guests(1, 1), 1);
    assert_int_equal(seen[0].services, RTMP);
    listeners_close(seen[0].l);
    assert_ok(co_sleep(CO_MS(1)));
    assert_int_equal(descriptors(), before);
}

/* Exclusive: no other process may listen there, even one that would share. */
static void test_one_worker_shares_nothing(void **state)
{
    int fd = -1;

    (void)state;
    change(&(struct wants){ { 0, -1 }, { -1, -1 } }, 1);
    assert_err(io_listen_open(&fd, "127.0.0.1", ports[0], 1, IO_LISTEN_MORE), ERR_SOCKET_BIND);
}

static void test_all_workers_get_some(void **state)
{
    (void)state;
    change(&(struct wants){ { 0, -1 }, { 2, -1 } }, MOST_WORKERS);
    assert_int_equal(guests(0, GUESTS), GUESTS);
    for (int i = 0; i < MOST_WORKERS; i++)
        assert_true(seen[i].guests > 0);
}

static void test_the_api_is_of_the_first(void **state)
{
    size_t before = descriptors();

    (void)state;
    change(&(struct wants){ { 0, -1 }, { 2, -1 } }, MOST_WORKERS);
    assert_int_equal(descriptors(), before + MOST_WORKERS + 1);
    assert_int_equal(guests(2, GUESTS), GUESTS);
    assert_int_equal(seen[0].guests, GUESTS);
}

/* The port of the API becomes that of RTMP, too, and separate again. */
static void test_an_endpoint_widens_and_narrows(void **state)
{
    size_t before = descriptors();

    (void)state;
    change(&(struct wants){ { 0, -1 }, { 2, -1 } }, MOST_WORKERS);
    change(&(struct wants){ { 0, 2 }, { 2, -1 } }, MOST_WORKERS);
    assert_int_equal(descriptors(), before + 2 * MOST_WORKERS);
    assert_int_equal(guests(2, GUESTS), GUESTS);
    for (int i = 0; i < MOST_WORKERS; i++) {
        assert_true(seen[i].guests > 0);
        assert_int_equal(seen[i].services, RTMP | API);
    }
    change(&(struct wants){ { 0, -1 }, { 2, -1 } }, MOST_WORKERS);
    assert_int_equal(descriptors(), before + MOST_WORKERS + 1);
    assert_int_equal(guests(2, GUESTS), GUESTS);
    assert_int_equal(seen[0].services, API);
    assert_int_equal(seen[1].services, 0);
}

static const struct {
    const char *name;
    unsigned workers;
    enum io_listen_share share; /* set by the process that has the port */
} taken[] = {
    { "one worker", 1, IO_LISTEN_ONE },
    { "one worker, a port that is shared", 1, IO_LISTEN_FIRST },
    { "more", MOST_WORKERS, IO_LISTEN_ONE },
    { "more, a port that is shared", MOST_WORKERS, IO_LISTEN_FIRST },
};

/* A port in use by another process: nothing is opened, nothing closed, including earlier ports. */
static void test_all_or_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(taken); i++) {
        struct listeners_plan *plan = NULL;
        size_t before;
        int fd = -1;

        print_message("  %s\n", taken[i].name);
        change(&(struct wants){ { 0, -1 }, { -1, -1 } }, taken[i].workers);
        assert_ok(io_listen_open(&fd, "127.0.0.1", ports[1], 1, taken[i].share));
        before = descriptors();
        assert_err(prepare(&plan, &(struct wants){ { 1, -1 }, { 2, -1 } }, taken[i].workers),
                   ERR_SOCKET_BIND);
        assert_null(plan);
        assert_int_equal(descriptors(), before);
        assert_int_equal(guests(0, 3), 3);
        (void)close(fd);
        change(&(struct wants){ { -1, -1 }, { -1, -1 } }, taken[i].workers);
    }
}

/* Another part of a reload failed: open sockets stay, newly opened ones are closed. */
static void test_a_plan_that_is_dropped(void **state)
{
    struct listeners_plan *plan = NULL;
    size_t before;

    (void)state;
    change(&(struct wants){ { 0, -1 }, { -1, -1 } }, 2);
    before = descriptors();
    assert_ok(prepare(&plan, &(struct wants){ { 1, -1 }, { 2, -1 } }, 2));
    assert_int_equal(descriptors(), before + 3);
    listeners_plan_free(plan);
    assert_int_equal(descriptors(), before);
    assert_int_equal(guests(0, 3), 3);
    assert_int_equal(guests(1, 1), 0);
    listeners_plan_free(NULL);
}

#define LISTEN_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LISTEN_TEST(test_one_worker),
        LISTEN_TEST(test_one_worker_shares_nothing),
        LISTEN_TEST(test_all_workers_get_some),
        LISTEN_TEST(test_the_api_is_of_the_first),
        LISTEN_TEST(test_an_endpoint_widens_and_narrows),
        LISTEN_TEST(test_all_or_none),
        LISTEN_TEST(test_a_plan_that_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
