/* SPDX-License-Identifier: MIT */
/* certs.c - checks certificates: they exist, match their key, and are valid for some time. */
#include "app/doctor/plan.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>
#include <sys/stat.h>

enum { SOON_DAYS = 21 };

static void cannot_open(struct doctor_plan *p, const struct doctor_tls *t, const char *path)
{
    ADD(p, DOCTOR_FAIL, "certificate", t->where, "%s: %s", path, strerror(errno));
    if (errno == EACCES)
        ADVISE(p, "give the server's user read permission: chmod 640, chgrp");
    else
        ADVISE(p, "for a test: openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:"
                      "P-256 -nodes -days 365 -subj /CN=localhost -keyout %s -out %s", t->key,
                      t->cert);
}

static X509 *read_cert(struct doctor_plan *p, const struct doctor_tls *t)
{
    FILE *f = fopen(t->cert, "re");
    X509 *x = NULL;

    if (!f) {
        cannot_open(p, t, t->cert);
        return NULL;
    }
    x = PEM_read_X509(f, NULL, NULL, NULL);
    (void)fclose(f);
    if (!x) {
        ADD(p, DOCTOR_FAIL, "certificate", t->where, "%s contains no certificate",
                   t->cert);
        ADVISE(p, "use a PEM file: -----BEGIN CERTIFICATE-----");
    }
    return x;
}

/* Refuses keys with a passphrase, since a server cannot ask for it. */
static int no_passphrase(char *buf, int size, int writing, void *arg)
{
    (void)buf;
    (void)size;
    (void)writing;
    (void)arg;
    return -1;
}

static bool key_fits(struct doctor_plan *p, const struct doctor_tls *t, X509 *x)
{
    FILE *f = fopen(t->key, "re");
    EVP_PKEY *key;
    bool fits;

    if (!f) {
        cannot_open(p, t, t->key);
        return false;
    }
    key = PEM_read_PrivateKey(f, NULL, no_passphrase, NULL);
    (void)fclose(f);
    fits = key && X509_check_private_key(x, key) == 1;
    if (!key) {
        ADD(p, DOCTOR_FAIL, "certificate", t->where, "%s contains no key, or its key "
                   "has a passphrase", t->key);
        ADVISE(p, "openssl pkey -in %s -out plain.key", t->key);
    } else if (!fits) {
        ADD(p, DOCTOR_FAIL, "certificate", t->where, "%s is not the key of "
                   "certificate %s", t->key, t->cert);
        ADVISE(p, "configure a key and a cert that belong together");
    }
    EVP_PKEY_free(key);
    return fits;
}

static void name_of(X509 *x, char *buf, size_t size)
{
    if (X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, buf, (int)size) < 0)
        (void)snprintf(buf, size, "no name");
    for (char *c = buf; *c; c++) { /* for the terminal */
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    }
}

/* Days from now; negative in the past. */
static int days_to(const ASN1_TIME *t, int *seconds)
{
    int days = 0;

    *seconds = 0;
    (void)ASN1_TIME_diff(&days, seconds, NULL, t);
    return days;
}

static void dates(struct doctor_plan *p, const struct doctor_tls *t, X509 *x)
{
    int left_s, since_s, left = days_to(X509_get0_notAfter(x), &left_s);
    int since = days_to(X509_get0_notBefore(x), &since_s);
    bool own = X509_NAME_cmp(X509_get_subject_name(x), X509_get_issuer_name(x)) == 0;
    const char *advice = "renew it; the server reloads the files automatically";
    char name[80];

    name_of(x, name, sizeof(name));
    if (since > 0 || since_s > 0) {
        ADD(p, DOCTOR_FAIL, "certificate", t->where, "%s (%s) becomes valid in %d days", t->cert,
            name, since);
        advice = "check the clock: date -u";
    } else if (left < 0 || left_s < 0) {
        ADD(p, DOCTOR_FAIL, "certificate", t->where, "%s (%s) expired %d days ago", t->cert, name,
            -left);
    } else if (left < SOON_DAYS) {
        ADD(p, DOCTOR_WARN, "certificate", t->where, "%s (%s) expires in %d days", t->cert, name,
            left);
    } else {
        ADD(p, own ? DOCTOR_WARN : DOCTOR_OK, "certificate", t->where,
            "%s (%s) expires in %d days%s", t->cert, name, left,
            own ? ", self-signed: browsers refuse it" : "");
        advice = "for public use get one from an authority: certbot certonly";
    }
    ADVISE(p, "%s", advice);
}

static void key_mode(struct doctor_plan *p, const struct doctor_tls *t)
{
    struct stat st;

    if (stat(t->key, &st) < 0 || !(st.st_mode & S_IROTH))
        return;
    ADD(p, DOCTOR_WARN, "certificate", t->where, "the key %s is readable by all users",
               t->key);
    ADVISE(p, "chmod 640 %s", t->key);
}

void doctor_check_certs(struct doctor_plan *p)
{
    for (size_t i = 0; i < p->tls_n; i++) {
        X509 *x = read_cert(p, &p->tls[i]);

        if (x && key_fits(p, &p->tls[i], x)) {
            dates(p, &p->tls[i], x);
            key_mode(p, &p->tls[i]);
        }
        X509_free(x);
        ERR_clear_error();
    }
}
