/* SPDX-License-Identifier: MIT */
/* counters.c - what SRT counts: the names are those that users of its library know. */
#include "base/container_of.h"
#include "base/text.h"
#include "serve/srt/impl.h"
#include "serve/srt/peer.h"

#include <stdio.h>

#define OF(field) offsetof(struct srt_service_stat, field)
#define AT(field) .at = OF(field)
#define CLIENT(field) .at = offsetof(struct srt_client_stat, field)

/* ---- of one client */

static void read_sender(const struct srt_sender *sender, struct srt_client_stat *out)
{
    const struct srt_sender_stat *s = &sender->stat;

    out->media = (struct srt_media_stat){
        .sent = s->sent + s->retransmitted, .sent_bytes = s->bytes, .send_lost = s->lost,
        .send_repeated = s->retransmitted, .send_dropped = s->dropped,
    };
    out->in_flight = s->in_flight;
    out->rtt = sender->rtt;
}

static void read_receiver(const struct srt_receiver *receiver, struct srt_client_stat *out)
{
    struct srt_receiver_stat s;

    srt_receiver_stat(receiver, &s);
    out->media = (struct srt_media_stat){
        .received = s.received, .received_bytes = s.bytes, .recv_lost = s.lost,
        .recv_repeated = s.retransmitted, .recv_dropped = s.dropped, .belated = s.belated,
        .undecrypted = s.undecrypted,
    };
    out->held = s.held_time;
    out->rtt = s.rtt;
}

static void read_conn(const struct srt_conn *c, struct srt_client_stat *out)
{
    if (c->sends)
        read_sender(&c->sender, out);
    else if (c->receiver)
        read_receiver(c->receiver, out);
}

static bool read_client(const struct session *s, void *stat)
{
    const struct srt_peer *p = container_of(s, struct srt_peer, base.session);
    const struct srt_conn *c = &p->conn;
    struct srt_client_stat *out = stat;
    unsigned version = c->agreed.peer_version;

    if (p->base.state != DATAGRAM_ACTIVE)
        return false;
    *out = (struct srt_client_stat){
        .recv_latency = c->agreed.recv_latency, .send_latency = c->agreed.send_latency,
        .key_size = c->secret ? c->secret->key_size : 0,
        .out_kbps = s->out_kbps.s30_kbps, .in_kbps = s->in_kbps.s30_kbps,
    };
    (void)snprintf(out->version, sizeof(out->version), "%u.%u.%u", version >> 16 & 0xff,
                   version >> 8 & 0xff, version & 0xff);
    read_conn(c, out);
    return true;
}

static void add_losses(const struct session *s, char *text, size_t size)
{
    struct srt_client_stat stat; /* of one that publishes or plays: the others are 0 */

    if (read_client(s, &stat))
        (void)text_add(text, size, strlen(text), ", %llu packets lost, %llu of them for good",
                       (unsigned long long)(stat.media.recv_lost + stat.media.send_lost),
                       (unsigned long long)(stat.media.recv_dropped + stat.media.send_dropped));
}

static const struct jput_field fields[] = {
    { "msRTT", CLIENT(rtt), JPUT_MILLI }, { "pktSent", CLIENT(media.sent) },
    { "pktRecv", CLIENT(media.received) }, { "pktSndLoss", CLIENT(media.send_lost) },
    { "pktRcvLoss", CLIENT(media.recv_lost) }, { "pktRetrans", CLIENT(media.send_repeated) },
    { "pktRcvRetrans", CLIENT(media.recv_repeated) }, { "pktSndDrop", CLIENT(media.send_dropped) },
    { "pktRcvDrop", CLIENT(media.recv_dropped) }, { "pktRcvBelated", CLIENT(media.belated) },
    { "pktRcvUndecrypt", CLIENT(media.undecrypted) }, { "byteSent", CLIENT(media.sent_bytes) },
    { "byteRecv", CLIENT(media.received_bytes) }, { "mbpsSendRate", CLIENT(out_kbps), JPUT_MILLI },
    { "mbpsRecvRate", CLIENT(in_kbps), JPUT_MILLI },
    { "msRcvTsbPdDelay", CLIENT(recv_latency), JPUT_WHOLE },
    { "msSndTsbPdDelay", CLIENT(send_latency), JPUT_WHOLE },
    { "msRcvBuf", CLIENT(held), JPUT_WHOLE }, { "pktFlightSize", CLIENT(in_flight) },
    { "peerVersion", CLIENT(version), JPUT_CHARS }, { "keyLength", CLIENT(key_size) },
};
_Static_assert(sizeof(struct srt_client_stat) <= CLIENTS_DETAIL, "there is room");

const struct clients_detail srt_client_detail = {
    .name = "srt", .fields = fields, .n = sizeof(fields) / sizeof(fields[0]), .read = read_client,
    .add_losses = add_losses,
};

/* ---- of a worker */

static const char *const modes[] = { "publish", "request", "waiting" };

#define XX(name, number, text) #number,
static const char *const codes[] = { SRT_REFUSALS(XX) };
#undef XX

static const struct counter_row rows[] = {
    { "srs_srt_connections", "Connections of SRT, by what they do.", AT(publishers), 3, "mode",
      modes },
    { "srs_srt_refused_total", "Callers that were refused, by the code.", AT(refused),
      SRT_REFUSAL_KINDS, "code", codes },
    { "srs_srt_handshakes_total", "Conclusions of callers that were looked at.", AT(handshakes) },
    { "srs_srt_handshakes_dropped_total",
      "Those over the rate of their address: srt_server.handshakes.", AT(dropped) },
    { "srs_srt_inductions_total", "Callers that asked for a cookie.", AT(inductions) },
    { "srs_srt_bad_cookies_total", "Conclusions with a cookie that is not ours.", AT(bad_cookies) },
    { "srs_srt_strangers_total", "Packets of no connection, or not from its address.",
      AT(strangers) },
    { "srs_srt_key_jobs_total", "Keys made of a passphrase.", AT(key_jobs) },
    { "srs_srt_key_jobs_refused_total", "Callers refused since too many waited.", AT(key_refused) },
    { "srs_srt_pkt_recv_total", "Packets of publishers.", AT(media.received) },
    { "srs_srt_byte_recv_total", "Their bytes of media.", AT(media.received_bytes) },
    { "srs_srt_pkt_rcv_loss_total", "Packets of publishers that were lost.", AT(media.recv_lost) },
    { "srs_srt_pkt_rcv_retrans_total", "Packets that were sent to us again.",
      AT(media.recv_repeated) },
    { "srs_srt_pkt_rcv_drop_total", "Packets that came too late, or never.",
      AT(media.recv_dropped) },
    { "srs_srt_pkt_rcv_belated_total", "Packets that came after that.", AT(media.belated) },
    { "srs_srt_pkt_rcv_undecrypt_total", "Packets that no key fits.", AT(media.undecrypted) },
    { "srs_srt_pkt_sent_total", "Packets to players, repeats included.", AT(media.sent) },
    { "srs_srt_byte_sent_total", "Their bytes.", AT(media.sent_bytes) },
    { "srs_srt_pkt_snd_loss_total", "Packets that players asked for again.", AT(media.send_lost) },
    { "srs_srt_pkt_retrans_total", "Packets that were sent again.", AT(media.send_repeated) },
    { "srs_srt_pkt_snd_drop_total", "Packets that were too old for it.", AT(media.send_dropped) },
    DATAGRAM_COUNTERS("srs_srt", OF(sockets)),
    { "srs_srt_datagrams_overflow_total", "Datagrams lost for want of room in the socket.",
      AT(sockets.overflow) },
};

void srt_peer_sum(const struct srt_peer *p, struct srt_media_stat *sum)
{
    struct srt_client_stat stat = { 0 };

    read_conn(&p->conn, &stat);
    counters_add(sum, &stat.media, sizeof(stat.media));
}

static bool read_counters(const struct session_env *env, void *out)
{
    struct srt_service_stat *stat = out;
    const struct srt_service *s = srt_service_of(env);

    if (!s)
        return false;
    *stat = s->stat;
    stat->connections = s->base.n_peers;
    stat->strangers += s->base.unreachable;
    stat->publishers = s->base.publishers;
    stat->players = s->base.players;
    stat->waiting = s->base.waiting;
    for (const struct datagram_client *c = s->base.clients; c; c = c->next)
        srt_peer_sum(container_of(c, const struct srt_peer, base), &stat->media);
    datagram_service_count(&s->base, &stat->sockets);
    return true;
}

const struct counter_table srt_counters = {
    .rows = rows, .n_rows = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct srt_service_stat), .read = read_counters,
};
