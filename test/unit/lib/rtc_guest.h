/* SPDX-License-Identifier: MIT */
/* rtc_guest.h - a WebRTC client: its offer, ICE checks, DTLS, SRTP packets; over UDP or TCP. */
#ifndef RTC_GUEST_H
#define RTC_GUEST_H

#include "proto/dtls/dtls.h"
#include "proto/stun/message.h"
#include "serve/rtc/request.h"
#include "serve/rtc/rtc.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RTC_GUEST_PWD "passwordOfAClient123456"

struct rtc_guest {
    struct udp *socket;
    struct udp_path to;
    struct io *tcp;                     /* or over TCP: frames after their sizes */
    char ours[40], theirs[40], pwd[40]; /* our ufrag; the server's, and its pwd */
    char session[200], token[RTC_TOKEN + 1];
    char wish[40];                      /* the ufrag that the server is asked to use; "" */
    struct dtls_fingerprint fingerprint;
    struct dtls *dtls;                  /* once it connects */
    struct srtp_out *srtp;
    uint16_t seq;
    unsigned checks, sent;              /* datagrams in all */
    const struct udp_in *came;          /* together, not read yet */
    size_t n;
};

/* Opens a socket to this port of this machine. */
void rtc_guest_open(struct rtc_guest *g, int port);
void rtc_guest_forget(struct rtc_guest *g); /* its session */
void rtc_guest_close(struct rtc_guest *g);

/* The offer of a client with this ufrag: "guest"; a codec: "H264". */
char *rtc_offer_of(enum rtc_request_kind kind, const char *ufrag, const char *codec);
/* Takes over the offer. */
struct rtc_request rtc_request_of(enum rtc_request_kind kind, const char *stream, char *offer);
/* Reads the ufrag, pwd and fingerprint of an answer. */
void rtc_guest_read(struct rtc_guest *g, const char *answer);

/* Sends an offer; returns the status of the answer. */
int rtc_guest_ask(struct rtc_guest *g, struct session_env *env, enum rtc_request_kind kind,
                  const char *stream);

void rtc_guest_send(struct rtc_guest *g, const void *data, size_t size);

/* Copies the next datagram that arrives within that time, and returns its size; 0: none did. */
size_t rtc_guest_hear(struct rtc_guest *g, uint8_t out[2048], co_usec patience);
/* The next one that is not a check of the server, within 2 s. */
size_t rtc_guest_hear_more(struct rtc_guest *g, uint8_t out[2048]);

void rtc_guest_check(struct rtc_guest *g, const char *pwd, bool use);

/* Waits for a check of the server, and answers it. */
bool rtc_guest_answers(struct rtc_guest *g);

/* A check, and its answer. */
bool rtc_guest_checks(struct rtc_guest *g);

/* The handshake. */
bool rtc_guest_shakes(struct rtc_guest *g);
/* The same with another certificate than in the offer. */
void rtc_guest_shakes_wrongly(struct rtc_guest *g);
/* Both. */
bool rtc_guest_connects(struct rtc_guest *g);
/* close_notify: ours; and whether that of the server comes within a second. */
void rtc_guest_bye(struct rtc_guest *g);
bool rtc_guest_hears_bye(struct rtc_guest *g);

/* An RTP packet of type 96 or 97, or RTCP (201). Unencrypted before it is connected. */
void rtc_guest_packet(struct rtc_guest *g, uint8_t type);
void rtc_guest_forged(struct rtc_guest *g, uint8_t type); /* one with a wrong tag */

/* Counters of a worker of two_workers.h. */
struct rtc_service_stat rtc_guest_stat(unsigned worker);

#endif
