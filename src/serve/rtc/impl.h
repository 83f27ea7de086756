/* SPDX-License-Identifier: MIT */
/* impl.h - the WebRTC service of a worker, for the files of serve/rtc alone. */
#ifndef SERVE_RTC_IMPL_H
#define SERVE_RTC_IMPL_H

#include "proto/stun/ice.h"
#include "serve/datagram/pass.h"
#include "serve/protocol.h"
#include "serve/rtc/request.h"
#include "serve/rtc/peer.h"
#include "serve/rtc/table.h"
#include "wire/rtc.h"

enum { RTC_PENDING_OF_ADDRESS = 64, RTC_DATAGRAM_MAX = 2048,
       RTC_MAILS_STRANGE = DATAGRAM_MAILS / 4, RTC_NAMES_MAX = 1024, RTC_ASKED = 256 };

/* Of all workers: whatever changes is atomic, or has a lock of its own. */
struct rtc_shared {
    struct datagram_shared base;
    struct rtc_names *names;        /* ufrags that clients asked for */
    atomic_uint sessions;
};

struct rtc_endpoint {
    struct datagram_endpoint base; /* its socket is NULL: it is a connection of TCP: */
    struct rtc_tcp *tcp;
    struct rtc_service *service;
    bool proven;           /* an authenticated check came by it */
};

struct rtc_requested { /* a check of ours that has no answer yet: probe.c */
    struct rtc_peer *peer; /* NULL: none */
    uint8_t id[STUN_ID];
};

struct rtc_service {
    struct datagram_service base;
    struct rtc_shared *shared; /* that of base */
    struct rtc_table table;
    struct datagram_streams streams; /* that somebody plays, or relays to */
    struct dtls_identity *identity[2]; /* our certificate; where DTLS 1.0 is allowed. Or NULL */
    bool rsa;                  /* they are */
    bool makes[2];             /* a helper thread is at it */
    struct rtc_requested asked[RTC_ASKED];
    struct rtc_found *found;   /* names and interfaces: candidates.c; or NULL */
    co_usec strangers_told;
    uint64_t unknown, unknown_told; /* checks that name no session */
    struct udp *black;         /* where all that comes is shown, or NULL */
    struct udp_path black_path;
    uint64_t tcp_drops;        /* datagrams for connections that were full */
    struct rtc_service_stat stat; /* but for what sockets count */
    uint8_t plain[RTC_DATAGRAM_MAX]; /* a packet, while it is read */
};

/* ---- candidates.c: where clients find us, the likeliest first */
/* Yields where a name is to be resolved (2 s at most, kept for 60 s). Returns how many. */
unsigned rtc_candidates(struct rtc_service *s, const struct rtc_request *req,
                        struct sdp_candidate out[SDP_CANDIDATES_MAX]);
void rtc_candidates_free(struct rtc_service *s); /* what is kept for them; nobody asks any more */

/* ---- identity.c */
/* Our certificate, with a reference for the caller; one that gets old is made again. Yields. */
err_t rtc_service_identity(struct rtc_service *s, bool dtls1_0, struct dtls_identity **out)
    __attribute__((warn_unused_result));
void rtc_identities_forget(struct rtc_service *s); /* new ones, as configured now */

/* ---- endpoint.c: of rtc_protocol */
struct datagram_endpoint *rtc_endpoint_new(struct datagram_service *service);
struct udp_opts rtc_endpoint_opts(const struct conf *conf);
void rtc_endpoint_opened(struct datagram_endpoint *e, int fd);
bool rtc_endpoint_in_use(const struct datagram_endpoint *e);
void rtc_endpoint_closing(struct datagram_endpoint *e);

/* ---- input.c: a datagram, or a frame of a connection of TCP, that came by way of that worker */
void rtc_input(struct rtc_endpoint *e, const struct udp_in *in, unsigned via, co_usec now);

/* ---- black_hole.c */
void rtc_black_hole_open(struct rtc_service *s); /* as configured now */
void rtc_black_hole(struct rtc_service *s, const void *data, size_t size);

/* ---- pass.c: between workers */
void rtc_told(struct datagram_endpoint *e, const struct udp_addr *peer, unsigned from,
              unsigned word); /* of rtc_protocol */
/* most: DATAGRAM_MAILS, or RTC_MAILS_STRANGE of what proves nothing: a flood of it leaves room for
 * what is known. */
void rtc_pass(struct rtc_endpoint *e, unsigned worker, const struct udp_in *in, unsigned most);
/* That worker is to pass on what comes from there, or no longer. RTC_PROVEN: whoever had it. */
enum rtc_claim { RTC_MINE, RTC_PROVEN, RTC_NOT_MINE };
void rtc_pass_claim(struct rtc_service *s, unsigned worker, unsigned endpoint,
                    const struct udp_addr *from, enum rtc_claim claim);
/* It is dropped, and who passes it on is told. */
void rtc_pass_drop(struct rtc_service *s, struct rtc_route *r);

/* ---- handshake.c: handshakes, on helper threads */
void rtc_handshake_put(struct rtc_peer *p, const uint8_t *data, size_t size); /* of one datagram */
void rtc_handshake_forget(struct rtc_peer *p);

/* ---- probe.c: is the peer there? */
void rtc_probe(struct rtc_endpoint *e, struct rtc_peer *p, const struct udp_in *in,
                   co_usec now);
/* Who was asked by that check; NULL: nobody. */
struct rtc_peer *rtc_probed(struct rtc_service *s, const uint8_t id[STUN_ID]);
void rtc_probe_forget(struct rtc_peer *p);

/* ---- peer.c */
struct rtc_peer *rtc_peer_new(struct rtc_service *s, struct rtc_request *req);
void rtc_peer_free(struct rtc_peer *p);
/* Its last log line; it is freed. Takes over why. */
void rtc_peer_close(struct rtc_peer *p, err_t why);

/* ---- admit.c: on the thread of the worker where its stream is served. A session that is made
 * takes over *home, in which it is a guest already. Yields until there is an answer. */
void rtc_admit(struct rtc_service *s, struct rtc_request *req, struct stream_owner **owner);

/* ---- refuse.c: the answer is that error, which is ended here */
void rtc_refuse(struct rtc_request *req, err_t *err);

/* ---- resource.c: DELETE, PATCH and GET of a session */
void rtc_resource(struct rtc_service *s, struct rtc_request *req);

/* ---- ufrag.c: names of sessions, by which workers find them */
struct rtc_names *rtc_names_new(void);
void rtc_names_free(struct rtc_names *t);
/* Ours, new ones: the first letter of a ufrag names its worker. */
void rtc_new_ufrag(const struct rtc_service *s, struct ice *ice);
/* One that a client asked for. False: it is another's, or there are RTC_NAMES_MAX of them. */
bool rtc_names_take(const struct rtc_service *s, const char *ufrag);
void rtc_names_leave(const struct rtc_service *s, const char *ufrag);
/* Whose session that is, if there is one; UINT_MAX: no worker's. */
unsigned rtc_worker_of(const struct rtc_service *s, const char *ufrag, size_t size);

/* ---- stream.c */
/* That of the source, made if there is none; with a reference for the caller. */
struct datagram_stream *rtc_stream_get(struct rtc_service *s, struct live_source *src);
struct rtc_wire *rtc_stream_wire(struct datagram_stream *st);
/* Its WebRTC publisher, which gets requests for key frames; NULL: it has none of WebRTC. */
void rtc_stream_set_publisher(struct datagram_stream *st, struct rtc_peer *p);
struct rtc_peer *rtc_stream_publisher(const struct datagram_stream *st);
/* A packet was relayed: players are to have it at once. */
void rtc_stream_wake(struct datagram_stream *st);
/* That player has more to be sent than goes at once: it gets it a bit at a time, without a walk. */
void rtc_stream_late(struct rtc_peer *p);
/* A player of p->base.stream. Neither yields. */
void rtc_stream_add(struct rtc_peer *p);
void rtc_stream_remove(struct rtc_peer *p); /* fine if it was not added */

/* ---- tcp.c */
void rtc_tcp_send(struct rtc_tcp *t, const void *data, size_t size);
bool rtc_tcp_is_full(const struct rtc_tcp *t); /* media are to wait */

/* accept.c: see struct protocol. */
err_t rtc_accept(struct session_env *env, const struct protocol_accepted *guest,
                 struct address_slot *place) __attribute__((warn_unused_result));

#endif
