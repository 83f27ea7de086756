/* SPDX-License-Identifier: MIT */
/* tell.c - what lists show of a WebRTC client. */
#include "serve/rtc/peer.h"

#include "base/container_of.h"
#include "serve/rtc/impl.h"

static const char *state_of(const struct rtc_peer *p)
{
    return p->state == RTC_CONNECTED ? "connected" : p->state == RTC_CHECKED ? "checked" : "waits";
}

static const char *codec_of(const struct rtc_peer *p, enum av_kind kind)
{
    const struct sdp_track *t = &p->agreed.tracks[kind];

    return t->on ? av_codec_name(t->codec) : "";
}

static const char *profile_of(const struct rtc_peer *p)
{
    if (!p->srtp_out)
        return "";
    return p->profile == SRTP_AEAD_AES_128_GCM ? "AES128-GCM" : "AES128-CM";
}

bool rtc_peer_tell(const struct session *s, struct clients_rtc *out)
{
    const struct rtc_peer *p = container_of(s, struct rtc_peer, base);
    const struct ice_way *way = ice_way(&p->ice);
    const struct srtp_in_stat *in = p->srtp_in ? srtp_in_stat(p->srtp_in) : NULL;
    const struct rtc_endpoint *e = way ? way->link : NULL;

    if (p->state == RTC_ASKS || p->state == RTC_LEAVES)
        return false;
    *out = (struct clients_rtc){
        .state = state_of(p), .transport = !e ? "" : e->base.socket ? "udp" : "tcp",
        .cipher = p->dtls && p->state == RTC_CONNECTED ? dtls_cipher(p->dtls) : "",
        .profile = profile_of(p), .video = codec_of(p, AV_VIDEO), .audio = codec_of(p, AV_AUDIO),
        .sent = p->sent, .received = p->received, .forged = in ? in->forged : 0,
        .address_changes = p->address_changes,
    };
    if (way)
        (void)udp_addr_text(&way->path.peer, out->remote, sizeof(out->remote));
    if (p->publish)
        rtc_publish_tell(p, out);
    if (p->play)
        rtc_play_tell(p, out);
    return true;
}
