/* SPDX-License-Identifier: MIT */
/* rtsp.c - what a load client says to an RTSP server. */
#include "tools/load/rtsp.h"

#include <stdlib.h>

#include "co/net/io_tcp.h"

enum {
    OFFER_MAX = 4096, PORT_LOW = 16384, PORT_HIGH = 65534,
    BUFFER = 4 << 20, /* what is sent at once for some hundred ms, with what the kernel adds */
};

static const struct rtsp_limits limits = {
    .max_line = 4096, .max_head = 16 * 1024, .max_fields = 64, .max_body = 64 * 1024,
    .idle_time = CO_FOREVER, .message_time = CO_FOREVER, /* each answer has a time of its own */
};

err_t load_rtsp_open(struct load_client *c, const struct load_url *url, const char *bind_ip,
                     co_usec timeout)
{
    struct io **io = &c->talk.io, *up;
    err_t err = load_connect(io, c->run->ip, url, bind_ip, timeout);

    if (err || !c->run->opts.tunnel)
        return err;
    err = load_connect(&up, c->run->ip, url, bind_ip, timeout);
    if (!err)
        return load_tunnel_open(io, up, url->host);
    load_talk_close(&c->talk);
    return err;
}

err_t load_rtsp_init(struct load_rtsp *t, struct load_client *c, const struct load_url *url)
{
    co_usec timeout = (co_usec)(c->run->opts.timeout * 1e6);
    err_t err;

    *t = (struct load_rtsp){ .c = c };
    t->setup = (struct rtsp_call_setup){ .agent = c->run->tool->name, .trust = { .any = true },
                                         .connect = timeout, .answer = timeout };
    err = rtsp_call_init(&t->call, url->tc_url, &t->setup);
    if (err)
        return err;
    t->call.io = c->talk.io;
    rtsp_reader_init(&t->call.reader, c->talk.io, &limits);
    t->call.reader.frames = t->call.reader.forgiving = true;
    return NULL;
}

void load_rtsp_fini(struct load_rtsp *t)
{
    free(t->base);
    rtsp_call_fini(&t->call);
    t->c->talk.io = NULL;
}

/* ------------------------------------------------------------ requests */

err_t load_rtsp_ask(struct load_rtsp *t, const struct rtsp_request *ask,
                    const struct rtsp_message **answer)
{
    err_t err = rtsp_call_request(&t->call, ask, answer);
    enum err_code code = err_code(err);

    t->c->talk.io = t->call.io; /* of another server, if it was sent there */
    if (code == ERR_RTSP_REFUSED || code == ERR_RTSP_LOGIN)
        load_stat_refused(&t->c->run->stat, t->call.client.status);
    return err;
}

/* The answer decides; of one without the field, what was offered. */
static err_t agreed(const struct rtsp_message *answer, const struct rtsp_transport *offer,
                    struct rtsp_transport *got)
{
    const char *text = rtsp_message_field(answer, "Transport");
    struct rtsp_transport out[RTSP_OFFERS_MAX];
    size_t n = 0;

    *got = *offer;
    if (!text)
        return NULL;
    rtsp_transport_parse(text, out, &n);
    if (n == 0 || out[0].lower != offer->lower)
        return err_new(ERR_RTSP, "SETUP: another transport was answered: %.100s", text);
    *got = out[0];
    return NULL;
}

static err_t ask_setup(struct load_rtsp *t, const char *control, const struct rtsp_transport *offer,
                       struct rtsp_transport *got)
{
    char *url = rtsp_url_join(t->base ? t->base : t->call.client.location.url, control);
    struct rtsp_extra more = { "Transport", NULL };
    const struct rtsp_request ask = { .method = RTSP_SETUP, .url = url, .more = &more, .n = 1 };
    const struct rtsp_message *answer;
    struct wr w;
    err_t err;

    wr_init(&w, OFFER_MAX);
    rtsp_transport_put(&w, offer);
    wr_u8(&w, 0);
    err = wr_err(&w, "an offer");
    more.value = (const char *)w.buf;
    if (!err)
        err = load_rtsp_ask(t, &ask, &answer);
    if (!err)
        err = agreed(answer, offer, got);
    wr_free(&w);
    free(url);
    return err;
}

/* From the client's address. */
static err_t open_pair(const struct load_client *c, struct load_pair *pair)
{
    const struct udp_opts opts = { .rcvbuf = BUFFER, .sndbuf = BUFFER };
    char bind_ip[64];
    err_t err = load_opts_bind(&c->run->opts, c->index, bind_ip, sizeof(bind_ip));

    return err ? err : udp_open_pair(pair->udp, bind_ip, PORT_LOW, PORT_HIGH, &opts);
}

static err_t take_ports(const struct load_rtsp *t, struct rtsp_pair ports, struct load_pair *pair)
{
    char ip[IO_ADDR_SIZE];
    int port;
    err_t err = NULL;

    io_tcp_peer(t->c->talk.io, ip, &port);
    if (ports.rtp > 0)
        err = udp_addr_parse(&pair->to[0], ip, ports.rtp);
    if (!err && ports.rtp > 0 && ports.rtcp <= 0)
        ports.rtcp = ports.rtp + 1;
    return err || ports.rtcp <= 0 ? err : udp_addr_parse(&pair->to[1], ip, ports.rtcp);
}

err_t load_rtsp_setup(struct load_rtsp *t, const char *control, unsigned track, bool record,
                      struct load_pair *pair)
{
    struct rtsp_transport offer = rtsp_transport_none, got;
    bool udp = t->c->run->opts.udp;
    err_t err = udp ? open_pair(t->c, pair) : NULL;

    offer.record = record;
    if (!err && udp) {
        offer.lower = RTSP_UDP;
        offer.client_port = (struct rtsp_pair){ pair->udp[0]->at.port, pair->udp[1]->at.port };
    } else {
        offer.channels = (struct rtsp_pair){ (int)track * 2, (int)track * 2 + 1 };
    }
    if (!err)
        err = ask_setup(t, control, &offer, &got);
    if (err)
        return err;
    pair->channel = (uint8_t)(got.channels.rtp < 0 ? (int)track * 2 : got.channels.rtp);
    if (udp)
        err = take_ports(t, got.server_port, pair);
    if (!err && udp && record && pair->to[0].port == 0)
        err = err_new(ERR_RTSP, "SETUP: no server_port was answered");
    return err;
}

void load_pair_close(struct load_pair *pair)
{
    udp_close(pair->udp[0]);
    udp_close(pair->udp[1]);
}

static void plan_alive(struct load_rtsp *t)
{
    t->alive_due = co_now() + CO_SECONDS(rtsp_client_keepalive_interval(&t->call.client));
}

void load_rtsp_begin(struct load_rtsp *t)
{
    t->call.reader.forgiving = false;
    t->c->talk.io->read_timeout = t->setup.answer;
    plan_alive(t);
}

/* ------------------------------------------------------------ while media flow */

err_t load_rtsp_alive(struct load_rtsp *t)
{
    if (t->alive_due == 0 || co_now() < t->alive_due)
        return NULL;
    plan_alive(t);
    return rtsp_call_keepalive(&t->call, t->base);
}

void load_rtsp_teardown(struct load_rtsp *t)
{
    const struct rtsp_request ask = { .method = RTSP_TEARDOWN, .url = t->base };
    err_t err = rtsp_call_send(&t->call, &ask);

    err_free(&err);
}
