/* SPDX-License-Identifier: MIT */
/* counters.c - counters of SRT, with the names used by libsrt. */
#include "base/container_of.h"
#include "base/text.h"
#include "serve/srt/impl.h"
#include "serve/srt/peer.h"

#include <stdio.h>

#define OF(field) offsetof(struct srt_service_stat, field)
#define AT(field) .at = OF(field)
#define CLIENT(field) .at = offsetof(struct srt_client_stat, field)

/* ---- one client */

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
    struct srt_client_stat stat; /* only one direction is used, the other is 0 */

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

/* ---- a worker */

static const char *const modes[] = { "publish", "request", "waiting" };

#define XX(name, number, text) #number,
static const char *const codes[] = { SRT_REFUSALS(XX) };
#undef XX

static const struct counter_row rows[] = {
    { "srs_srt_connections", "SRT connections, by mode.", AT(publishers), 3, "mode", modes },
    { "srs_srt_refused_total", "Refused callers, by code.", AT(refused), SRT_REFUSAL_KINDS, "code",
      codes },
    { "srs_srt_handshakes_total", "Conclusions of callers that were read.", AT(handshakes) },
    { "srs_srt_handshakes_dropped_total",
      "Those over the rate of their address: srt_server.handshakes.", AT(dropped) },
    { "srs_srt_inductions_total", "Callers that requested a cookie.", AT(inductions) },
    { "srs_srt_bad_cookies_total", "Conclusions with a wrong cookie.", AT(bad_cookies) },
    { "srs_srt_strangers_total", "Packets of unknown connections, or from a wrong address.",
      AT(strangers) },
    { "srs_srt_key_jobs_total", "Keys derived from a passphrase.", AT(key_jobs) },
    { "srs_srt_key_jobs_refused_total",
      "Callers refused because too many key derivations were waiting.", AT(key_refused) },
    { "srs_srt_pkt_recv_total", "Packets received from publishers.", AT(media.received) },
    { "srs_srt_byte_recv_total", "Bytes of media received from publishers.",
      AT(media.received_bytes) },
    { "srs_srt_pkt_rcv_loss_total", "Lost packets of publishers.", AT(media.recv_lost) },
    { "srs_srt_pkt_rcv_retrans_total", "Retransmitted packets received.", AT(media.recv_repeated) },
    { "srs_srt_pkt_rcv_drop_total", "Packets that were too late or never arrived.",
      AT(media.recv_dropped) },
    { "srs_srt_pkt_rcv_belated_total", "Packets that arrived after they were given up.",
      AT(media.belated) },
    { "srs_srt_pkt_rcv_undecrypt_total", "Packets that could not be decrypted.",
      AT(media.undecrypted) },
    { "srs_srt_pkt_sent_total", "Packets sent to players, including retransmits.", AT(media.sent) },
    { "srs_srt_byte_sent_total", "Bytes sent to players.", AT(media.sent_bytes) },
    { "srs_srt_pkt_snd_loss_total", "Packets that players reported as lost.", AT(media.send_lost) },
    { "srs_srt_pkt_retrans_total", "Retransmitted packets sent.", AT(media.send_repeated) },
    { "srs_srt_pkt_snd_drop_total", "Packets that were too old to retransmit.",
      AT(media.send_dropped) },
    DATAGRAM_COUNTERS("srs_srt", OF(sockets)),
    { "srs_srt_datagrams_overflow_total", "Datagrams lost because the socket buffer was full.",
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
