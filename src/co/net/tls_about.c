/* SPDX-License-Identifier: MIT */
/* tls_about.c - what a certificate says of itself. */
#include "co/net/tls_core.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t seconds_of(const ASN1_TIME *t)
{
    struct tm tm;

    return ASN1_TIME_to_tm(t, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

/* Control characters would end a line of the log; BMPString and the like are no text for us. */
static void clean(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    }
}

static void put_name(const X509_NAME *name, char *out, size_t size)
{
    BIO *b = BIO_new(BIO_s_mem());
    int n = 0;

    if (b && X509_NAME_print_ex(b, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) >= 0)
        n = BIO_read(b, out, (int)size - 1);
    out[n > 0 ? n : 0] = '\0';
    BIO_free(b);
    clean(out);
}

static void add(char *out, size_t size, const char *name, size_t n)
{
    size_t used = strlen(out);

    if (n == 0 || used + n + 2 > size)
        return;
    (void)snprintf(out + used, size - used, "%s%.*s", used > 0 ? " " : "", (int)n, name);
}

static void add_address(char *out, size_t size, const ASN1_OCTET_STRING *ip)
{
    char text[INET6_ADDRSTRLEN];
    int n = ASN1_STRING_length(ip), family = n == 4 ? AF_INET : AF_INET6;

    if ((n == 4 || n == 16) &&
        inet_ntop(family, ASN1_STRING_get0_data(ip), text, sizeof(text)))
        add(out, size, text, strlen(text));
}

/* RFC 6125: the common name counts where there are no others. */
static void put_names(const X509 *x, char *out, size_t size)
{
    GENERAL_NAMES *all = X509_get_ext_d2i(x, NID_subject_alt_name, NULL, NULL);
    char common[160];

    for (int i = 0; i < sk_GENERAL_NAME_num(all); i++) {
        const GENERAL_NAME *one = sk_GENERAL_NAME_value(all, i);

        if (one->type == GEN_DNS)
            add(out, size, (const char *)ASN1_STRING_get0_data(one->d.dNSName),
                (size_t)ASN1_STRING_length(one->d.dNSName));
        else if (one->type == GEN_IPADD)
            add_address(out, size, one->d.iPAddress);
    }
    GENERAL_NAMES_free(all);
    if (!*out && X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, common,
                                           sizeof(common)) > 0)
        add(out, size, common, strlen(common));
    clean(out);
}

void tls_about(const X509 *x, struct io_tls_about *out)
{
    ERR_clear_error();
    put_name(X509_get_subject_name(x), out->subject, sizeof(out->subject));
    put_name(X509_get_issuer_name(x), out->issuer, sizeof(out->issuer));
    put_names(x, out->names, sizeof(out->names));
    out->not_before = seconds_of(X509_get0_notBefore(x));
    out->not_after = seconds_of(X509_get0_notAfter(x));
    ERR_clear_error();
}
