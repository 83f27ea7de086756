/* SPDX-License-Identifier: MIT */
/* rtc_guest.h - a client of WebRTC over UDP: asks, and sends checks and bytes. */
#ifndef RTC_GUEST_H
#define RTC_GUEST_H

#include "proto/stun/message.h"
#include "serve/rtc/ask.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rtc_guest {
    struct udp *socket;
    struct udp_path to;
    char ours[40], theirs[40], pwd[40]; /* ufrag of ours; of the server, and its pwd */
    char session[200], token[RTC_TOKEN + 1];
    char wish[40];           /* what our ufrag is asked to be; "" */
    unsigned checks;
    const struct udp_in *came; /* together, and not looked at yet */
    size_t n;
};

void rtc_guest_open(struct rtc_guest *g, int port);
void rtc_guest_close(struct rtc_guest *g);
struct rtc_ask rtc_ask_of(enum rtc_ask_kind kind, const char *stream, const char *offer);

/* Ask; the status of the answer. */
int rtc_guest_ask(struct rtc_guest *g, struct session_env *env, enum rtc_ask_kind kind,
                  const char *stream);

void rtc_guest_send(struct rtc_guest *g, const void *data, size_t size);

/* What comes within that time, one: copied, its size; 0: nothing did. */
size_t rtc_guest_hear(struct rtc_guest *g, uint8_t out[2048], co_usec patience);

void rtc_guest_check(struct rtc_guest *g, const char *pwd, bool use);

/* The server asks whether we are there; true: it was that, and now it knows. */
bool rtc_guest_answers(struct rtc_guest *g, const uint8_t *in, size_t size);

/* A check, and its answer. */
bool rtc_guest_checks(struct rtc_guest *g);

/* Keys, too. */
bool rtc_guest_connects(struct rtc_guest *g);

/* A packet of RTP (type 96), or of RTCP (type 201); `end` 'k' is right. */
void rtc_guest_packet(struct rtc_guest *g, uint8_t type, char end);

#endif
