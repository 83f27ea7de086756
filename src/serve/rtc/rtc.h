/* SPDX-License-Identifier: MIT */
/* rtc.h - WebRTC: publishers and players over one UDP port (and TCP), let in by HTTP.
 *
 * A session begins with a request (http.h) which carries an offer, and lives at the worker where
 * its stream is served. Our ice-ufrag names that worker, so a check that the kernel gave to
 * another is passed on, and from then on all that comes from that address. A reader coroutine for
 * each socket; a player has no coroutine, one walk serves all players of a stream (stream.h).
 *
 * All of this is of one worker's thread.
 */
#ifndef SERVE_RTC_RTC_H
#define SERVE_RTC_RTC_H

#include "base/counters.h"
#include "co/net/udp.h"
#include "session/env.h"
#include "audio/transcoder/transcoder.h"

struct datagram_protocol;
struct rtc_service; /* of one worker */
struct clients_detail;
struct session;
struct io;

extern const struct datagram_protocol rtc_protocol;
/* A connection of TCP whose first two bytes may be the length of a frame (RFC 4571). It is taken
 * over, and served by the coroutine that calls until its end, or until it goes to another worker.
 * What was read of it already is `first`. */
void rtc_service_tcp(struct rtc_service *s, struct io *io, const void *first, size_t size);

struct rtc_service_stat { /* words alone, all of them sums */
    uint64_t sessions, publishers, players, waiting; /* waiting: not connected yet */
    uint64_t offers, refused, timeouts;
    uint64_t checks, forged_checks, strangers;  /* of STUN; packets of no session */
    uint64_t handshakes, failed_handshakes;
    uint64_t forged, replayed;                  /* of SRTP */
    uint64_t received, received_bytes, recv_lost, nacks_sent, plis_sent, twcc_sent;
    uint64_t sent, sent_bytes, nacks, repeated, plis; /* to players; asked for; sent again */
    uint64_t address_changes, passed;           /* datagrams for other workers */
    uint64_t rtcp_in, rtcp_out, checks_answered, reports_sent;
    uint64_t nacks_sent_audio, nacks_sent_video, nacks_found; /* of nacks_sent; that then came */
    uint64_t asked, asked_missing;              /* numbers in nacks; that were not to be had */
    uint64_t by_name, by_address;               /* datagrams whose session was found so */
    uint64_t no_room[2];                        /* of the machine, for the log alone */
    struct udp_stat sockets;
    struct transcoder_stat sound;
};
extern const struct counter_table rtc_counters; /* reads the struct above */

/* What a list shows of one client, since it began. */
struct rtc_client_stat {
    const char *state;          /* "checked", "connected" */
    const char *transport;      /* "udp", "tcp" */
    char remote[72];            /* the peer's address */
    const char *cipher;         /* of DTLS; "" */
    const char *profile;        /* of SRTP: "AES128-GCM", "AES128-CM"; "" in the clear */
    const char *video, *audio;  /* codecs agreed on, "H264"; "" */
    uint64_t sent, received, lost, nacks, repeated, plis, forged, address_changes;
    co_usec rtt, jitter;
    const char *takes;          /* by its line: pictures "all", "needed", "keys"; NULL: no player */
    uint64_t left_out;          /* packets of those that it does not take */
    char video_left_out[80];    /* "B-frames: 180 of 240 frames left out", as browsers show none */
};
extern const struct clients_detail rtc_client_detail; /* reads that */

static inline struct rtc_service *rtc_service_of(const struct session_env *env)
{
    return env->service[PROTOCOL_RTC]; /* NULL: it is off */
}

#endif
