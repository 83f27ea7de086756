/* SPDX-License-Identifier: MIT */
/* message.h - parses and writes STUN messages, [STUN] RFC 8489, with the attributes of [ICE] RFC
 * 8445. No I/O, no memory, no clock; results point into the received message.
 */
#ifndef PROTO_STUN_MESSAGE_H
#define PROTO_STUN_MESSAGE_H

#include "co/net/udp.h"

enum { STUN_HEADER = 20, STUN_MAX = 576, STUN_ID = 12, STUN_UNKNOWN_MAX = 8 };
enum stun_class { STUN_REQUEST, STUN_INDICATION, STUN_SUCCESS, STUN_ERROR };

struct stun_message {
    enum stun_class class;
    uint16_t method;            /* 1: binding */
    const uint8_t *id;          /* transaction id, STUN_ID bytes */
    const char *username;       /* "ours:theirs", username_size bytes; NULL: none */
    size_t username_size;
    bool has_priority, controlling, controlled, use_candidate, has_fingerprint;
    uint32_t priority;
    uint64_t tie;               /* tie breaker of controlling or controlled */
    size_t integrity_at;        /* offset of MESSAGE-INTEGRITY; 0: none */
    unsigned error;             /* 401, 487 and so on; 0: none */
    bool has_mapped;
    struct udp_addr mapped;     /* XOR-MAPPED-ADDRESS */
    unsigned n_unknown;         /* unknown attributes that must be understood */
    uint16_t unknown[STUN_UNKNOWN_MAX];
    const uint8_t *data;
    size_t size;
};

/* Returns false if it is not a valid message: magic cookie, lengths, over STUN_MAX, or a wrong
 * FINGERPRINT. */
bool stun_parse(struct stun_message *m, const uint8_t *data, size_t size);
/* Returns whether MESSAGE-INTEGRITY is present and matches this password. In constant time. */
bool stun_is_of(const struct stun_message *m, const char *password);

/* Write to `out`, of STUN_MAX bytes; return the size, or 0 if it does not fit. All messages have
 * MESSAGE-INTEGRITY with this password (NULL: none) and FINGERPRINT. */
size_t stun_write_success(uint8_t *out, const struct stun_message *to, const struct udp_addr *from,
                          const char *password);
/* 420 lists the attributes that were not understood. */
size_t stun_write_error(uint8_t *out, const struct stun_message *to, unsigned code,
                        const char *password);
struct stun_check { /* a client's binding request */
    uint8_t id[STUN_ID];
    const char *username;       /* "theirs:ours", the receiver's ufrag first */
    const char *password;       /* the peer's password */
    bool controlling, controlled, use_candidate, has_priority;
    uint32_t priority;
    uint64_t tie;
};
size_t stun_write_check(uint8_t *out, const struct stun_check *c);

#endif
