/* SPDX-License-Identifier: MIT */
/* tls_record.h - the records of a TLS 1.3 connection whose handshake is done, at the server; for
 * co/ alone. Bytes in, bytes out: it has no socket and no memory of its own.
 *
 * A connection costs a quarter of a kilobyte here; in the library it is fourteen.
 */
#ifndef CO_NET_TLS_RECORD_H
#define CO_NET_TLS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* ---- the keys of one direction of a TLS 1.3 connection, and records under them; for co/
 * alone. Bytes in, bytes out.
 *
 * A key is a few numbers. What the ciphers compute from it is some times as large and quickly made,
 * so it is kept by thread, for the connection that used it last.
 */

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

/* A record of this type with the next `size` bytes, 16,384 at most: size + TLS_MORE bytes, which
 * `out` has room for. False: the library failed. */
bool tls_key_seal(struct tls_key *k, uint8_t type, struct tls_from *from, size_t size,
                  uint8_t *out);
/* Decrypt a whole record in place. False: it is not what was sent; its bytes are garbage then. */
bool tls_key_open(struct tls_key *k, uint8_t *record, size_t size);

enum {
    TLS_CONTENT = 16 * 1024, /* what a record holds at most */
    TLS_RECORD = TLS_HEAD + TLS_CONTENT + 256,
    TLS_QUIET = 32, /* records in a row that have no data: peers want new keys once in gigabytes */
    TLS_UPDATE = TLS_MORE + 5, /* a record that says that new keys follow */
    TLS_ALERT = TLS_MORE + 2,
};

/* Of one key: RFC 8446 5.5 allows AES-GCM 2^24.5. */
#define TLS_KEY_RECORDS ((uint64_t)1 << 23)

/* Reasons as the protocol numbers them. */
enum tls_alert {
    TLS_CLOSE_NOTIFY = 0,
    TLS_UNEXPECTED_MESSAGE = 10,
    TLS_BAD_RECORD_MAC = 20,
    TLS_RECORD_OVERFLOW = 22,
    TLS_ILLEGAL_PARAMETER = 47,
    TLS_DECODE_ERROR = 50,
    TLS_INTERNAL_ERROR = 80,
    TLS_USER_CANCELED = 90,
};

struct tls_records {
    struct tls_key in, out;
    unsigned quiet; /* records since the last byte of data */
    bool ended;     /* nothing more is read: the peer said so, or what it said was refused */
    bool mute;      /* nothing more is written: an alert was the last, or there are no keys */
};

enum tls_kind {
    TLS_PARTIAL,  /* no whole record is there */
    TLS_DATA,     /* data .. data + size, where it was encrypted */
    TLS_NOTHING,  /* a record without data */
    TLS_ASKS,     /* the same, and the peer waits for tls_records_update() */
    TLS_ENDED,    /* no more follows */
    TLS_REFUSED,  /* the peer gave up, for the reason in alert */
    TLS_BAD,      /* the peer broke the protocol; alert says how, and is to be sent */
};

struct tls_got {
    enum tls_kind kind;
    size_t taken; /* of the input */
    uint8_t *data;
    size_t size;
    uint8_t alert;
};

/* Is a whole record there, or one that is refused by its head? */
bool tls_records_whole(const uint8_t *in, size_t size);
/* Take one record of the input. */
struct tls_got tls_records_read(struct tls_records *r, uint8_t *in, size_t size);

/* Each gives how many bytes it wrote; 0: the library failed, or nothing more may be written. */
/* At most TLS_CONTENT; `out` has room for TLS_UPDATE and TLS_MORE beyond that. */
size_t tls_records_data(struct tls_records *r, struct tls_from *from, size_t size, uint8_t *out);
size_t tls_records_update(struct tls_records *r, uint8_t out[TLS_UPDATE]); /* new keys follow */
/* The last thing that is said. */
size_t tls_records_alert(struct tls_records *r, uint8_t alert, uint8_t out[TLS_ALERT]);

/* Their connection goes to another thread: nothing of its keys is left on this one. */
void tls_records_leave(const struct tls_records *r);
void tls_records_free(struct tls_records *r); /* wipes its keys; NULL is fine */

#endif
