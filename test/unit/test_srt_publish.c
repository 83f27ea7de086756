/* SPDX-License-Identifier: MIT */
/* test_srt_publish.c - an SRT publisher processes a limited amount of due data per turn. Without
 * sockets: packets are put into its connection. */
#include "env.h"
#include "serve/srt/impl.h"
#include "unit.h"

#include <assert.h>
#include <string.h>

#define VHOST "__defaultVhost__"
#define LATENCY CO_MS(20)

enum { FIRST = 1000, TS = 188, TURN = 128, ALL = 300 };

static struct session_env *env;
static struct srt_service service;

static void put32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* A message of one packet, all of them with the same time. */
static void come(struct srt_peer *p, uint32_t i, co_usec now)
{
    uint8_t data[SRT_HEADER + TS] = { [SRT_HEADER] = 0x47, 0x1f, 0xff, 0x10 };
    struct srt_packet packet;

    put32(data, FIRST + i);
    put32(data + 4, 0xc0000000u | (i + 1));
    put32(data + 12, 1);
    assert_true(srt_packet_read(&packet, data, sizeof(data)));
    srt_conn_input(&p->conn, &packet, now);
}

static unsigned rest(struct srt_peer *p, co_usec now)
{
    struct srt_message m;
    unsigned n = 0;

    while (srt_conn_next(&p->conn, &m, now))
        n++;
    return n;
}

static void turns(struct srt_peer *p)
{
    co_usec now = co_clock(), later = now + 2 * LATENCY;
    const struct srt_conn_opts o = {
        .now = now, .zero = now, .peer_zero = now, .idle_timeout = CO_SECONDS(10), .tsbpd = true,
        .drop_late = true,
        .agreed = { .id = 1, .peer_id = 2, .first_seq = FIRST, .payload = 1456, .window = 8192,
                    .send_latency = LATENCY, .recv_latency = LATENCY },
    };

    assert_true(srt_conn_receive_begin(&p->conn, &o));
    for (uint32_t i = 0; i < ALL; i++)
        come(p, i, now);
    srt_publish_turn(p, now); /* nothing is due */
    srt_publish_turn(p, later);
    srt_publish_turn(p, later);
    assert_int_equal(rest(p, later), ALL - 2 * TURN);
}

static err_t publish_main(void *peer)
{
    struct srt_peer *p = peer;
    err_t why;

    datagram_client_init(&p->base, env);
    strcpy(p->base.cid, "abcdefgh");
    strcpy(p->base.ip, "10.0.0.1");
    p->service = &service;
    session_begin(&p->base.session);
    assert_ok(session_find_stream(&p->base.session, VHOST, "live", "s"));
    assert_ok(srt_publish_admit(p));
    turns(p);
    why = err_new(ERR_IO_CLOSED, "it left");
    srt_publish_end(p, why);
    err_free(&why);
    srt_conn_fini(&p->conn);
    datagram_client_fini(&p->base);
    return NULL;
}

static void a_turn_takes_so_many_messages_at_most(void **state)
{
    static struct srt_peer peer;
    struct co_group group;

    (void)state;
    env = env_new("listen 1935; srt_server { enabled on; listen 1; } vhost " VHOST
                  " { srt { enabled on; srt_to_rtmp on; } }");
    service = (struct srt_service){ .base.env = env };
    co_group_init(&group);
    assert_ok(co_go(&group, "publisher", publish_main, &peer));
    assert_ok(co_group_wait(&group));
    env_free(&env);
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(a_turn_takes_so_many_messages_at_most) };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
