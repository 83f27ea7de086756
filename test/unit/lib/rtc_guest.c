/* SPDX-License-Identifier: MIT */
/* rtc_guest.c - a client of WebRTC over UDP: asks, and sends checks and bytes. */
#include "rtc_guest.h"

void rtc_guest_open(struct rtc_guest *g, int port)
{
    static const struct udp_opts opts = { 0 };

    *g = (struct rtc_guest){ 0 };
    assert_ok(udp_open(&g->socket, "127.0.0.1", 0, &opts));
    assert_ok(udp_addr_parse(&g->to.peer, "127.0.0.1", port));
}

void rtc_guest_close(struct rtc_guest *g)
{
    udp_close(g->socket);
}

struct rtc_ask rtc_ask_of(enum rtc_ask_kind kind, const char *stream,
                                        const char *offer)
{
    struct rtc_ask a = { .kind = kind };

    a.vhost = strdup("");
    a.app = strdup("live");
    a.stream = strdup(stream);
    a.param = strdup("?a=b");
    a.tc_url = strdup("webrtc://h/live");
    a.page_url = strdup("");
    a.ip = strdup("127.0.0.1");
    a.host = strdup("");
    a.eip = strdup("");
    a.offer = strdup(offer);
    a.offer_size = strlen(offer);
    return a;
}

int rtc_guest_ask(struct rtc_guest *g, struct session_env *env,
                                enum rtc_ask_kind kind, const char *stream)
{
    struct rtc_ask a;
    int status;

    (void)snprintf(g->ours, sizeof(g->ours), "guest");
    a = rtc_ask_of(kind, stream, g->ours);
    (void)snprintf(a.ufrag, sizeof(a.ufrag), "%s", g->wish);
    rtc_ask(env, &a);
    status = a.status;
    if (status == 201) {
        assert_int_equal(sscanf(a.answer, "%39s %39s", g->theirs, g->pwd), 2);
        assert_true(strlen(a.session) < sizeof(g->session));
        strcpy(g->session, a.session);
        (void)snprintf(g->token, sizeof(g->token), "%s", a.token);
    }
    rtc_ask_free(&a);
    return status;
}

void rtc_guest_send(struct rtc_guest *g, const void *data, size_t size)
{
    struct iovec iov = { (void *)(uintptr_t)data, size };
    const struct udp_out out = { &iov, 1, 0, &g->to, UDP_NOT_ECT };

    assert_int_equal(udp_send(g->socket, &out, 1), 1);
}

size_t rtc_guest_hear(struct rtc_guest *g, uint8_t out[2048], co_usec patience)
{
    co_usec until = co_clock() + patience;

    do {
        if (g->n == 0)
            assert_ok(udp_recv_now(g->socket, &g->came, &g->n));
        if (g->n > 0) {
            assert_true(g->came->size <= 2048);
            memcpy(out, g->came->data, g->came->size);
            g->n--;
            return g->came++->size;
        }
        (void)udp_wait(g->socket, CO_MS(2));
    } while (co_clock() < until);
    return 0;
}

void rtc_guest_check(struct rtc_guest *g, const char *pwd, bool use)
{
    char name[100];
    struct stun_check c = { .username = name, .password = pwd, .controlling = true,
                            .use_candidate = use, .tie = 1 };
    static unsigned transactions;
    uint8_t out[STUN_MAX];

    (void)snprintf(name, sizeof(name), "%s:%s", g->theirs, g->ours);
    transactions++;
    g->checks++;
    memcpy(c.id, &transactions, sizeof(transactions));
    rtc_guest_send(g, out, stun_write_check(out, &c));
}

bool rtc_guest_answers(struct rtc_guest *g, const uint8_t *in, size_t size)
{
    uint8_t out[STUN_MAX];
    struct stun_message m;

    if (!stun_parse(&m, in, size) || m.class != STUN_REQUEST)
        return false;
    assert_true(stun_is_of(&m, "password of a guest"));
    rtc_guest_send(g, out, stun_write_success(out, &m, &g->to.peer, "password of a guest"));
    return true;
}

/* What comes, but for questions whether we are there. */
static size_t rtc_guest_hear_more(struct rtc_guest *g, uint8_t in[2048])
{
    struct stun_message m;
    size_t size;

    do
        size = rtc_guest_hear(g, in, CO_SECONDS(2));
    while (size > 0 && stun_parse(&m, in, size) && m.class == STUN_REQUEST);
    return size;
}

bool rtc_guest_checks(struct rtc_guest *g)
{
    uint8_t in[2048];
    struct stun_message m;
    size_t size;

    rtc_guest_check(g, g->pwd, true);
    size = rtc_guest_hear_more(g, in);
    return size > 0 && stun_parse(&m, in, size) && m.class == STUN_SUCCESS &&
           stun_is_of(&m, g->pwd) && m.mapped.port == g->socket->at.port;
}

bool rtc_guest_connects(struct rtc_guest *g)
{
    uint8_t in[2048];

    if (!rtc_guest_checks(g))
        return false;
    rtc_guest_send(g, "\x16hi", 3);
    return rtc_guest_hear_more(g, in) == 3 && memcmp(in, "\x16ok", 3) == 0;
}

void rtc_guest_packet(struct rtc_guest *g, uint8_t type, char end)
{
    uint8_t data[64] = { 0x80, type };

    data[sizeof(data) - 1] = (uint8_t)end;
    rtc_guest_send(g, data, sizeof(data));
}
