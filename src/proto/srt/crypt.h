/* SPDX-License-Identifier: MIT */
/* crypt.h - keys and encryption of payloads: "Key Material", "Encryption", RFC 3394, RFC 8018.
 *
 * A key of keys is made of the passphrase by 2048 rounds, 0.6 to 1.2 ms: on a helper thread. So
 * what does that touches nothing but its arguments; it may run on any thread.
 */
#ifndef PROTO_SRT_CRYPT_H
#define PROTO_SRT_CRYPT_H

#include "proto/srt/packet.h"

enum {
    SRT_SALT = 16, SRT_KEY_MAX = 32, SRT_KM_MAX = 32 + 2 * SRT_KEY_MAX + 8,
    SRT_PASSPHRASE_MIN = 10, SRT_PASSPHRASE_MAX = 79,
    SRT_KM_NO_SECRET = 3, SRT_KM_BAD_SECRET = 4, /* an answer of one word */
};

/* A key message. */
struct srt_km {
    uint8_t which;             /* 1 even, 2 odd, 3 both */
    uint8_t key_size;          /* 16, 24, 32 */
    uint8_t salt[SRT_SALT];
    uint8_t wrapped[2 * SRT_KEY_MAX + 8];
    size_t wrapped_size;       /* key_size, or twice that, + 8 */
};
bool srt_km_read(struct srt_km *km, const uint8_t *data, size_t size); /* false: malformed */
size_t srt_km_write(const struct srt_km *km, uint8_t out[SRT_KM_MAX]);

/* Keys in the clear. Wipe it (OPENSSL_cleanse) when it is done with. */
struct srt_secret {
    uint8_t which, key_size;
    uint8_t salt[SRT_SALT];
    uint8_t kek[SRT_KEY_MAX];  /* the key of keys: new keys of that salt need no rounds */
    uint8_t key[2][SRT_KEY_MAX]; /* even, odd */
};
/* Any thread; slow. False: the passphrase is another one. */
bool srt_km_unwrap(struct srt_secret *out, const struct srt_km *km, const char *passphrase);
/* The same with the key of keys of `known`, if the salt is the same: fast. */
bool srt_km_unwrap_known(struct srt_secret *inout, const struct srt_km *km);
/* A new secret, as callers make it: an even key. Any thread; slow. */
bool srt_secret_new(struct srt_secret *out, unsigned key_size, const char *passphrase);
bool srt_secret_wrap(const struct srt_secret *s, struct srt_km *out); /* fast */
/* Another key of that kind (SRT_EVEN or SRT_ODD), at random. */
bool srt_secret_renew(struct srt_secret *s, enum srt_key which);

/* A cipher for the packets of one connection, both ways; NULL: there is no memory. */
struct srt_cipher;
struct srt_cipher *srt_cipher_new(const struct srt_secret *s);
bool srt_cipher_set(struct srt_cipher *c, const struct srt_secret *s); /* keys that are new in it */
void srt_cipher_free(struct srt_cipher *c); /* NULL is fine */
bool srt_cipher_has(const struct srt_cipher *c, enum srt_key key);
/* Both ways are the same. `out` may be `in`. */
void srt_cipher_run(struct srt_cipher *c, enum srt_key key, uint32_t seq, const uint8_t *in,
                    uint8_t *out, size_t size);

#endif
