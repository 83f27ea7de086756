/* SPDX-License-Identifier: MIT */
/* rtc.h - WebRTC: publishers and players over one UDP port (and TCP), admitted over HTTP.
 *
 * A session begins with an HTTP request (http.h) that carries an offer, and lives at the worker
 * that serves its stream. Our ice-ufrag names that worker: a check that reached another worker is
 * passed on, and so is everything that address sends from then on. Each socket has a reader
 * coroutine; a player has none, one walk serves all players of a stream (stream.h).
 *
 * Everything here belongs to one worker's thread.
 */
#ifndef SERVE_RTC_RTC_H
#define SERVE_RTC_RTC_H

#include "base/counters.h"
#include "co/net/udp.h"
#include "session/env.h"
#include "audio/transcoder/transcoder.h"

struct datagram_protocol;
struct rtc_service; /* the service of one worker */
struct clients_detail;
struct session;
struct io;

extern const struct datagram_protocol rtc_protocol;
/* Serves a TCP connection whose first two bytes may be the length of a frame (RFC 4571), in the
 * calling coroutine, until it ends or moves to another worker. Takes over `io`. `first` holds the
 * bytes already read. */
void rtc_service_tcp(struct rtc_service *s, struct io *io, const void *first, size_t size);

struct rtc_service_stat { /* 64-bit words only, so that they can be summed */
    uint64_t sessions, publishers, players, waiting; /* waiting: not connected yet */
    uint64_t offers, refused, timeouts;
    uint64_t checks, forged_checks, strangers;  /* STUN checks; packets without a session */
    uint64_t handshakes, failed_handshakes;
    uint64_t forged, replayed;                  /* SRTP packets */
    uint64_t received, received_bytes, recv_lost, nacks_sent, plis_sent, twcc_sent;
    /* to players; requested; retransmitted */
    uint64_t sent, sent_bytes, nacks, retransmitted, plis;
    uint64_t address_changes, passed;           /* datagrams for other workers */
    uint64_t rtcp_in, rtcp_out, checks_answered, reports_sent;
    uint64_t nacks_sent_audio, nacks_sent_video, nacks_found; /* numbers in nacks_sent; recovered */
    /* numbers in NACKs; those no longer available */
    uint64_t asked, requested_missing;
    uint64_t by_name, by_address;               /* how the session of a datagram was found */
    uint64_t no_room[2];                        /* failures of the machine, for the log only */
    struct udp_stat sockets;
    struct transcoder_stat sound;
};
extern const struct counter_table rtc_counters; /* table over the struct above */

/* Details of one client in lists, since it connected. */
struct rtc_client_stat {
    const char *state;          /* "checked", "connected" */
    const char *transport;      /* "udp", "tcp" */
    char remote[72];            /* address of the peer */
    const char *cipher;         /* DTLS cipher; "" */
    const char *profile;        /* SRTP profile: "AES128-GCM", "AES128-CM"; "" unencrypted */
    const char *video, *audio;  /* agreed codecs: "H264"; "" */
    uint64_t sent, received, lost, nacks, retransmitted, plis, forged, address_changes;
    co_usec rtt, jitter;
    const char *takes;          /* frames sent for its path: "all", "needed", "keys"; NULL: no
                                 * player */
    uint64_t left_out;          /* packets of frames it does not get */
    char video_left_out[80];    /* "B-frames: 180 of 240 frames left out" (browsers show none) */
};
extern const struct clients_detail rtc_client_detail; /* table over it */

static inline struct rtc_service *rtc_service_of(const struct session_env *env)
{
    return env->service[PROTOCOL_RTC]; /* NULL: WebRTC is off */
}

#endif
