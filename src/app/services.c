/* SPDX-License-Identifier: MIT */
/* services.c - what the server serves over TCP. */
#include "app/services.h"

#include "base/log.h"
#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILY_RTMP, FAMILY_RTMPS, FAMILY_HTTP, FAMILY_HTTPS, FAMILY_RTSP, FAMILY_RTSPS };

/* Where in a struct conf: NOWHERE is not there. */
#define NOWHERE SIZE_MAX

static const struct {
    const char *name;
    int family;
    size_t enabled;  /* bool; NOWHERE: always */
    size_t also;     /* bool that must be true, too */
    size_t listen;   /* struct conf_endpoints */
    size_t tls;      /* struct conf_tls; NOWHERE: plain */
    bool alone;      /* the first worker's */
} services[SERVICES] = {
    [SERVICE_RTMP] = { "rtmp", FAMILY_RTMP, NOWHERE, NOWHERE, offsetof(struct conf, rtmp.listen),
                       NOWHERE },
    [SERVICE_RTMPS] = { "rtmps", FAMILY_RTMPS, offsetof(struct conf, rtmps.enabled), NOWHERE,
                        offsetof(struct conf, rtmps.listen), offsetof(struct conf, rtmps) },
    [SERVICE_HTTP] = { "http", FAMILY_HTTP, offsetof(struct conf, http_server.enabled), NOWHERE,
                       offsetof(struct conf, http_server.listen), NOWHERE },
    [SERVICE_HTTPS] = { "https", FAMILY_HTTPS, offsetof(struct conf, http_server.https.enabled),
                        offsetof(struct conf, http_server.enabled),
                        offsetof(struct conf, http_server.https.listen),
                        offsetof(struct conf, http_server.https) },
    [SERVICE_API] = { "api", FAMILY_HTTP, offsetof(struct conf, http_api.enabled), NOWHERE,
                      offsetof(struct conf, http_api.listen), NOWHERE, true },
    [SERVICE_APIS] = { "https api", FAMILY_HTTPS, offsetof(struct conf, http_api.https.enabled),
                       offsetof(struct conf, http_api.enabled),
                       offsetof(struct conf, http_api.https.listen),
                       offsetof(struct conf, http_api.https), true },
    [SERVICE_EXPORTER] = { "exporter", FAMILY_HTTP, offsetof(struct conf, exporter.enabled),
                           NOWHERE, offsetof(struct conf, exporter.listen), NOWHERE, true },
    [SERVICE_RTSP] = { "rtsp", FAMILY_RTSP, offsetof(struct conf, rtsp_server.enabled), NOWHERE,
                       offsetof(struct conf, rtsp_server.listen), NOWHERE },
    [SERVICE_RTSPS] = { "rtsps", FAMILY_RTSPS, offsetof(struct conf, rtsp_server.https.enabled),
                        offsetof(struct conf, rtsp_server.enabled),
                        offsetof(struct conf, rtsp_server.https.listen),
                        offsetof(struct conf, rtsp_server.https) },
    /* of the family of HTTP: where they share a port the first byte says which it is */
    [SERVICE_RTC] = { "rtc", FAMILY_HTTP, offsetof(struct conf, rtc_server.tcp.enabled),
                      offsetof(struct conf, rtc_server.enabled),
                      offsetof(struct conf, rtc_server.tcp.listen), NOWHERE },
};

static const void *at(const struct conf *c, size_t offset)
{
    return (const char *)c + offset;
}

static bool is_on(const struct conf *c, size_t offset)
{
    return offset == NOWHERE || *(const bool *)at(c, offset);
}

static bool is_wanted(const struct conf *c, int i)
{
    return is_on(c, services[i].enabled) && is_on(c, services[i].also);
}

const char *services_name(enum service service)
{
    return services[service].name;
}

const char *services_text(unsigned which, char *text, size_t size)
{
    static const char *const names[SERVICES] = {
        [SERVICE_RTMP] = "RTMP", [SERVICE_RTMPS] = "RTMPS", [SERVICE_HTTP] = "HTTP",
        [SERVICE_HTTPS] = "HTTPS", [SERVICE_API] = "HTTP API", [SERVICE_APIS] = "HTTPS API",
        [SERVICE_EXPORTER] = "metrics", [SERVICE_RTSP] = "RTSP", [SERVICE_RTSPS] = "RTSPS",
        [SERVICE_RTC] = "WebRTC over TCP",
    };
    size_t n = 0;

    text[0] = '\0';
    for (int i = 0; i < SERVICES && n < size; i++) {
        if (which & 1u << i)
            n += (size_t)snprintf(text + n, size - n, "%s%s", n > 0 ? ", " : "", names[i]);
    }
    return text;
}

const struct conf_tls *services_tls_of(const struct conf *c, enum service service)
{
    return services[service].tls == NOWHERE ? NULL : at(c, services[service].tls);
}

size_t services_wanted(const struct conf *c, struct listeners_want out[SERVICES])
{
    size_t n = 0;

    for (int i = 0; i < SERVICES; i++) {
        if (is_wanted(c, i))
            out[n++] = (struct listeners_want){ services[i].family, 1u << i,
                                                at(c, services[i].listen), services[i].alone };
    }
    return n;
}

static bool speaks(const struct conf_tls *c, const char *version)
{
    for (size_t i = 0; i < c->protocols.n; i++) {
        if (strcmp(c->protocols.v[i], version) == 0)
            return true;
    }
    return false;
}

static err_t load(struct io_tls_server **out, const struct conf_tls *c)
{
    size_t n = c->certificate.n + 1;
    struct io_tls_cert *certs = must(calloc(n, sizeof(*certs)));
    const struct io_tls_rules rules = {
        .v12 = speaks(c, "TLSv1.2"), .v13 = speaks(c, "TLSv1.3"), .ciphers = c->ciphers,
        .tickets = c->session_tickets,
    };
    err_t err;

    certs[0] = (struct io_tls_cert){ "", c->cert, c->key };
    for (size_t i = 1; i < n; i++) {
        const struct conf_certificate *one = &c->certificate.v[i - 1];

        certs[i] = (struct io_tls_cert){ one->name, one->cert, one->key };
    }
    err = io_tls_server_new(out, certs, n, &rules);
    free(certs);
    return err;
}

err_t services_tls_load(struct services_tls *out, const struct conf *c)
{
    *out = (struct services_tls){ 0 };
    for (int i = 0; i < SERVICES; i++) {
        err_t err;

        if (services[i].tls == NOWHERE || !is_wanted(c, i))
            continue;
        err = load(&out->v[i], at(c, services[i].tls));
        if (err) {
            services_tls_free(out);
            return err_wrap(err, "%s", services[i].name);
        }
    }
    return NULL;
}

err_t services_tls_check(const struct conf *c)
{
    for (int i = 0; i < SERVICES; i++) {
        const struct conf_tls *tls = services_tls_of(c, (enum service)i);
        err_t err = tls && is_wanted(c, i) ? io_tls_check_ciphers(tls->ciphers) : NULL;

        if (err)
            return err_wrap(err, "%s", services[i].name);
    }
    return NULL;
}

void services_tls_free(struct services_tls *t)
{
    for (int i = 0; i < SERVICES; i++)
        t->v[i] = io_tls_server_unref(t->v[i]);
}

struct services_tls services_tls_share(const struct services_tls *t)
{
    struct services_tls out = { 0 };

    for (int i = 0; i < SERVICES; i++)
        out.v[i] = t->v[i] ? io_tls_server_ref(t->v[i]) : NULL;
    return out;
}

void services_tls_refresh(struct services_tls *t)
{
    for (int i = 0; i < SERVICES; i++) {
        struct io_tls_server *one = t->v[i] ? io_tls_server_ref(t->v[i]) : NULL;
        bool changed = false;
        char text[300];
        err_t err = one ? io_tls_server_refresh(one, &changed) : NULL;

        if (err && !co_stop_asked())
            log_warn("%s: the certificate in use stays: %s", services[i].name,
                     err_text(err, text, sizeof(text)));
        else if (changed)
            log_trace("%s: the certificate changed, new connections get it", services[i].name);
        err_free(&err);
        (void)io_tls_server_unref(one);
    }
}
