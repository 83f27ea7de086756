/* SPDX-License-Identifier: MIT */
/* tell.c - what lists show of an SRT client. */
#include "serve/srt/peer.h"

#include "base/container_of.h"

static void tell_receiver(const struct srt_conn *c, struct clients_srt *out)
{
    struct srt_receiver_stat s;

    srt_receiver_stat(c->receiver, &s);
    out->received = s.received;
    out->bytes_received = s.bytes;
    out->recv_lost = s.lost;
    out->recv_repeated = s.repeated;
    out->recv_dropped = s.dropped;
    out->belated = s.belated;
    out->undecrypted = s.undecrypted;
    out->held = s.held_time;
    out->rtt = s.rtt;
}

static void tell_sender(const struct srt_sender *sender, struct clients_srt *out)
{
    const struct srt_sender_stat *s = &sender->stat;

    out->sent = s->sent + s->repeated;
    out->bytes_sent = s->bytes;
    out->send_lost = s->lost;
    out->send_repeated = s->repeated;
    out->send_dropped = s->dropped;
    out->in_flight = s->in_flight;
    out->rtt = sender->rtt;
}

bool srt_peer_tell(const struct session *s, struct clients_srt *out)
{
    const struct srt_peer *p = container_of(s, struct srt_peer, base);
    const struct srt_conn *c = &p->conn;

    if (p->state != SRT_PUBLISHES && p->state != SRT_PLAYS)
        return false;
    *out = (struct clients_srt){
        .recv_latency = c->agreed.recv_latency, .send_latency = c->agreed.send_latency,
        .version = c->agreed.peer_version, .key_size = c->secret ? c->secret->key_size : 0,
    };
    if (c->sends)
        tell_sender(&c->sender, out);
    else if (c->receiver)
        tell_receiver(c, out);
    return true;
}
