/* SPDX-License-Identifier: MIT */
/* rtmfp_guest.h - an RTMFP server in this process, and its clients over loopback. */
#ifndef RTMFP_GUEST_H
#define RTMFP_GUEST_H

#include "base/container_of.h"
#include "co/thread.h"
#include "loopback.h"
#include "rtmfp_bytes.h"
#include "proto/rtmfp/initiator.h"
#include "serve/rtmfp/peer.h"
#include "session/clients.h"

extern struct session_env *guests_env;
extern struct udp_path guests_at;
extern struct rtmfp_startup guests_startup;
extern struct rtmfp_dh *guests_dh;
extern struct rtmfp_cipher *guests_cipher;
extern struct rtmfp_initiator_set guests_set;
enum { GUEST_APP = 6 };
extern const uint8_t guest_app[GUEST_APP];

struct guest {
    struct udp *socket;
    struct rtmfp_identity me;
    struct rtmfp_initiator initiator;
    struct rtmfp_session session;
    struct rtmfp_sealer sealer;
    struct rtmfp_opener opener;
    uint8_t asked[RTMFP_SEALED_MAX], answered[RTMFP_SEALED_MAX]; /* the last two of a handshake */
    size_t asked_size, answered_size;
    uint8_t said[64];     /* the last message to it */
    size_t said_size;
    unsigned messages, forwards; /* to it; Forwarded IHello */
    uint8_t forward[256]; /* the last one's body */
    size_t forward_size;
};

void guests_begin(const char *server);
void guests_finish(void);
struct rtmfp_service_stat guests_stat(void);
void guest_send(struct guest *g, const void *data, size_t size);
size_t guest_receive(struct guest *g, uint8_t out[RTMFP_DATAGRAM_MAX], co_usec patience);
/* It looks for what the EPD selects; `as`: with this certificate, NULL: with a new one. */
void guest_look_for(struct guest *g, struct rtmfp_bytes epd, const struct rtmfp_identity *as);
void guest_open(struct guest *g);
void guest_close(struct guest *g);
/* The handshake, with this time limit. */
bool guest_greet(struct guest *g, co_usec patience);
void guest_say(struct guest *g);
bool guest_hear(struct guest *g);
void guest_ping(struct guest *g);
int guests_start(void **state);
int guests_stop(void **state);

#endif
