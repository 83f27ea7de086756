/* SPDX-License-Identifier: MIT */
/* test_co_udp_net.c - protocols over loopback and over the network in memory. */
#include "udp_ends.h"

/* ---- protocols: the responder echoes; the requester repeats each 10 ms until it gets the echo */

struct requester {
    struct udp_path path;
    co_usec due;
    int number, most; /* the question; the last one */
    int sent, answers, wrong;
    bool due_now;
    uint8_t out[4];
    struct iovec iov;
    struct udp *wake; /* when all are answered */
};

static void requester_input(void *me, const struct udp_in *v, size_t n, co_usec now)
{
    struct requester *a = me;

    for (size_t i = 0; i < n; i++) {
        a->answers++;
        if (v[i].size != 1 || v[i].data[0] != (uint8_t)a->number) {
            a->wrong++;
            continue;
        }
        if (a->number++ == a->most)
            a->due = CO_FOREVER;
        else
            a->due = now;
    }
}

static co_usec requester_deadline(void *me)
{
    return ((struct requester *)me)->due;
}

static void requester_tick(void *me, co_usec now)
{
    struct requester *a = me;

    a->due_now = true;
    a->due = now + CO_MS(10);
}

static size_t requester_output(void *me, struct udp_out *v, size_t most, co_usec now)
{
    struct requester *a = me;

    (void)most;
    (void)now;
    if (!a->due_now)
        return 0;
    a->due_now = false;
    a->sent++;
    a->out[0] = (uint8_t)a->number;
    a->iov = (struct iovec){ a->out, 1 };
    *v = (struct udp_out){ &a->iov, 1, 0, &a->path, UDP_ECT0 };
    return 1;
}

static const struct udp_proto requester = { requester_input, requester_output, requester_deadline, requester_tick };

struct echo {
    uint8_t data[64];
    struct udp_path path[64];
    struct iovec iov[64];
    size_t n;
    int seen, marked;
};

static void echo_input(void *me, const struct udp_in *v, size_t n, co_usec now)
{
    struct echo *e = me;

    (void)now;
    for (size_t i = 0; i < n; i++) {
        e->seen++;
        e->marked += v[i].ecn == UDP_CE;
        if (e->n == 64 || v[i].size != 1)
            continue;
        e->data[e->n] = v[i].data[0];
        e->path[e->n++] = v[i].path;
    }
}

static size_t echo_output(void *me, struct udp_out *v, size_t most, co_usec now)
{
    struct echo *e = me;
    size_t n = 0;

    (void)now;
    for (; e->n > 0 && n < most; n++) {
        e->n--;
        e->iov[e->n] = (struct iovec){ &e->data[e->n], 1 };
        v[n] = (struct udp_out){ &e->iov[e->n], 1, 0, &e->path[e->n], UDP_NOT_ECT };
    }
    return n;
}

static const struct udp_proto echo = { .input = echo_input, .output = echo_output };

struct driven {
    struct udp *udp;
    const struct udp_proto *proto;
    void *me;
};

static err_t drive(void *arg)
{
    struct driven *d = arg;

    return udp_drive(d->udp, d->proto, d->me);
}

static void test_driven_over_loopback(void **state)
{
    static struct echo e;
    struct requester a = { .most = 200 };
    struct driven server = { NULL, &echo, &e }, client = { NULL, &requester, &a };
    struct co_group g;

    (void)state;
    assert_ok(udp_open(&server.udp, "", 0, &udp_usual));
    assert_ok(udp_open(&client.udp, "", 0, &udp_usual));
    a.path = udp_path_to("127.0.0.1", server.udp->at.port);
    co_group_init(&g);
    assert_ok(co_go(&g, "server", drive, &server));
    assert_ok(co_go(&g, "client", drive, &client));
    for (int i = 0; i < 1000 && a.number <= a.most; i++)
        assert_ok(co_sleep(CO_MS(2)));
    assert_int_equal(a.number, a.most + 1);
    /* both wait for something that never comes: one more request from any waker */
    a.number = a.most;
    a.due_now = true;
    udp_wake(client.udp);
    for (int i = 0; i < 1000 && a.number <= a.most; i++)
        assert_ok(co_sleep(CO_MS(2)));
    assert_int_equal(a.number, a.most + 1);
    assert_err(co_group_stop(&g), ERR_STOPPED); /* while they wait */
    assert_int_equal(client.udp->stat.drops, 0);
    udp_close(server.udp);
    udp_close(client.udp);
}

/* ---- the network in memory */

struct world {
    struct udp_net *net;
    struct udp *server, *client;
    struct echo e;
    struct requester a;
};

static void world_begin(struct world *w, uint64_t seed, const struct udp_net_rules *rules)
{
    *w = (struct world){ .net = udp_net_new(seed, rules), .a = { .most = 100 } };
    assert_ok(udp_net_open(w->net, &w->server, "", 9, &udp_usual));
    assert_ok(udp_net_open(w->net, &w->client, "10.0.0.1", 7, &udp_usual));
    assert_err(udp_net_open(w->net, &w->client, "10.0.0.1", 7, &udp_usual), ERR_SOCKET_BIND);
    w->a.path = udp_path_to("10.0.0.2", 9);
    w->a.due = udp_net_now(w->net);
    udp_net_attach(w->server, &echo, &w->e);
    udp_net_attach(w->client, &requester, &w->a);
}

static void world_end(struct world *w)
{
    udp_close(w->server);
    udp_close(w->client);
    udp_net_free(w->net);
}

static void test_net_as_it_should_be(void **state)
{
    struct world w;
    co_usec began;

    (void)state;
    world_begin(&w, 1, &(struct udp_net_rules){ .delay = CO_MS(3) });
    began = udp_net_now(w.net);
    udp_net_run(w.net, CO_MS(6) * 101);
    assert_int_equal(udp_net_now(w.net) - began, CO_MS(606));
    assert_int_equal(w.a.number, 101); /* one question in 6 ms, none lost */
    assert_int_equal(w.a.sent, 101);
    assert_int_equal(w.a.wrong, 0);
    world_end(&w);
}

/* The same seed gives the same result; another one does not. Regardless of losses, all is answered. */
static void test_net_by_seed(void **state)
{
    const struct udp_net_rules bad = { .drop = 200, .repeat = 100, .hold = 50, .mark = 300,
                                       .held = CO_MS(40), .delay = CO_MS(2),
                                       .jitter = CO_MS(9) };
    int sent[3], seen[3], wrong[3], differ = 0;

    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        struct world w;

        world_begin(&w, i / 2, &bad);
        udp_net_run(w.net, CO_SECONDS(20));
        assert_int_equal(w.a.number, 101);
        assert_true(w.a.sent > 120 && w.a.wrong > 0 && w.e.marked > 0);
        sent[i] = w.a.sent;
        seen[i] = w.e.seen;
        wrong[i] = w.a.wrong;
        world_end(&w);
    }
    assert_int_equal(sent[0], sent[1]);
    assert_int_equal(seen[0], seen[1]);
    assert_int_equal(wrong[0], wrong[1]);
    differ = (sent[0] != sent[2]) + (seen[0] != seen[2]) + (wrong[0] != wrong[2]);
    assert_true(differ > 0);
}

/* By hand, without a protocol: sent data is there when the time has come. */
static void test_net_by_hand(void **state)
{
    const struct udp_net_rules rules = { .delay = CO_MS(5), .mtu = 500 };
    struct udp_net *net = udp_net_new(7, &rules);
    struct udp_path path = udp_path_to("::2", 9);
    const struct udp_in *v;
    uint8_t data[600] = { 1, 2, 3 };
    struct udp *a, *b;
    co_usec sent;
    size_t n;

    (void)state;
    assert_ok(udp_net_open(net, &a, "::1", 7, &udp_usual));
    assert_ok(udp_net_open(net, &b, "::2", 9, &(struct udp_opts){ .most = 400 }));
    sent = udp_now(a);
    assert_int_equal(udp_send_bytes(a, &path, data, 600, 0), 1);   /* over the MTU */
    assert_int_equal(udp_send_bytes(a, &path, data, 401, 0), 1);   /* over b's limit */
    assert_int_equal(udp_send_bytes(a, &path, data, 600, 250), 1); /* three */
    assert_int_equal(udp_send_bytes(a, &path, data, 0, 0), 1);
    path = udp_path_to("::3", 9); /* no receiver */
    assert_int_equal(udp_send_bytes(a, &path, data, 1, 0), 1);
    assert_ok(udp_recv_now(b, &v, &n));
    assert_int_equal(n, 0);
    assert_int_equal(udp_wait(b, CO_MS(4)), CO_TIMEOUT);
    assert_int_equal(udp_now(b), sent + CO_MS(4));
    assert_int_equal(udp_wait(b, CO_FOREVER), CO_WOKEN);
    assert_int_equal(udp_now(b), sent + CO_MS(5));
    assert_ok(udp_recv_now(b, &v, &n));
    assert_int_equal(n, 4);
    assert_int_equal(v[0].size, 250);
    assert_int_equal(v[2].size, 100);
    assert_int_equal(v[3].size, 0);
    assert_int_equal(v[0].at, sent + CO_MS(5));
    assert_int_equal(v[0].path.peer.port, 7);
    assert_true(udp_addr_same(&v[0].path.local, &b->at));
    assert_int_equal(b->stat.truncated, 1);
    udp_net_rule(net, &(struct udp_net_rules){ .drop = 1000 });
    assert_int_equal(udp_send_bytes(a, &path, data, 1, 0), 1);
    udp_wake(b);
    assert_int_equal(udp_wait(b, CO_FOREVER), CO_WOKEN);
    assert_int_equal(udp_wait(b, CO_MS(10)), CO_TIMEOUT);
    udp_close(a);
    udp_close(b);
    udp_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_driven_over_loopback), TEST(test_net_as_it_should_be),
        TEST(test_net_by_seed), TEST(test_net_by_hand),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
