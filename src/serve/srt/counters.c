/* SPDX-License-Identifier: MIT */
/* counters.c - what SRT counts: the names are those that users of its library know. */
#include "serve/srt/impl.h"

#define OF(field) offsetof(struct srt_service_stat, field)
#define AT(field) .at = OF(field)

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
    { "srs_srt_pkt_recv_total", "Packets of publishers.", AT(received) },
    { "srs_srt_byte_recv_total", "Their bytes of media.", AT(received_bytes) },
    { "srs_srt_pkt_rcv_loss_total", "Packets of publishers that were lost.", AT(recv_lost) },
    { "srs_srt_pkt_rcv_retrans_total", "Packets that were sent to us again.", AT(recv_repeated) },
    { "srs_srt_pkt_rcv_drop_total", "Packets that came too late, or never.", AT(recv_dropped) },
    { "srs_srt_pkt_rcv_belated_total", "Packets that came after that.", AT(belated) },
    { "srs_srt_pkt_rcv_undecrypt_total", "Packets that no key fits.", AT(undecrypted) },
    { "srs_srt_pkt_sent_total", "Packets to players, repeats included.", AT(sent) },
    { "srs_srt_byte_sent_total", "Their bytes.", AT(sent_bytes) },
    { "srs_srt_pkt_snd_loss_total", "Packets that players asked for again.", AT(send_lost) },
    { "srs_srt_pkt_retrans_total", "Packets that were sent again.", AT(send_repeated) },
    { "srs_srt_pkt_snd_drop_total", "Packets that were too old for it.", AT(send_dropped) },
    DATAGRAM_COUNTERS("srs_srt", OF(sockets)),
    { "srs_srt_datagrams_overflow_total", "Datagrams lost for want of room in the socket.",
      AT(sockets.overflow) },
};

static bool read_counters(const struct session_env *env, void *out)
{
    struct srt_service_stat *stat = out;
    const struct srt_service *s = srt_service_of(env);
    const struct srt_peer *p;
    uint32_t at = 0;

    if (!s)
        return false;
    *stat = s->stat;
    stat->connections = s->base.n_peers;
    stat->strangers += s->base.unreachable;
    while ((p = datagram_slots_next(&s->slots, &at))) {
        stat->publishers += p->state == SRT_PUBLISHES;
        stat->players += p->state == SRT_PLAYS;
        stat->waiting += p->state == SRT_GREETED;
        srt_peer_sum(p, stat);
    }
    datagram_service_count(&s->base, &stat->sockets);
    return true;
}

const struct counter_table srt_counters = {
    .rows = rows, .n_rows = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct srt_service_stat), .read = read_counters,
};
