/* SPDX-License-Identifier: MIT */
/* impl.h - the WebRTC service of a worker; private to serve/rtc. */
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

/* Shared by all workers; fields that change are atomic or have their own lock. */
struct rtc_shared {
    struct datagram_shared base;
    struct rtc_names *names;        /* ufrags that clients requested */
    atomic_uint sessions;
};

struct rtc_endpoint {
    struct datagram_endpoint base; /* its socket is NULL for a TCP connection: */
    struct rtc_tcp *tcp;
    struct rtc_service *service;
    bool proven;           /* an authenticated check arrived on it */
};

struct rtc_requested { /* A check we sent that is not answered yet; see probe.c. */
    struct rtc_peer *peer; /* NULL: unused */
    uint8_t id[STUN_ID];
};

struct rtc_service {
    struct datagram_service base;
    struct rtc_shared *shared; /* same as base.shared */
    struct rtc_table table;
    struct datagram_streams streams; /* streams with players or relays */
    struct dtls_identity *identity[2]; /* our certificates: normal, and for DTLS 1.0; or NULL */
    bool rsa;                  /* they are RSA */
    bool makes[2];             /* a helper thread is creating it */
    struct rtc_requested asked[RTC_ASKED];
    struct rtc_found *found;   /* resolved names and interfaces, see candidates.c; or NULL */
    co_usec strangers_logged;
    uint64_t unknown, unknown_logged; /* checks without a known session; those logged */
    struct udp *mirror;         /* socket to the black_hole mirror, or NULL */
    struct udp_path mirror_path;
    uint64_t tcp_drops;        /* datagrams dropped because a TCP connection was full */
    struct rtc_service_stat stat; /* except what sockets count */
    uint8_t plain[RTC_DATAGRAM_MAX]; /* buffer for the packet being decrypted */
};

/* ---- candidates.c: our addresses, best first */
/* Collects candidate addresses and returns their number. Yields while a name is resolved (2 s at
 * most; cached for 60 s). */
unsigned rtc_candidates(struct rtc_service *s, const struct rtc_request *req,
                        struct sdp_candidate out[SDP_CANDIDATES_MAX]);
/* frees the cache of candidates; nothing may use it any more */
void rtc_candidates_free(struct rtc_service *s);

/* ---- identity.c */
/* Returns our certificate with a reference for the caller; replaces an old one first. Yields. */
err_t rtc_service_identity(struct rtc_service *s, bool dtls1_0, struct dtls_identity **out)
    __attribute__((warn_unused_result));
/* drops the certificates; new ones follow the configuration */
void rtc_identities_forget(struct rtc_service *s);

/* ---- endpoint.c: functions of rtc_protocol */
struct datagram_endpoint *rtc_endpoint_new(struct datagram_service *service);
struct udp_opts rtc_endpoint_opts(const struct conf *conf);
void rtc_endpoint_opened(struct datagram_endpoint *e, int fd);
bool rtc_endpoint_in_use(const struct datagram_endpoint *e);
void rtc_endpoint_closing(struct datagram_endpoint *e);

/* ---- input.c: handles a datagram, or a frame of a TCP connection, received by worker `via` */
void rtc_input(struct rtc_endpoint *e, const struct udp_in *in, unsigned via, co_usec now);

/* ---- mirror.c */
void rtc_mirror_open(struct rtc_service *s); /* opens or closes it by the configuration */
void rtc_mirror(struct rtc_service *s, const void *data, size_t size);

/* ---- pass.c: messages between workers */
void rtc_on_message(struct datagram_endpoint *e, const struct udp_addr *peer, unsigned from,
              unsigned word); /* told() of rtc_protocol */
/* most: DATAGRAM_MAILS, or RTC_MAILS_STRANGE for unauthenticated datagrams, so that a flood of them
 * leaves capacity for known sessions. */
void rtc_pass(struct rtc_endpoint *e, unsigned worker, const struct udp_in *in, unsigned most);
/* Tells a worker to pass on datagrams of an address, or to stop. RTC_PROVEN: even if another
 * session had the address. */
enum rtc_claim { RTC_MINE, RTC_PROVEN, RTC_NOT_MINE };
void rtc_pass_claim(struct rtc_service *s, unsigned worker, unsigned endpoint,
                    const struct udp_addr *from, enum rtc_claim claim);
/* Removes the route and notifies the worker that passes its datagrams on. */
void rtc_pass_drop(struct rtc_service *s, struct rtc_route *r);

/* ---- handshake.c: DTLS handshakes on helper threads */
/* handles one datagram */
void rtc_handshake_put(struct rtc_peer *p, const uint8_t *data, size_t size);
void rtc_handshake_forget(struct rtc_peer *p);

/* ---- probe.c: checks whether a peer receives at an address */
void rtc_probe(struct rtc_endpoint *e, struct rtc_peer *p, const struct udp_in *in,
                   co_usec now);
/* Returns the peer that was sent this check, or NULL. */
struct rtc_peer *rtc_probed(struct rtc_service *s, const uint8_t id[STUN_ID]);
void rtc_probe_forget(struct rtc_peer *p);

/* ---- peer.c */
struct rtc_peer *rtc_peer_new(struct rtc_service *s, struct rtc_request *req);
void rtc_peer_free(struct rtc_peer *p);
/* Writes the last log line and frees the peer. Takes over `why`. */
void rtc_peer_close(struct rtc_peer *p, err_t why);

/* ---- admit.c: runs on the thread of the worker that serves the stream. A new session
 * takes over *owner, in which it is registered already. Yields until the answer is ready. */
void rtc_admit(struct rtc_service *s, struct rtc_request *req, struct stream_owner **owner);

/* ---- refuse.c: answers with this error and frees it */
void rtc_refuse(struct rtc_request *req, err_t *err);

/* ---- resource.c: DELETE, PATCH and GET of a session */
void rtc_resource(struct rtc_service *s, struct rtc_request *req);

/* ---- ufrag.c: finds the worker of a session */
struct rtc_names *rtc_names_new(void);
void rtc_names_free(struct rtc_names *t);
/* Sets new local credentials; the first letter of a ufrag names its worker. */
void rtc_new_ufrag(const struct rtc_service *s, struct ice *ice);
/* Reserves a ufrag that a client requested. Returns false if it is taken or RTC_NAMES_MAX are in
 * use. */
bool rtc_names_take(const struct rtc_service *s, const char *ufrag);
void rtc_names_leave(const struct rtc_service *s, const char *ufrag);
/* Returns the worker of the session with this ufrag, if such a session exists; UINT_MAX: no
 * worker. */
unsigned rtc_worker_of(const struct rtc_service *s, const char *ufrag, size_t size);

/* ---- stream.c */
/* Finds or creates the stream of the source; returns it with a reference for the caller. */
struct datagram_stream *rtc_stream_get(struct rtc_service *s, struct live_source *src);
struct rtc_wire *rtc_stream_wire(struct datagram_stream *st);
/* Sets the WebRTC publisher that gets key frame requests; NULL: none. */
void rtc_stream_set_publisher(struct datagram_stream *st, struct rtc_peer *p);
struct rtc_peer *rtc_stream_publisher(const struct datagram_stream *st);
/* Starts a walk: a packet was relayed and players get it at once. */
void rtc_stream_wake(struct datagram_stream *st);
/* Schedules a player that has more to send than fits at once: it is served in small steps between
 * the walks. */
void rtc_stream_late(struct rtc_peer *p);
/* Adds p as a player of p->base.stream. Neither yields. */
void rtc_stream_add(struct rtc_peer *p);
void rtc_stream_remove(struct rtc_peer *p); /* fine if it was not added */

/* ---- tcp.c */
void rtc_tcp_send(struct rtc_tcp *t, const void *data, size_t size);
bool rtc_tcp_is_full(const struct rtc_tcp *t); /* true: media must wait */

/* See accept() in struct protocol; in accept.c. */
err_t rtc_accept(struct session_env *env, const struct protocol_accepted *guest,
                 struct address_slot *place) __attribute__((warn_unused_result));

#endif
