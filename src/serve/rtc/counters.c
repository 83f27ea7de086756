/* SPDX-License-Identifier: MIT */
/* counters.c - what WebRTC counts, and the line in the log about it:
 *
 *   RTC: Server conns=12, rpkts=(410,rtp:300,stun:5,rtcp:100),
 *   spkts=(3400,rtp:3300,stun:4,rtcp:50), rtcp=(pli:1,twcc:30,rr:12), snk=(3,a:1,v:2,h:2),
 *   rnk=(12,20,h:11,m:9), loss=(r:49,s:0), fid=(id:5,addr:400)
 *
 * All but conns are per second. rpkts, spkts: datagrams received and sent, and RTP,
 * ICE checks or their answers, and RTCP among them. rtcp: sent to publishers. snk: packets
 * requested from publishers, of audio and video, and those that then came; rnk: requests of
 * players, the packets in them, those retransmitted, and those no longer kept. loss: datagrams of
 * the whole machine that found no room in a socket's buffer; not loss of the network. fid: sessions
 * found by our ufrag and by address.
 */
#include "base/container_of.h"
#include "serve/rtc/impl.h"
#include "serve/rtc/peer.h"

#define OF(field) offsetof(struct rtc_service_stat, field)
#define AT(field) .at = OF(field)
#define CLIENT(field) .at = offsetof(struct rtc_client_stat, field)

static const char *const modes[] = { "publish", "play", "waiting" };
static const char *const to[] = { "opus", "aac" };

static const struct counter_row rows[] = {
    { "srs_rtc_sessions", "WebRTC sessions, by mode.", AT(publishers), 3, "mode", modes },
    { "srs_rtc_offers_total", "Offers of publishers and players.", AT(offers) },
    { "srs_rtc_refused_total", "Offers that were refused.", AT(refused) },
    { "srs_rtc_timeouts_total", "Sessions that timed out or never connected.", AT(timeouts) },
    { "srs_rtc_checks_total", "ICE checks with a valid signature.", AT(checks) },
    { "srs_rtc_checks_forged_total", "ICE checks with an invalid signature, or too many.",
      AT(forged_checks) },
    { "srs_rtc_strangers_total", "Packets without a session.", AT(strangers) },
    { "srs_rtc_handshakes_total", "DTLS handshakes completed.", AT(handshakes) },
    { "srs_rtc_handshakes_failed_total", "DTLS handshakes that failed.", AT(failed_handshakes) },
    { "srs_rtc_forged_total", "SRTP packets with an invalid authentication tag.", AT(forged) },
    { "srs_rtc_replayed_total", "SRTP packets received twice.", AT(replayed) },
    { "srs_rtc_packets_received_total", "RTP packets from publishers.", AT(received) },
    { "srs_rtc_bytes_received_total", "Their bytes.", AT(received_bytes) },
    { "srs_rtc_packets_received_lost_total", "Packets from publishers that were lost.",
      AT(recv_lost) },
    { "srs_rtc_nacks_sent_total", "Packets requested again from publishers.", AT(nacks_sent) },
    { "srs_rtc_plis_sent_total", "Key frames requested from publishers.", AT(plis_sent) },
    { "srs_rtc_twcc_sent_total", "Transport-wide feedback reports sent to publishers.",
      AT(twcc_sent) },
    { "srs_rtc_packets_sent_total", "RTP packets to players, including retransmits.", AT(sent) },
    { "srs_rtc_bytes_sent_total", "Their bytes.", AT(sent_bytes) },
    { "srs_rtc_nacks_total", "Packets requested again by players.", AT(nacks) },
    { "srs_rtc_packets_repeated_total", "Packets retransmitted to players.", AT(retransmitted) },
    { "srs_rtc_plis_total", "Key frames requested by players.", AT(plis) },
    { "srs_rtc_address_changes_total", "Sessions whose client changed its address.",
      AT(address_changes) },
    { "srs_rtc_datagrams_passed_total",
      "Datagrams that reached the wrong worker and were passed on.", AT(passed) },
    DATAGRAM_COUNTERS("srs_rtc", OF(sockets)),
    { "srs_rtc_datagrams_overflow_total",
      "Datagrams dropped because the socket's receive buffer was full.", AT(sockets.overflow) },
    { "srs_rtc_datagrams_dropped_total",
      "Datagrams dropped because the socket's send buffer was full.", AT(sockets.drops) },
    { "srs_rtc_sounds", "Streams whose audio is being converted.", AT(sound.running), 2, "to", to },
    { "srs_rtc_sound_frames_total", "Audio frames encoded.", AT(sound.frames), 2, "to", to },
    { "srs_rtc_sound_cpu_seconds_total", "Processor time of audio conversion.", AT(sound.micros), 2,
      "to", to, COUNTER_US },
    { "srs_rtc_sound_bad_total", "Frames that could not be decoded.", AT(sound.bad) },
    { "srs_rtc_sound_dropped_total", "Audio frames dropped because they arrived too fast.",
      AT(sound.dropped) },
    { "srs_rtc_sound_silence_seconds_total", "Silence inserted for missing audio.",
      AT(sound.silence), .unit = COUNTER_MS },
};

static const struct counter_word words[] = {
    { "RTC: Server conns=", AT(sessions), COUNTER_NOW | COUNTER_ALWAYS | COUNTER_LINE },
    { ", rpkts=(", AT(sockets.in), COUNTER_FIRST | COUNTER_LINE },
    { ",rtp:", AT(received) }, { ",stun:", AT(checks) }, { ",rtcp:", AT(rtcp_in), 0, ")" },
    { ", spkts=(", AT(sockets.out), COUNTER_FIRST | COUNTER_LINE },
    { ",rtp:", AT(sent) }, { ",stun:", AT(checks_answered) }, { ",rtcp:", AT(rtcp_out), 0, ")" },
    { ", rtcp=(pli:", AT(plis_sent), COUNTER_GROUP },
    { ",twcc:", AT(twcc_sent) }, { ",rr:", AT(reports_sent), 0, ")" },
    { ", snk=(", AT(nacks_sent), COUNTER_FIRST }, { ",a:", AT(nacks_sent_audio) },
    { ",v:", AT(nacks_sent_video) }, { ",h:", AT(nacks_found), 0, ")" },
    { ", rnk=(", AT(nacks), COUNTER_FIRST }, { ",", AT(asked) },
    { ",h:", AT(retransmitted) }, { ",m:", AT(requested_missing), 0, ")" },
    { ", loss=(r:", AT(no_room), COUNTER_GROUP }, { ",s:", AT(no_room[1]), 0, ")" },
    { ", fid=(id:", AT(by_name), COUNTER_GROUP }, { ",addr:", AT(by_address), 0, ")" },
};

static bool read_counters(const struct session_env *env, void *out)
{
    struct rtc_service_stat *stat = out;
    const struct rtc_service *s = rtc_service_of(env);

    if (!s)
        return false;
    *stat = s->stat;
    stat->sessions = s->base.n_peers;
    stat->waiting = s->base.waiting;
    stat->publishers = s->base.publishers;
    stat->players = s->base.players;
    stat->passed += s->base.passed;
    stat->strangers += s->base.unreachable;
    stat->nacks_sent_video = stat->nacks_sent - stat->nacks_sent_audio;
    datagram_service_count(&s->base, &stat->sockets);
    stat->sockets.drops += s->tcp_drops;
    transcoder_stat(&stat->sound);
    return true;
}

const struct counter_table rtc_counters = {
    .rows = rows, .n_rows = sizeof(rows) / sizeof(rows[0]),
    .words = words, .n_words = sizeof(words) / sizeof(words[0]), .no_room = OF(no_room),
    .size = sizeof(struct rtc_service_stat), .read = read_counters,
};

/* ---- one client */

static const char *state_of(const struct rtc_peer *p)
{
    return p->base.state == DATAGRAM_ACTIVE ? "connected"
           : p->base.state == DATAGRAM_HANDSHAKING ? "checked" : "waits";
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

static bool read_client(const struct session *s, void *stat)
{
    struct rtc_client_stat *out = stat;
    const struct rtc_peer *p = container_of(s, struct rtc_peer, base.session);
    const struct ice_path *way = ice_path(&p->ice);
    const struct srtp_in_stat *in = p->srtp_in ? srtp_in_stat(p->srtp_in) : NULL;
    const struct rtc_endpoint *e = way ? way->link : NULL;

    if (p->base.state == DATAGRAM_ADMITTING || p->base.state == DATAGRAM_ENDING)
        return false;
    *out = (struct rtc_client_stat){
        .state = state_of(p), .transport = !e ? "" : e->base.socket ? "udp" : "tcp",
        .cipher = p->dtls && p->base.state == DATAGRAM_ACTIVE ? dtls_cipher(p->dtls) : "",
        .profile = profile_of(p), .video = codec_of(p, AV_VIDEO), .audio = codec_of(p, AV_AUDIO),
        .sent = p->sent, .received = p->received, .forged = in ? in->forged : 0,
        .address_changes = p->address_changes,
    };
    if (way)
        (void)udp_addr_text(&way->path.peer, out->remote, sizeof(out->remote));
    if (p->publish)
        rtc_publish_stat(p, out);
    if (p->play)
        rtc_play_stat(p, out);
    return true;
}

static const struct jput_field fields[] = {
    { "state", CLIENT(state), JPUT_TEXT }, { "transport", CLIENT(transport), JPUT_TEXT },
    { "remote", CLIENT(remote), JPUT_CHARS }, { "dtls", CLIENT(cipher), JPUT_TEXT },
    { "srtp", CLIENT(profile), JPUT_TEXT }, { "video", CLIENT(video), JPUT_TEXT },
    { "audio", CLIENT(audio), JPUT_TEXT }, { "packets_sent", CLIENT(sent) },
    { "packets_received", CLIENT(received) }, { "packets_lost", CLIENT(lost) },
    { "nacks", CLIENT(nacks) }, { "packets_repeated", CLIENT(retransmitted) },
    { "plis", CLIENT(plis) },
    { "packets_forged", CLIENT(forged) }, { "rtt_ms", CLIENT(rtt), JPUT_MILLI },
    { "jitter_ms", CLIENT(jitter), JPUT_MILLI }, { "address_changes", CLIENT(address_changes) },
    { "pictures", CLIENT(takes), JPUT_TEXT | JPUT_OPTIONAL },
    { "packets_left_out", CLIENT(left_out), JPUT_WITH },
    { "video_left_out", CLIENT(video_left_out), JPUT_CHARS | JPUT_OPTIONAL },
};
_Static_assert(sizeof(struct rtc_client_stat) <= CLIENTS_DETAIL, "there is room");

const struct clients_detail rtc_client_detail = {
    .name = "rtc", .fields = fields, .n = sizeof(fields) / sizeof(fields[0]), .read = read_client,
};
