/* SPDX-License-Identifier: MIT */
/* session.c - one call to an RTSP server: description, setup, media, end. */
#include "pull/rtsp/pull.h"

#include "base/log.h"
#include "base/must.h"
#include "co/net/io_tcp.h"
#include "co/net/round.h"
#include "proto/rtp/header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_EVERY CO_SECONDS(1)           /* interval of checks for players and packets */
#define UDP_WAIT CO_SECONDS(3)      /* longest wait for the first datagram if another transport
                                      * can be tried */
#define KEEPALIVE_MIN CO_SECONDS(1)
#define TEARDOWN_TIMEOUT CO_MS(500)

/* ---- description */

static err_t request_options(struct rtsp_pull *p)
{
    err_t err = rtsp_call_request(&p->call, &(struct rtsp_request){ .method = RTSP_OPTIONS }, NULL);

    if (err_code(err) == ERR_RTSP_REFUSED)
        err_free(&err); /* some cameras do not know OPTIONS but everything else */
    return err;
}

static err_t request_description(struct rtsp_pull *p)
{
    static const struct rtsp_extra accept[] = { { "Accept", "application/sdp" } };
    const struct rtsp_request request = { .method = RTSP_DESCRIBE, .more = accept, .n = 1 };
    const struct conf_vhost *v = p->pull.session.vhost;
    const struct rtsp_intake_opts opts = {
        .track = -1, .keep_broken = v->rtsp.keep_broken, .jitter = v->rtsp.jitter,
        .signature = p->pull.session.env->signature };
    const struct rtsp_message *answer;
    err_t err = rtsp_call_request(&p->call, &request, &answer);

    if (err)
        return err;
    err = rtsp_intake_new(&p->rx, (const char *)answer->body, answer->size, &opts);
    if (err)
        return err_wrap(err, "the description of %s", p->public_url);
    p->base = rtsp_client_base(&p->call.client, answer);
    p->all = rtsp_url_join(p->base, rtsp_intake_session_control(p->rx));
    return NULL;
}

/* ---- transport */

static bool by_udp(const struct rtsp_pull *p)
{
    return p->spec.transport[p->transport] == RTSP_PULL_UDP;
}

/* Handles a media packet. */
static void take_packet(struct rtsp_pull *p, unsigned n, bool rtcp, const uint8_t *data,
                        size_t size)
{
    if (!p->publishing || !rtsp_intake_put(p->rx, n, rtcp, data, size, co_now()))
        return;
    p->packet_at = co_now();
    if (p->packets_since == 0) {
        p->packets_since = p->packet_at;
        condition_be(&p->pull.condition, CONDITION_RUNNING);
        log_trace("pull %s from %s: media arrive over %s", p->pull.session.names.key->path,
                  p->public_url, by_udp(p) ? "udp" : "tcp");
    }
    session_publisher_media(&p->pull.publisher);
}

/* Datagrams: a private pair of ports for each medium. */

/* Sent to the server's media ports so that routers let the media through: not RTP, as other clients
 * do it; and an empty report. */
static const uint8_t knock[] = { 0xfe, 0xed, 0xfa, 0xce };
static const uint8_t knock_rtcp[] = { 0x80, 201, 0, 1, 0, 0, 0, 0 };

static err_t udp_offer(struct rtsp_pull *p, unsigned n, char *transport, size_t size)
{
    struct rtsp_pull_media *m = &p->media[n];
    struct rtsp_pair ports;
    err_t err = rtsp_udp_private(&m->pair, p->pull.session.env);

    if (err) {
        m->pair = NULL;
        return err;
    }
    ports = rtsp_udp_ports(m->pair);
    (void)snprintf(transport, size, "RTP/AVP;unicast;client_port=%d-%d", ports.rtp, ports.rtcp);
    return NULL;
}

static void on_datagram(void *pull, unsigned n, bool rtcp, const uint8_t *data, size_t size,
                        co_usec now)
{
    struct rtsp_pull *p = pull;

    (void)now;
    p->call.io->bytes_in += size; /* counts as the connection's traffic */
    take_packet(p, n, rtcp, data, size);
    if (p->publishing && rtsp_intake_due(p->rx) < p->wait_end)
        co_unpark(p->pull.session.co);
}

static err_t udp_take(struct rtsp_pull *p, unsigned n, const struct rtsp_transport *answered)
{
    struct rtsp_pull_media *m = &p->media[n];
    struct rtsp_pair to = answered->server_port;
    char ip[IO_ADDR_SIZE];
    err_t err;

    if (answered->lower != RTSP_UDP || to.rtp <= 0 || to.rtp > 65535)
        return err_new(ERR_RTSP, "SETUP: the response has no server port");
    if (to.rtcp <= 0 || to.rtcp > 65535)
        to.rtcp = to.rtp < 65535 ? to.rtp + 1 : to.rtp;
    io_tcp_peer(p->call.io, ip, &(int){ 0 });
    err = rtsp_udp_peer_new(&m->peer, m->pair, ip, "", on_datagram, p);
    if (!err)
        err = rtsp_udp_add(m->peer, n, to);
    if (err)
        return err;
    rtsp_udp_send(m->peer, n, false, knock, sizeof(knock));
    rtsp_udp_send(m->peer, n, true, knock_rtcp, sizeof(knock_rtcp));
    return NULL;
}

static void close_ports(struct rtsp_pull *p)
{
    for (unsigned n = 0; n < SDP_MEDIA_MAX; n++) {
        rtsp_udp_peer_free(p->media[n].peer);
        rtsp_udp_close(p->media[n].pair);
        p->media[n].peer = NULL;
        p->media[n].pair = NULL;
    }
}

/* The response determines the channels. */
static err_t take_channels(struct rtsp_pull *p, unsigned n, const struct rtsp_transport *answered)
{
    struct rtsp_pull_media *m = &p->media[n];

    if (answered && answered->lower != RTSP_TCP)
        return err_new(ERR_RTSP, "SETUP: the response is for another transport");
    m->rtp = answered && answered->channels.rtp >= 0 ? answered->channels.rtp : (int)n * 2;
    m->rtcp = answered && answered->channels.rtcp >= 0 ? answered->channels.rtcp : m->rtp + 1;
    rtsp_reader_add_channel(&p->call.reader, (uint8_t)m->rtp);
    rtsp_reader_add_channel(&p->call.reader, (uint8_t)m->rtcp);
    return NULL;
}

static err_t take_answer(struct rtsp_pull *p, unsigned n, const struct rtsp_message *answer)
{
    struct rtsp_transport answered[RTSP_OFFERS_MAX] = { rtsp_transport_none };
    const char *text = rtsp_message_field(answer, "Transport");
    size_t count = 0;
    err_t err;

    rtsp_transport_parse(text ? text : "", answered, &count);
    err = by_udp(p) ? udp_take(p, n, answered)
                    : take_channels(p, n, count > 0 ? answered : NULL);
    if (err)
        return err;
    rtsp_intake_set_up(p->rx, n, true);
    return NULL;
}

static err_t offer(struct rtsp_pull *p, unsigned n, char *transport, size_t size)
{
    p->media[n] = (struct rtsp_pull_media){ .rtp = -1, .rtcp = -1 };
    if (by_udp(p))
        return udp_offer(p, n, transport, size);
    (void)snprintf(transport, size, "RTP/AVP/TCP;unicast;interleaved=%u-%u", n * 2, n * 2 + 1);
    p->call.reader.frames = true;
    return NULL;
}

static err_t set_up_one(struct rtsp_pull *p, unsigned n)
{
    char transport[80];
    const struct rtsp_extra more[] = { { "Transport", transport } };
    char *url = rtsp_url_join(p->base, rtsp_intake_control(p->rx, n));
    const struct rtsp_request request = { .method = RTSP_SETUP, .url = url, .more = more, .n = 1 };
    const struct rtsp_message *answer;
    err_t err = offer(p, n, transport, sizeof(transport));

    if (!err)
        err = rtsp_call_request(&p->call, &request, &answer);
    if (!err)
        err = take_answer(p, n, answer);
    free(url);
    return err;
}

/* If the server rejects the transport, switches to the next one within the same session. */
static bool try_next_transport(struct rtsp_pull *p, err_t *err)
{
    if (err_code(*err) != ERR_RTSP_REFUSED || p->call.client.status != 461 ||
        rtsp_intake_ready(p->rx) > 0 || p->transport + 1 >= p->spec.transports)
        return false;
    close_ports(p);
    p->transport++;
    err_free(err);
    return true;
}

/* Sets up all tracks. A rejected track is left out as long as another one succeeds. */
static err_t set_up_all(struct rtsp_pull *p)
{
    err_t err = NULL, first = NULL;

    for (unsigned n = 0; n < rtsp_intake_count(p->rx) && !err; n++) {
        p->media[n] = (struct rtsp_pull_media){ .rtp = -1, .rtcp = -1 };
        if (!rtsp_intake_takes(p->rx, n))
            continue;
        err = set_up_one(p, n);
        if (try_next_transport(p, &err))
            err = set_up_one(p, n);
        if (err_code(err) != ERR_RTSP_REFUSED)
            continue;
        if (first)
            err_free(&err);
        else
            first = err;
        err = NULL;
    }
    if (!err && rtsp_intake_ready(p->rx) == 0 && first)
        return first;
    if (first && !err)
        log_end("a track is left out", &first);
    err_free(&first);
    return err;
}

/* ---- media */

static void on_frame(void *pull, uint8_t channel, const uint8_t *data, size_t size)
{
    struct rtsp_pull *p = pull;
    unsigned n = 0, count = rtsp_intake_count(p->rx);

    while (n < count && p->media[n].rtp != channel && p->media[n].rtcp != channel)
        n++;
    if (n < count)
        take_packet(p, n, channel == p->media[n].rtcp, data, size);
}

static err_t send_reports(struct rtsp_pull *p)
{
    uint8_t frame[RTP_INTERLEAVED + RTSP_INTAKE_REPORT];
    unsigned n;
    size_t size;
    err_t err = NULL;

    rtsp_intake_tick(p->rx, co_now());
    while (!err && rtsp_intake_report(p->rx, co_now(), &n, frame + RTP_INTERLEAVED, &size)) {
        if (by_udp(p)) {
            rtsp_udp_send(p->media[n].peer, n, true, frame + RTP_INTERLEAVED, size);
            continue;
        }
        rtp_interleaved_build(frame, (uint8_t)p->media[n].rtcp, (uint16_t)size);
        err = io_write(p->call.io, frame, RTP_INTERLEAVED + size);
    }
    return err;
}

/* ---- keepalive */

static co_usec next_keepalive(const struct rtsp_pull *p)
{
    co_usec every = CO_SECONDS(rtsp_client_keepalive_interval(&p->call.client));

    return co_now() + (p->keepalive_max && p->keepalive_max < every ? p->keepalive_max : every);
}

static err_t send_keepalive(struct rtsp_pull *p)
{
    p->keepalive_at = next_keepalive(p);
    p->keepalives++;
    return rtsp_call_keepalive(&p->call, p->all);
}

/* Learns a shorter keepalive interval: some servers disconnect after seconds without input,
 * regardless of the timeout they announce. If one did before our first keepalive, the next call
 * sends it sooner. */
static void learn_keepalive(struct rtsp_pull *p, err_t why)
{
    co_usec lived = p->packet_at - p->pull.session.began_at;

    if (p->keepalives > 0 || p->packets_since == 0 || !why ||
        (err_class(why) != ERR_CLASS_PEER && err_class(why) != ERR_CLASS_TIME))
        return;
    p->keepalive_max = lived / 2 > KEEPALIVE_MIN ? lived / 2 : KEEPALIVE_MIN;
}

/* ---- main loop */

/* Updates the list of clients. */
static void report_stats(const struct rtsp_pull *p, struct client *entry)
{
    struct rtp_intake_stat stat;

    rtsp_intake_stat(p->rx, &stat);
    clients_rtp(entry, &(struct clients_rtp){
        .way = by_udp(p) ? CLIENTS_TRANSPORT_UDP : CLIENTS_TRANSPORT_TCP,
        .lost = stat.lost < UINT32_MAX ? (uint32_t)stat.lost : UINT32_MAX,
        .jitter = (co_usec)(stat.jitter * CO_SECONDS(1)) });
}

/* Periodic checks: players, silence, BYE and keepalive. */
static err_t check(struct rtsp_pull *p)
{
    co_usec now = co_now(), since = p->packet_at ? p->packet_at : p->pull.session.began_at;
    /* datagrams may be blocked */
    bool may_be_blocked = by_udp(p) && !p->packet_at && p->spec.transports > 1;
    co_usec limit = may_be_blocked && p->spec.timeout > UDP_WAIT ? UDP_WAIT : p->spec.timeout;

    p->check_at = now + CHECK_EVERY;
    report_stats(p, &p->pull.session.entry);
    p->over = !rtsp_pull_has_players(p);
    if (p->over)
        return NULL;
    p->try_next = may_be_blocked && now - since >= limit;
    if (now - since >= limit)
        return err_new(ERR_IO_TIMEOUT, "no packet for %lld ms", us_to_ms(now - since));
    if (rtsp_intake_over(p->rx))
        return err_new(ERR_STREAM_END, "the server sent BYE");
    return now >= p->keepalive_at ? send_keepalive(p) : NULL;
}

/* Handles all complete items. */
static err_t take_items(struct rtsp_pull *p)
{
    struct rtsp_item item;
    err_t err;

    do {
        err = rtsp_reader_take(&p->call.reader, &item);
        if (!err && item.kind == RTSP_ITEM_FRAME)
            on_frame(p, item.channel, item.data, item.size);
        else if (!err && item.kind == RTSP_ITEM_MESSAGE)
            err = rtsp_call_received(&p->call, item.message);
        co_yield_if_due();
    } while (!err && item.kind != RTSP_ITEM_NONE);
    return err;
}

static err_t wait_for_more(struct rtsp_pull *p)
{
    co_usec due = rtsp_intake_due(p->rx), now = co_now();
    size_t n;

    if (due == CO_FOREVER || due > p->check_at)
        due = p->check_at;
    p->wait_end = due;
    if (io_wait(p->call.io, false, due > now ? due - now : 1) == CO_STOPPED)
        return co_stop_why();
    return rtsp_reader_fill(&p->call.reader, false, &n);
}

static err_t turn(struct rtsp_pull *p)
{
    bool changed;
    err_t err = take_items(p);

    if (!err && co_now() >= rtsp_intake_due(p->rx))
        err = send_reports(p);
    if (!err && co_now() >= p->check_at)
        err = check(p);
    if (!err && !p->over)
        err = session_publisher_turn(&p->pull.publisher, &changed);
    if (!err && !p->over)
        err = wait_for_more(p);
    return err;
}

static err_t play(struct rtsp_pull *p)
{
    static const struct rtsp_extra range[] = { { "Range", "npt=0.000-" } };
    const struct rtsp_request request = {
        .method = RTSP_PLAY, .url = p->all, .more = range, .n = 1
    };
    struct co_round round = { 0 };
    err_t err = rtsp_call_request(&p->call, &request, NULL);

    p->check_at = co_now() + CHECK_EVERY;
    p->keepalive_at = next_keepalive(p);
    p->keepalives = 0;
    co_stack_trim();
    while (!err && !p->over) {
        err = turn(p);
        if (!err)
            err = co_round_io(&round, p->call.io);
    }
    return err;
}

/* Publishes the stream until the end. Packets that arrive before the response to PLAY count. */
static err_t publish(struct rtsp_pull *p)
{
    struct session *s = &p->pull.session;
    err_t err;

    s->io = p->call.io;
    session_begin(s);
    err = session_publisher_join(&p->pull.publisher, s, CLIENTS_RTSP_PUBLISH);
    if (err)
        return err;
    p->publishing = true;
    p->packets_since = 0;
    rtsp_intake_begin(p->rx, s->src, by_udp(p), co_now());
    err = play(p);
    p->publishing = false;
    learn_keepalive(p, err);
    session_publisher_end(&p->pull.publisher, err);
    return err;
}

/* Sends TEARDOWN, so that the server does not keep the session until its timeout. */
static void send_teardown(struct rtsp_pull *p)
{
    const struct rtsp_request request = { .method = RTSP_TEARDOWN, .url = p->all };
    bool held;
    err_t err;

    if (!*p->call.client.session)
        return;
    held = co_stop_hold();
    p->call.io->write_timeout = p->setup.answer = TEARDOWN_TIMEOUT;
    err = rtsp_call_request(&p->call, &request, NULL);
    err_free(&err);
    co_stop_resume(held);
}

static void log_end_of(struct rtsp_pull *p)
{
    struct rtp_intake_stat stat;

    rtsp_intake_stat(p->rx, &stat);
    if (p->packets_since == 0)
        return;
    log_trace("pull %s from %s: packets=%llu, lost=%llu, dropped=%llu, frames=%llu, broken=%llu, "
              "skipped=%llu", p->pull.session.names.key->path, p->public_url,
              (unsigned long long)stat.packets, (unsigned long long)stat.lost,
              (unsigned long long)stat.dropped, (unsigned long long)stat.frames,
              (unsigned long long)stat.broken, (unsigned long long)p->call.reader.skipped);
}

err_t rtsp_pull_session(struct rtsp_pull *p)
{
    err_t err;

    p->call.on_frame = on_frame;
    p->call.arg = p;
    p->packets_since = 0;
    err = request_options(p);
    if (!err)
        err = request_description(p);
    if (!err)
        err = set_up_all(p);
    if (!err)
        err = publish(p);
    if (p->rx && p->call.io)
        log_end_of(p);
    session_log_did(&p->pull.session, err);
    if (p->call.io && (!err || err_class(err) != ERR_CLASS_PEER))
        send_teardown(p);
    close_ports(p);
    rtsp_intake_free(p->rx);
    p->rx = NULL;
    free(p->base);
    free(p->all);
    p->base = p->all = NULL;
    return err;
}
