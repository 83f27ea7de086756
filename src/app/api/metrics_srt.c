/* SPDX-License-Identifier: MIT */
/* metrics_srt.c - figures of SRT, for Prometheus: sums over all connections, by the names that
 * users of its library know. */
#include "app/api/metrics_impl.h"

#include <stdio.h>

static void put_rows(struct wr *w, const struct srt_service_stat *s)
{
    const struct {
        const char *name, *type, *help;
        uint64_t value;
    } rows[] = {
        { "srs_srt_handshakes_total", "counter", "Conclusions of callers that were looked at.",
          s->handshakes },
        { "srs_srt_handshakes_dropped_total", "counter",
          "Those over the rate of their address: srt_server.handshakes.", s->dropped },
        { "srs_srt_inductions_total", "counter", "Callers that asked for a cookie.",
          s->inductions },
        { "srs_srt_bad_cookies_total", "counter", "Conclusions with a cookie that is not ours.",
          s->bad_cookies },
        { "srs_srt_strangers_total", "counter",
          "Packets of no connection, or not from its address.", s->strangers },
        { "srs_srt_key_jobs_total", "counter", "Keys made of a passphrase.", s->key_jobs },
        { "srs_srt_key_jobs_refused_total", "counter", "Callers refused since too many waited.",
          s->key_refused },
        { "srs_srt_pkt_recv_total", "counter", "Packets of publishers.", s->received },
        { "srs_srt_byte_recv_total", "counter", "Their bytes of media.", s->received_bytes },
        { "srs_srt_pkt_rcv_loss_total", "counter", "Packets of publishers that were lost.",
          s->recv_lost },
        { "srs_srt_pkt_rcv_retrans_total", "counter", "Packets that were sent to us again.",
          s->recv_repeated },
        { "srs_srt_pkt_rcv_drop_total", "counter", "Packets that came too late, or never.",
          s->recv_dropped },
        { "srs_srt_pkt_rcv_belated_total", "counter", "Packets that came after that.",
          s->belated },
        { "srs_srt_pkt_rcv_undecrypt_total", "counter", "Packets that no key fits.",
          s->undecrypted },
        { "srs_srt_pkt_sent_total", "counter", "Packets to players, repeats included.", s->sent },
        { "srs_srt_byte_sent_total", "counter", "Their bytes.", s->sent_bytes },
        { "srs_srt_pkt_snd_loss_total", "counter", "Packets that players asked for again.",
          s->send_lost },
        { "srs_srt_pkt_retrans_total", "counter", "Packets that were sent again.",
          s->send_repeated },
        { "srs_srt_pkt_snd_drop_total", "counter", "Packets that were too old for it.",
          s->send_dropped },
        { "srs_srt_datagrams_in_total", "counter", "Datagrams that came.", s->sockets.in },
        { "srs_srt_calls_in_total", "counter", "System calls that gave them.",
          s->sockets.in_calls },
        { "srs_srt_datagrams_out_total", "counter", "Datagrams that went.", s->sockets.out },
        { "srs_srt_calls_out_total", "counter", "System calls that sent them.",
          s->sockets.out_calls },
        { "srs_srt_datagrams_overflow_total", "counter",
          "Datagrams lost for want of room in the socket.", s->sockets.overflow },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        prom_family(w, rows[i].name, rows[i].type, rows[i].help);
        prom_value(w, rows[i].name, "", (double)rows[i].value);
    }
}

static void put_connections(struct wr *w, const struct srt_service_stat *s)
{
    prom_family(w, "srs_srt_connections", "gauge", "Connections of SRT, by what they do.");
    prom_value(w, "srs_srt_connections", "mode=\"publish\"", (double)s->publishers);
    prom_value(w, "srs_srt_connections", "mode=\"request\"", (double)s->players);
    prom_value(w, "srs_srt_connections", "mode=\"waiting\"", (double)s->waiting);
}

static void put_refused(struct wr *w, const struct srt_service_stat *s)
{
    char label[24];

    prom_family(w, "srs_srt_refused_total", "counter", "Callers that were refused, by the code.");
    for (unsigned i = 0; i < SRT_REFUSAL_KINDS; i++) {
        (void)snprintf(label, sizeof(label), "code=\"%u\"", (unsigned)srt_refusal_code(i));
        prom_value(w, "srs_srt_refused_total", label, (double)s->refused[i]);
    }
}

void metrics_put_srt(struct wr *w, const struct srt_service_stat *s)
{
    put_connections(w, s);
    put_refused(w, s);
    put_rows(w, s);
}
