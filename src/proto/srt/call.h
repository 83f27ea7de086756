/* SPDX-License-Identifier: MIT */
/* call.h - SRT caller: the client side of the handshake, for forwards, ingest and the load tool. No
 * I/O, does not yield.
 *
 * It repeats the induction and the conclusion every 250 ms until the listener responds or the
 * connect timeout expires. After success, srt_call.agreed holds the parameters of the connection
 * (conn.h).
 */
#ifndef PROTO_SRT_CALL_H
#define PROTO_SRT_CALL_H

#include "proto/srt/handshake.h"

struct srt_call_opts {
    const char *streamid;     /* "": none */
    uint32_t id, first_seq;   /* our id and initial sequence number, random */
    unsigned mss, window;
    co_usec recv_latency, peer_latency, timeout;
    const struct srt_secret *secret; /* NULL: no encryption */
};

enum srt_call_state { SRT_CALL_INDUCTION, SRT_CALL_CONCLUSION, SRT_CALL_DONE, SRT_CALL_REFUSED,
                      SRT_CALL_TIMEOUT };

struct srt_call {
    enum srt_call_state state;
    uint32_t refused;         /* code of SRT_CALL_REFUSED */
    struct srt_agreed agreed; /* valid in SRT_CALL_DONE */
    co_usec began_at, peer_zero; /* as srt_conn_opts needs them */
    /* private to call.c */
    struct srt_call_opts set;
    struct srt_handshake induction;
    co_usec due;
    unsigned tries;
};

void srt_call_begin(struct srt_call *c, const struct srt_call_opts *o, co_usec now);
void srt_call_input(struct srt_call *c, const struct srt_packet *p, co_usec now);
size_t srt_call_output(struct srt_call *c, uint8_t out[SRT_HANDSHAKE_MAX], co_usec now);
co_usec srt_call_deadline(const struct srt_call *c);

/* Parsed srt://host:port?streamid=...&latency=200&passphrase=...&pbkeylen=16 (latency in ms). */
struct srt_url {
    char host[256];
    int port;
    char streamid[SRT_STREAMID_MAX + 1], passphrase[SRT_PASSPHRASE_MAX + 1];
    unsigned key_size;
    int latency;              /* ms; -1: not given */
    bool listener;            /* mode=listener */
};
bool srt_url_parse(struct srt_url *out, const char *text); /* false if it is invalid */

#endif
