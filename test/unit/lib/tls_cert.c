/* SPDX-License-Identifier: MIT */
/* tls_cert.c - a self-signed certificate, for one name and 127.0.0.1. */
#include "tls_cert.h"

void cert_write(const char *path, const char *name, EVP_PKEY *key)
{
    X509 *cert = X509_new();
    X509_NAME *subject = X509_get_subject_name(cert);
    X509_EXTENSION *ext;
    char text[128], file[200];
    FILE *f;

    assert_non_null(key);
    (void)X509_set_version(cert, 2);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(cert), rand());
    (void)X509_gmtime_adj(X509_getm_notBefore(cert), -1000);
    (void)X509_gmtime_adj(X509_getm_notAfter(cert), 100000);
    (void)X509_set_pubkey(cert, key);
    (void)X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1,
                                     -1, 0);
    (void)X509_set_issuer_name(cert, subject);
    (void)snprintf(text, sizeof(text), "DNS:%s,IP:127.0.0.1", name);
    ext = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, text);
    assert_non_null(ext);
    (void)X509_add_ext(cert, ext, -1);
    X509_EXTENSION_free(ext);
    assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
    (void)snprintf(file, sizeof(file), "%s.crt", path);
    f = fopen(file, "wb");
    assert_int_equal(PEM_write_X509(f, cert), 1);
    (void)fclose(f);
    (void)snprintf(file, sizeof(file), "%s.key", path);
    f = fopen(file, "wb");
    assert_int_equal(PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL), 1);
    (void)fclose(f);
    X509_free(cert);
    EVP_PKEY_free(key);
}

void cert_make(const char *path, const char *name, bool rsa)
{
    cert_write(path, name, rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256"));
}
