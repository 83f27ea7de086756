/* SPDX-License-Identifier: MIT */
/* srt_listen.h - an SRT service on loopback, in the test's thread, and its callers. */
#ifndef SRT_LISTEN_H
#define SRT_LISTEN_H

#include "loopback.h"
#include "proto/srt/call.h"
#include "serve/srt/impl.h"

extern struct session_env *srt_env;
extern struct udp_path srt_at;

struct srt_guest {
    struct udp *socket;
    struct srt_call call;
    struct srt_secret secret;
    struct srt_conn conn;
    bool says_no_size; /* sends no key size: libsrt's default */
};

/* `server` and `vhost`: more directives of these blocks. */
void srt_begin(const char *server, const char *vhost);
void srt_finish(void);
struct srt_service_stat srt_stat_now(void);
uint64_t srt_refused_with(uint32_t code);
void srt_guest_open(struct srt_guest *g, const char *ip);
void srt_guest_close(struct srt_guest *g);
void srt_guest_send(struct srt_guest *g, const void *data, size_t size);
/* Copies one datagram that arrives within that time, returns its size; 0: none did. */
size_t srt_guest_hear(struct srt_guest *g, uint8_t out[2048], co_usec patience);
/* Calls until it is answered or some time is over. */
void srt_guest_call(struct srt_guest *g, const char *streamid, uint32_t id,
                                  uint32_t first_seq, const char *passphrase, unsigned key_size);
/* The code by which a caller is rejected; 0: admitted. */
uint32_t srt_call_once(const char *streamid, const char *passphrase, unsigned key);

#endif
