/* SPDX-License-Identifier: MIT */
/* rsa_keys.h - unusual RSA keys: too long, or with a large exponent. Their primes are Mersenne
 * primes, 2^p - 1, which need no search.
 */
#ifndef RSA_KEYS_H
#define RSA_KEYS_H

#include "unit.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

/* 2^p - 1 and 2^q - 1 are primes. NULL: that exponent has no inverse. */
EVP_PKEY *rsa_of(int p, int q, uint64_t exponent);

EVP_PKEY *rsa_with_large_exponent(void);

#endif
