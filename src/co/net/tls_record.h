/* SPDX-License-Identifier: MIT */
/* tls_record.h - the records of a TLS 1.3 connection after its handshake, at the server; private to
 * co/. Bytes in, bytes out: it has no socket and no memory of its own.
 *
 * A connection needs a quarter of a kilobyte here, and 14 KB in the library.
 */
#ifndef CO_NET_TLS_RECORD_H
#define CO_NET_TLS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* ---- the keys of one direction of a TLS 1.3 connection, and records under them.
 *
 * A key is a few numbers. The state that a cipher computes from it is several times as large and
 * quick to compute, so each thread keeps it only for the connection that used it last.
 */

enum tls_suite { TLS_AES_128, TLS_AES_256, TLS_CHACHA20, TLS_SUITES };

enum {
    TLS_SECRET = 48, /* length of the longest secret */
    TLS_HEAD = 5, TLS_TAG = 16,
    TLS_MORE = TLS_HEAD + 1 + TLS_TAG, /* a record of ours is this much longer than its content */
};

struct tls_key {
    uint64_t id;  /* unique in the process; 0: no key */
    uint64_t seq; /* number of records so far */
    enum tls_suite suite;
    uint8_t secret[TLS_SECRET], key[32], iv[12];
};

/* Position of the next bytes to send. */
struct tls_from {
    const struct iovec *iov;
    int count;
    size_t at; /* offset in the first range */
};

/* Returns the suite of this protocol number; TLS_SUITES if it is not supported. Any thread. */
enum tls_suite tls_suite_of(unsigned number);
size_t tls_suite_secret(enum tls_suite suite); /* length of its secrets */

/* Derives the key from the traffic secret. Returns false if the library does not support it. */
bool tls_key_init(struct tls_key *k, enum tls_suite suite, const uint8_t *secret);
bool tls_key_next(struct tls_key *k); /* moves to the next key */
void tls_key_wipe(struct tls_key *k);

/* Writes a record of this type with the next `size` bytes, 16,384 at most: size + TLS_MORE bytes,
 * for which `out` must have room. Returns false if the library failed. */
bool tls_key_seal(struct tls_key *k, uint8_t type, struct tls_from *from, size_t size,
                  uint8_t *out);
/* Decrypts a whole record in place. Returns false if it is not authentic; its bytes are garbage
 * then. */
bool tls_key_open(struct tls_key *k, uint8_t *record, size_t size);

enum {
    TLS_CONTENT = 16 * 1024, /* maximum content of a record */
    TLS_RECORD = TLS_HEAD + TLS_CONTENT + 256,
    TLS_QUIET = 32, /* records in a row without data: peers want new keys only once in gigabytes */
    TLS_UPDATE = TLS_MORE + 5, /* a record that announces new keys */
    TLS_ALERT = TLS_MORE + 2,
};

/* Maximum number of records under one key: RFC 8446 5.5 allows 2^24.5 with AES-GCM. */
#define TLS_KEY_RECORDS ((uint64_t)1 << 23)

/* Alert numbers of the protocol. */
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
    bool ended;     /* no more reading: the peer ended the stream, or its input was refused */
    bool mute;      /* no more writing: an alert was the last record, or there are no keys */
};

enum tls_kind {
    TLS_PARTIAL,  /* no complete record yet */
    TLS_DATA,     /* data .. data + size, decrypted in place */
    TLS_NOTHING,  /* a record without data */
    TLS_ASKS,     /* a record without data, and the peer waits for tls_records_update() */
    TLS_ENDED,    /* end of the stream */
    TLS_REFUSED,  /* the peer gave up; its reason is in `alert` */
    TLS_BAD,      /* the peer broke the protocol; send `alert` */
};

struct tls_got {
    enum tls_kind kind;
    size_t taken; /* bytes of the input */
    uint8_t *data;
    size_t size;
    uint8_t alert;
};

/* Checks whether the input has a complete record, or one whose header is refused. */
bool tls_records_whole(const uint8_t *in, size_t size);
/* Reads one record of the input. */
struct tls_got tls_records_read(struct tls_records *r, uint8_t *in, size_t size);

/* The following return the number of bytes written; 0: the library failed, or no more may be
 * written.
 * Writes at most TLS_CONTENT bytes; `out` has room for TLS_UPDATE and TLS_MORE beyond that. */
/* At most TLS_CONTENT; `out` has room for TLS_UPDATE and TLS_MORE beyond that. */
size_t tls_records_data(struct tls_records *r, struct tls_from *from, size_t size, uint8_t *out);
size_t tls_records_update(struct tls_records *r, uint8_t out[TLS_UPDATE]); /* announces new keys */
/* Writes an alert as the last record. */
size_t tls_records_alert(struct tls_records *r, uint8_t alert, uint8_t out[TLS_ALERT]);

/* Call when the connection moves to another thread: removes all state of its keys from this one. */
void tls_records_leave(const struct tls_records *r);
void tls_records_free(struct tls_records *r); /* wipes the keys; NULL is fine */

#endif
