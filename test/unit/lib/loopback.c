/* SPDX-License-Identifier: MIT */
/* loopback.c - a datagram service on loopback, in the test's thread, and its clients. */
#include "loopback.h"

static struct co_group connections;

int loopback_port(void)
{
    static const struct udp_opts opts = { 0 };
    struct udp *u;
    int port;

    assert_ok(udp_open(&u, "127.0.0.1", 0, &opts));
    port = u->at.port;
    udp_close(u);
    return port;
}

struct session_env *loopback_begin(const struct datagram_protocol *p, enum protocol_id id,
                                   const char *conf)
{
    struct session_env *env = env_new(conf);
    struct datagram_sockets *sockets;

    co_group_init(&connections);
    env->connections = &connections;
    assert_ok(datagram_sockets_open(&sockets, p, NULL, env->conf, 1));
    assert_ok(datagram_service_new(env, sockets));
    datagram_sockets_close(sockets);
    assert_non_null(env->service[id]);
    return env;
}

void loopback_end(struct session_env **env, enum protocol_id id)
{
    err_t err = co_group_stop(&connections);

    err_free(&err);
    datagram_service_free((*env)->service[id]);
    assert_null((*env)->service[id]);
    assert_int_equal(live_registry_count((*env)->streams), 0);
    env_free(env);
}

void loopback_send(struct udp *u, const struct udp_path *to, const void *data, size_t size)
{
    struct iovec iov = { (void *)(uintptr_t)data, size };
    const struct udp_out out = { &iov, 1, 0, to, UDP_NOT_ECT };

    assert_int_equal(udp_send(u, &out, 1), 1);
}

size_t loopback_receive(struct udp *u, uint8_t *out, size_t room, co_usec patience)
{
    co_usec until = co_clock() + patience;
    const struct udp_in *v;
    size_t n;

    do {
        assert_ok(udp_recv_now(u, &v, &n));
        if (n > 0) {
            assert_true(v->size <= room);
            memcpy(out, v->data, v->size);
            return v->size;
        }
        (void)udp_wait(u, CO_MS(2));
    } while (co_clock() < until);
    return 0;
}
