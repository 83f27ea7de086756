/* SPDX-License-Identifier: MIT */
/* crypt.h - key exchange and encryption of payloads: "Key Material", "Encryption", RFC 3394, RFC
 * 8018.
 *
 * The key encrypting key derives from the passphrase in 2048 rounds, which takes 0.6 to 1.2 ms, so
 * it is done on a worker thread. The functions marked "slow" touch only their arguments and may run
 * on any thread.
 */
#ifndef PROTO_SRT_CRYPT_H
#define PROTO_SRT_CRYPT_H

#include "proto/srt/packet.h"

enum {
    SRT_SALT = 16, SRT_KEY_MAX = 32, SRT_KM_MAX = 32 + 2 * SRT_KEY_MAX + 8,
    SRT_PASSPHRASE_MIN = 10, SRT_PASSPHRASE_MAX = 79,
    SRT_KM_NO_SECRET = 3, SRT_KM_BAD_SECRET = 4, /* responses that consist of one word */
};

/* A key message. */
struct srt_km {
    uint8_t which;             /* 1 even, 2 odd, 3 both */
    uint8_t key_size;          /* 16, 24, 32 */
    uint8_t salt[SRT_SALT];
    uint8_t wrapped[2 * SRT_KEY_MAX + 8];
    size_t wrapped_size;       /* key_size or twice that, plus 8 */
};
/* false if it is malformed */
bool srt_km_read(struct srt_km *km, const uint8_t *data, size_t size);
size_t srt_km_write(const struct srt_km *km, uint8_t out[SRT_KM_MAX]);

/* Keys in plain text. Wipe it (OPENSSL_cleanse) after use. */
struct srt_secret {
    uint8_t which, key_size;
    uint8_t salt[SRT_SALT];
    uint8_t kek[SRT_KEY_MAX];  /* key encrypting key: new keys with this salt need no rounds */
    uint8_t key[2][SRT_KEY_MAX]; /* even, odd */
};
/* Unwraps the keys. Any thread; slow. Returns false for a wrong passphrase. */
bool srt_km_unwrap(struct srt_secret *out, const struct srt_km *km, const char *passphrase);
/* Same, with the key encrypting key already in `inout`, if the salt is the same. Fast. */
bool srt_km_unwrap_known(struct srt_secret *inout, const struct srt_km *km);
/* Creates a new secret with an even key, as callers do. Any thread; slow. */
bool srt_secret_new(struct srt_secret *out, unsigned key_size, const char *passphrase);
bool srt_secret_wrap(const struct srt_secret *s, struct srt_km *out); /* fast */
/* Replaces the key `which` (SRT_EVEN or SRT_ODD) with a random one. */
bool srt_secret_renew(struct srt_secret *s, enum srt_key which);

/* Cipher for the packets of one connection, both directions. srt_cipher_new() returns NULL if
 * memory allocation fails. */
struct srt_cipher;
struct srt_cipher *srt_cipher_new(const struct srt_secret *s);
/* sets all keys of the secret */
bool srt_cipher_set(struct srt_cipher *c, const struct srt_secret *s);
void srt_cipher_free(struct srt_cipher *c); /* NULL is allowed */
bool srt_cipher_has(const struct srt_cipher *c, enum srt_key key);
/* Encrypts or decrypts, which is the same operation. `out` may be `in`. */
void srt_cipher_run(struct srt_cipher *c, enum srt_key key, uint32_t seq, const uint8_t *in,
                    uint8_t *out, size_t size);

#endif
