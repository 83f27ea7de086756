/* SPDX-License-Identifier: MIT */
/* tls_cert.h - a self-signed certificate, for one name and 127.0.0.1. */
#ifndef TLS_CERT_H
#define TLS_CERT_H

#include "unit.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* path.crt and path.key; takes over the key. */
void cert_write(const char *path, const char *name, EVP_PKEY *key);

void cert_make(const char *path, const char *name, bool rsa);

#endif
