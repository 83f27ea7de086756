/* SPDX-License-Identifier: MIT */
/* metrics_rtc.c - figures of WebRTC, for Prometheus: sums over all sessions. */
#include "app/api/metrics_impl.h"

static void put_rows(struct wr *w, const struct rtc_service_stat *s)
{
    const struct {
        const char *name, *help;
        uint64_t value;
    } rows[] = {
        { "srs_rtc_offers_total", "Offers of publishers and players.", s->offers },
        { "srs_rtc_refused_total", "Offers that were refused.", s->refused },
        { "srs_rtc_timeouts_total", "Sessions that ended by silence, or never connected.",
          s->timeouts },
        { "srs_rtc_checks_total", "Checks of ICE that proved their session's password.",
          s->checks },
        { "srs_rtc_checks_forged_total", "Checks that did not, or came too often.",
          s->forged_checks },
        { "srs_rtc_strangers_total", "Packets of no session.", s->strangers },
        { "srs_rtc_handshakes_total", "Handshakes of DTLS that were done.", s->handshakes },
        { "srs_rtc_handshakes_failed_total", "Handshakes of DTLS that failed.",
          s->failed_handshakes },
        { "srs_rtc_forged_total", "Packets of SRTP with a wrong tag.", s->forged },
        { "srs_rtc_replayed_total", "Packets of SRTP that came before.", s->replayed },
        { "srs_rtc_packets_received_total", "Packets of RTP of publishers.", s->received },
        { "srs_rtc_bytes_received_total", "Their bytes.", s->received_bytes },
        { "srs_rtc_packets_received_lost_total", "Packets of publishers that never came.",
          s->recv_lost },
        { "srs_rtc_nacks_sent_total", "Packets that publishers were asked for again.",
          s->nacks_sent },
        { "srs_rtc_plis_sent_total", "Key frames that publishers were asked for.", s->plis_sent },
        { "srs_rtc_twcc_sent_total", "Reports of arrivals to publishers.", s->twcc_sent },
        { "srs_rtc_packets_sent_total", "Packets of RTP to players, repeats included.", s->sent },
        { "srs_rtc_bytes_sent_total", "Their bytes.", s->sent_bytes },
        { "srs_rtc_nacks_total", "Packets that players asked for again.", s->nacks },
        { "srs_rtc_packets_repeated_total", "Packets that were sent to players again.",
          s->repeated },
        { "srs_rtc_plis_total", "Key frames that players asked for.", s->plis },
        { "srs_rtc_address_changes_total", "Sessions whose client went to another address.",
          s->address_changes },
        { "srs_rtc_datagrams_passed_total", "Datagrams that one worker got for another.",
          s->passed },
        { "srs_rtc_datagrams_in_total", "Datagrams that came.", s->sockets.in },
        { "srs_rtc_calls_in_total", "System calls that gave them.", s->sockets.in_calls },
        { "srs_rtc_datagrams_out_total", "Datagrams that went.", s->sockets.out },
        { "srs_rtc_calls_out_total", "System calls that sent them.", s->sockets.out_calls },
        { "srs_rtc_datagrams_overflow_total", "Datagrams lost for want of room in the socket.",
          s->sockets.overflow },
        { "srs_rtc_datagrams_dropped_total", "Datagrams that the system had no room to send.",
          s->sockets.drops },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        prom_family(w, rows[i].name, "counter", rows[i].help);
        prom_value(w, rows[i].name, "", (double)rows[i].value);
    }
}

static void put_sound(struct wr *w, const struct sound_lane_stat *s)
{
    static const char *const to[] = { "to=\"opus\"", "to=\"aac\"" };

    prom_family(w, "srs_rtc_sounds", "gauge", "Streams whose sound is converted now.");
    for (int i = 0; i < 2; i++)
        prom_value(w, "srs_rtc_sounds", to[i], (double)s->running[i]);
    prom_family(w, "srs_rtc_sound_frames_total", "counter", "Frames of sound that were made.");
    for (int i = 0; i < 2; i++)
        prom_value(w, "srs_rtc_sound_frames_total", to[i], (double)s->frames[i]);
    prom_family(w, "srs_rtc_sound_cpu_seconds_total", "counter", "What that took.");
    for (int i = 0; i < 2; i++)
        prom_value(w, "srs_rtc_sound_cpu_seconds_total", to[i], (double)s->micros[i] / 1e6);
    prom_family(w, "srs_rtc_sound_bad_total", "counter", "Frames that could not be decoded.");
    prom_value(w, "srs_rtc_sound_bad_total", "", (double)s->bad);
    prom_family(w, "srs_rtc_sound_dropped_total", "counter", "Frames that came too fast.");
    prom_value(w, "srs_rtc_sound_dropped_total", "", (double)s->dropped);
    prom_family(w, "srs_rtc_sound_silence_seconds_total", "counter", "Put in where some missed.");
    prom_value(w, "srs_rtc_sound_silence_seconds_total", "", (double)s->silence / 1e3);
}

void metrics_put_rtc(struct wr *w, const struct rtc_service_stat *s)
{
    prom_family(w, "srs_rtc_sessions", "gauge", "Sessions of WebRTC, by what they do.");
    prom_value(w, "srs_rtc_sessions", "mode=\"publish\"", (double)s->publishers);
    prom_value(w, "srs_rtc_sessions", "mode=\"play\"", (double)s->players);
    prom_value(w, "srs_rtc_sessions", "mode=\"waiting\"", (double)s->waiting);
    put_rows(w, s);
    put_sound(w, &s->sound);
}
