/* SPDX-License-Identifier: MIT */
/* srt_listen.h - a service of SRT on loopback, in the thread that tests, and callers of it. */
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
    bool says_no_size; /* of keys: as libsrt, if nobody told it one */
};

/* `server` and `vhost`: what else is in these blocks. */
void srt_begin(const char *server, const char *vhost);
void srt_finish(void);
struct srt_service_stat srt_stat_now(void);
uint64_t srt_refused_with(uint32_t code);
void srt_guest_open(struct srt_guest *g, const char *ip);
void srt_guest_close(struct srt_guest *g);
void srt_guest_send(struct srt_guest *g, const void *data, size_t size);
/* What comes within that time, one: copied, its size; 0: nothing did. */
size_t srt_guest_hear(struct srt_guest *g, uint8_t out[2048], co_usec patience);
/* Call, until it is answered or some time is over. */
void srt_guest_call(struct srt_guest *g, const char *streamid, uint32_t id,
                                  uint32_t first_seq, const char *passphrase, unsigned key_size);
/* The code by which one that calls is refused; 0: it is let in. */
uint32_t srt_call_once(const char *streamid, const char *passphrase, unsigned key);

#endif
