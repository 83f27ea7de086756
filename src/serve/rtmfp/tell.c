/* SPDX-License-Identifier: MIT */
/* tell.c - what lists show of an RTMFP client. */
#include "serve/rtmfp/peer.h"

#include "base/container_of.h"

const char *rtmfp_peer_id_text(const uint8_t id[RTMFP_PEER_ID])
{
    static const char digits[] = "0123456789abcdef";
    static _Thread_local char text[2 * RTMFP_PEER_ID + 1];

    for (unsigned i = 0; i < RTMFP_PEER_ID; i++) {
        text[2 * i] = digits[id[i] >> 4];
        text[2 * i + 1] = digits[id[i] & 15];
    }
    return text;
}

bool rtmfp_netstream_tell(const struct session *s, struct clients_rtmfp *out)
{
    const struct rtmfp_netstream *n = container_of(s, struct rtmfp_netstream, base);
    const struct rtmfp_peer *p = n->peer;
    const struct rtmfp_session *session = &p->session;

    if (n->doing != RTMFP_PUBLISHES && n->doing != RTMFP_PLAYS)
        return false;
    *out = (struct clients_rtmfp){
        .peer_id = rtmfp_peer_id_text(p->peer_id), .hmac = session->hmac, .numbered = p->numbered,
        .group = p->group, .sent = session->stat.sent, .received = session->stat.received,
        .lost = session->stat.lost, .again = session->stat.again,
        .abandoned = session->stat.abandoned,
        .pings_lost = session->stat.pings_lost, .skips = n->play.skips,
        .rtt = session->congestion.srtt, .moves = (unsigned)session->stat.moves,
    };
    for (const struct rtmfp_flow_out *f = session->outs; f; f = f->next) {
        out->lost += f->missed;
        out->again += f->again;
        out->abandoned += f->abandoned;
        out->waiting += f->waiting_bytes;
    }
    for (const struct rtmfp_flow_in *f = session->ins; f; f = f->next)
        out->missing += f->lost;
    (void)udp_addr_text(&session->peer, out->remote, sizeof(out->remote));
    return true;
}
