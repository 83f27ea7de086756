/* SPDX-License-Identifier: MIT */
/* rtc_guest.c - a WebRTC client: its offer, ICE checks, DTLS, SRTP packets; over UDP or TCP. */
#include "rtc_guest.h"

#include "co/net/io.h"
#include "two_workers.h"

enum { SSRC = 1111 };

static struct dtls_identity *identities[2]; /* for all clients; another one */

static struct dtls_identity *identity(unsigned i)
{
    if (!identities[i])
        assert_ok(dtls_identity_new(&identities[i], &(struct dtls_identity_opts){ .rsa = false }));
    return identities[i];
}

void rtc_guest_open(struct rtc_guest *g, int port)
{
    static const struct udp_opts opts = { 0 };

    *g = (struct rtc_guest){ 0 };
    assert_ok(udp_open(&g->socket, "127.0.0.1", 0, &opts));
    assert_ok(udp_addr_parse(&g->to.peer, "127.0.0.1", port));
}

void rtc_guest_forget(struct rtc_guest *g)
{
    dtls_free(g->dtls);
    srtp_out_free(g->srtp);
    g->dtls = NULL;
    g->srtp = NULL;
}

void rtc_guest_close(struct rtc_guest *g)
{
    rtc_guest_forget(g);
    udp_close(g->socket);
}

/* ---- offer and answer */

char *rtc_offer_of(enum rtc_request_kind kind, const char *ufrag, const char *codec)
{
    char *text = NULL;
    int n = asprintf(&text,
        "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n"
        "m=video 9 UDP/TLS/RTP/SAVPF 96 97\r\nc=IN IP4 0.0.0.0\r\na=mid:0\r\na=setup:active\r\n"
        "a=ice-ufrag:%s\r\na=ice-pwd:" RTC_GUEST_PWD "\r\na=fingerprint:sha-256 %s\r\n"
        "a=%s\r\na=rtcp-mux\r\na=rtpmap:96 %s/90000\r\na=rtcp-fb:96 nack\r\n"
        "a=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96\r\n%s", ufrag,
        dtls_identity_fingerprint(identity(0)), kind == RTC_REQUEST_PUBLISH ? "sendonly" : "recvonly",
        codec, strcmp(codec, "H264") ? "" :
        "a=fmtp:96 packetization-mode=1;profile-level-id=42e01f;level-asymmetry-allowed=1\r\n");

    assert_true(n > 0);
    return text;
}

struct rtc_request rtc_request_of(enum rtc_request_kind kind, const char *stream, char *offer)
{
    struct rtc_request a = { .kind = kind };

    a.vhost = strdup("");
    a.app = strdup("live");
    a.stream = strdup(stream);
    a.param = strdup("?a=b");
    a.tc_url = strdup("webrtc://h/live");
    a.page_url = strdup("");
    a.ip = strdup("127.0.0.1");
    a.host = strdup("");
    a.eip = strdup("");
    a.offer = offer;
    a.offer_size = strlen(offer);
    return a;
}

/* The rest of the line after this name. */
static void read_line(const char *text, const char *name, char *out, size_t room)
{
    const char *at = strstr(text, name);
    size_t n;

    assert_non_null(at);
    at += strlen(name);
    n = strcspn(at, "\r\n");
    assert_true(n < room);
    memcpy(out, at, n);
    out[n] = '\0';
}

void rtc_guest_read(struct rtc_guest *g, const char *answer)
{
    char text[200];

    read_line(answer, "a=ice-ufrag:", g->theirs, sizeof(g->theirs));
    read_line(answer, "a=ice-pwd:", g->pwd, sizeof(g->pwd));
    if (!strstr(answer, "a=fingerprint:"))
        return; /* a fragment */
    read_line(answer, "a=fingerprint:", text, sizeof(text));
    assert_true(dtls_fingerprint_parse(&g->fingerprint, text, strlen(text)));
}

int rtc_guest_ask(struct rtc_guest *g, struct session_env *env, enum rtc_request_kind kind,
                  const char *stream)
{
    struct rtc_request a;
    int status;

    (void)snprintf(g->ours, sizeof(g->ours), "guest");
    a = rtc_request_of(kind, stream, rtc_offer_of(kind, g->ours, "H264"));
    (void)snprintf(a.ufrag, sizeof(a.ufrag), "%s", g->wish);
    rtc_request_answer(env, &a);
    status = a.status;
    if (status == 201) {
        rtc_guest_read(g, a.answer);
        assert_true(strlen(a.session) < sizeof(g->session));
        strcpy(g->session, a.session);
        (void)snprintf(g->token, sizeof(g->token), "%s", a.token);
    }
    rtc_request_free(&a);
    return status;
}

/* ---- datagrams */

void rtc_guest_send(struct rtc_guest *g, const void *data, size_t size)
{
    struct iovec iov = { (void *)(uintptr_t)data, size };
    const struct udp_out out = { &iov, 1, 0, &g->to, UDP_NOT_ECT };
    const uint8_t head[] = { (uint8_t)(size >> 8), (uint8_t)size };

    g->sent++;
    if (!g->tcp) {
        assert_int_equal(udp_send(g->socket, &out, 1), 1);
        return;
    }
    assert_ok(io_write(g->tcp, head, 2));
    assert_ok(io_write(g->tcp, data, size));
}

static size_t hear_frame(struct rtc_guest *g, uint8_t out[2048])
{
    uint8_t head[2];
    size_t size;

    assert_ok(io_read_full(g->tcp, head, 2));
    size = (size_t)head[0] << 8 | head[1];
    assert_true(size <= 2048);
    assert_ok(io_read_full(g->tcp, out, size));
    return size;
}

size_t rtc_guest_hear(struct rtc_guest *g, uint8_t out[2048], co_usec patience)
{
    co_usec until = co_clock() + patience;

    if (g->tcp)
        return hear_frame(g, out);
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

size_t rtc_guest_hear_more(struct rtc_guest *g, uint8_t out[2048])
{
    struct stun_message m;
    size_t size;

    do
        size = rtc_guest_hear(g, out, CO_SECONDS(2));
    while (size > 0 && stun_parse(&m, out, size) && m.class == STUN_REQUEST);
    return size;
}

/* ---- ICE */

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

bool rtc_guest_answers(struct rtc_guest *g)
{
    uint8_t in[2048], out[STUN_MAX];
    struct stun_message m;
    size_t size;

    do
        size = rtc_guest_hear(g, in, CO_SECONDS(2));
    while (size > 0 && !(stun_parse(&m, in, size) && m.class == STUN_REQUEST));
    if (size == 0)
        return false;
    assert_true(stun_is_of(&m, RTC_GUEST_PWD));
    rtc_guest_send(g, out, stun_write_success(out, &m, &g->to.peer, RTC_GUEST_PWD));
    return true;
}

bool rtc_guest_checks(struct rtc_guest *g)
{
    uint8_t in[2048];
    struct stun_message m;
    size_t size;

    rtc_guest_check(g, g->pwd, true);
    do
        size = rtc_guest_hear_more(g, in);
    while (size > 0 && !stun_parse(&m, in, size));
    return size > 0 && m.class == STUN_SUCCESS && stun_is_of(&m, g->pwd) &&
           (g->tcp || m.mapped.port == g->socket->at.port);
}

/* ---- DTLS */

static bool is_dtls(const uint8_t *in, size_t size)
{
    return size > 0 && in[0] >= 20 && in[0] < 64;
}

static void send_flight(struct rtc_guest *g)
{
    const uint8_t *data;
    size_t size;

    while (dtls_output(g->dtls, &data, &size))
        rtc_guest_send(g, data, size);
}

static void begin_handshake(struct rtc_guest *g, unsigned certificate)
{
    const struct dtls_opts opts = { .client = true, .peer = g->fingerprint };

    rtc_guest_forget(g);
    assert_ok(dtls_new(&g->dtls, identity(certificate), &opts));
    dtls_start(g->dtls, co_clock());
    send_flight(g);
}

/* The next datagram goes to the handshake, or none came. */
static void step(struct rtc_guest *g)
{
    uint8_t in[2048];
    size_t size = rtc_guest_hear(g, in, CO_MS(20));

    if (is_dtls(in, size))
        dtls_input(g->dtls, in, size, co_clock());
    else if (dtls_deadline(g->dtls) <= co_clock())
        dtls_tick(g->dtls, co_clock());
    send_flight(g);
}

bool rtc_guest_shakes(struct rtc_guest *g)
{
    co_usec until = co_clock() + CO_SECONDS(5);
    struct srtp_keys send, receive;

    begin_handshake(g, 0);
    while (dtls_state(g->dtls) < DTLS_DONE && co_clock() < until)
        step(g);
    if (dtls_state(g->dtls) != DTLS_DONE)
        return false;
    assert_true(dtls_keys(g->dtls, &send, &receive));
    assert_ok(srtp_out_new(&g->srtp, &send));
    srtp_keys_wipe(&send);
    srtp_keys_wipe(&receive);
    return true;
}

void rtc_guest_shakes_wrongly(struct rtc_guest *g)
{
    co_usec until = co_clock() + CO_MS(300);

    begin_handshake(g, 1);
    while (dtls_state(g->dtls) < DTLS_DONE && co_clock() < until)
        step(g);
}

bool rtc_guest_connects(struct rtc_guest *g)
{
    return rtc_guest_checks(g) && rtc_guest_shakes(g);
}

void rtc_guest_bye(struct rtc_guest *g)
{
    dtls_close(g->dtls);
    send_flight(g);
}

bool rtc_guest_hears_bye(struct rtc_guest *g)
{
    uint8_t in[2048];
    size_t size;

    do {
        size = rtc_guest_hear(g, in, CO_SECONDS(1));
        if (is_dtls(in, size))
            dtls_input(g->dtls, in, size, co_clock());
    } while (size > 0 && dtls_state(g->dtls) != DTLS_CLOSED);
    return size > 0;
}

/* ---- packets */

static void send_packet(struct rtc_guest *g, uint8_t type, bool forged)
{
    uint8_t plain[64] = { 0x80, type, 0, 1, 0, 0, SSRC >> 8, SSRC & 255 }, out[64 + SRTCP_TAIL];
    size_t size = type < 192 ? sizeof(plain) : 8;

    if (type < 192) {
        g->seq++;
        memcpy(plain, (uint8_t[]){ 0x80, type, (uint8_t)(g->seq >> 8), (uint8_t)g->seq, 0, 0, 0, 0,
                                   0, 0, SSRC >> 8, SSRC & 255, 1 }, 13);
    }
    memcpy(out, plain, size);
    if (g->srtp && type < 192)
        size = srtp_protect(g->srtp, out, plain, 12, plain + 12, size - 12, g->seq);
    else if (g->srtp)
        size = srtcp_protect(g->srtp, out, plain, size);
    assert_true(size > 0);
    out[size - 1] ^= forged;
    rtc_guest_send(g, out, size);
}

void rtc_guest_packet(struct rtc_guest *g, uint8_t type)
{
    send_packet(g, type, false);
}

void rtc_guest_forged(struct rtc_guest *g, uint8_t type)
{
    send_packet(g, type, true);
}

/* ---- workers */

static void take_stat(struct session_env *env, void *out)
{
    assert_true(rtc_counters.read(env, out));
}

struct rtc_service_stat rtc_guest_stat(unsigned worker)
{
    struct rtc_service_stat st = { 0 };

    workers_call(&two_env[0], worker, take_stat, &st);
    return st;
}
