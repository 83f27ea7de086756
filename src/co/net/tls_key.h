/* SPDX-License-Identifier: MIT */
/* tls_key.h - the keys of one direction of a TLS 1.3 connection, and records under them; for co/
 * alone. Bytes in, bytes out.
 *
 * A key is a few numbers. What the ciphers compute from it is some times as large and quickly made,
 * so it is kept by thread, for the connection that used it last.
 */
#ifndef CO_NET_TLS_KEY_H
#define CO_NET_TLS_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum tls_suite { TLS_AES_128, TLS_AES_256, TLS_CHACHA20, TLS_SUITES };

enum {
    TLS_SECRET = 48, /* the longest */
    TLS_HEAD = 5, TLS_TAG = 16,
    TLS_MORE = TLS_HEAD + 1 + TLS_TAG, /* so much longer than its content is a record of ours */
};

struct tls_key {
    uint64_t id;  /* of this key among all of the process; 0: none */
    uint64_t seq; /* records so far */
    enum tls_suite suite;
    uint8_t secret[TLS_SECRET], key[32], iv[12];
};

/* Where the next bytes come from. */
struct tls_from {
    const struct iovec *iov;
    int count;
    size_t at; /* in the first */
};

/* Which suite it is by its number in the protocol; TLS_SUITES: none of these. Any thread. */
enum tls_suite tls_suite_of(unsigned number);
size_t tls_suite_secret(enum tls_suite suite); /* how long its secrets are */

/* From the secret of the traffic. False: the library cannot do it. */
bool tls_key_init(struct tls_key *k, enum tls_suite suite, const uint8_t *secret);
bool tls_key_next(struct tls_key *k); /* the key after this one */
void tls_key_wipe(struct tls_key *k);
void tls_key_leave(const struct tls_key *k); /* what this thread computed of it is wiped */

/* A record of this type with the next `size` bytes, 16,384 at most: size + TLS_MORE bytes, which
 * `out` has room for. False: the library failed. */
bool tls_key_seal(struct tls_key *k, uint8_t type, struct tls_from *from, size_t size,
                  uint8_t *out);
/* Decrypt a whole record in place. False: it is not what was sent; its bytes are garbage then. */
bool tls_key_open(struct tls_key *k, uint8_t *record, size_t size);

#endif
