/* SPDX-License-Identifier: MIT */
/* services.c - the services over TCP. */
#include "app/services.h"

#include "base/log.h"
#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Services of the same family may share a port. */
static int family_of(const struct conf_served *s)
{
    return 2 * s->speaks + (s->tls != CONF_NOWHERE);
}

static bool is_tcp(const struct conf_served *s)
{
    return !(s->flags & CONF_SERVED_UDP);
}

static const struct conf_served *served(unsigned service, enum protocol_id *id)
{
    const struct conf_served *s = conf_served_next(NULL, id);

    while (service-- > 0)
        s = conf_served_next(s, id);
    return s;
}

const char *services_name(unsigned service)
{
    enum protocol_id id;

    return served(service, &id)->name;
}

const char *services_text(unsigned which, char *text, size_t size)
{
    enum protocol_id id;
    size_t n = 0;

    text[0] = '\0';
    for (; which && n < size; which &= which - 1)
        n += (size_t)snprintf(text + n, size - n, "%s%s", n > 0 ? ", " : "",
                              served((unsigned)__builtin_ctz(which), &id)->text);
    return text;
}

size_t services_wanted(const struct conf *c, struct listeners_want out[SERVICES])
{
    const struct conf_served *s = NULL;
    enum protocol_id id;
    size_t n = 0;

    for (unsigned i = 0; (s = conf_served_next(s, &id)); i++) {
        if (is_tcp(s) && conf_served_is_on(s, c))
            out[n++] = (struct listeners_want){ family_of(s), 1u << i, conf_served_listen(s, c),
                                                s->flags & CONF_SERVED_FIRST };
    }
    return n;
}

bool services_reserve(unsigned which)
{
    enum protocol_id id;
    bool reserve = false;

    for (; which; which &= which - 1)
        reserve |= served((unsigned)__builtin_ctz(which), &id)->flags & CONF_SERVED_RESERVE;
    return reserve;
}

enum protocol_id services_guest(unsigned which, const struct services_tls *t,
                                struct protocol_accepted *guest)
{
    enum protocol_id first = PROTOCOLS;

    for (; which; which &= which - 1) {
        unsigned i = (unsigned)__builtin_ctz(which);
        enum protocol_id id;
        const struct conf_served *s = served(i, &id);

        guest->served[id] |= 1u << (s - conf_protocol(id)->served);
        if (!guest->tls)
            guest->tls = t->v[i];
        if (first == PROTOCOLS || s->speaks != id)
            first = id;
    }
    return first;
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
        .tickets = c->session_tickets, .library_records = !c->own_records,
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
    const struct conf_served *s = NULL;
    enum protocol_id id;

    *out = (struct services_tls){ 0 };
    for (unsigned i = 0; (s = conf_served_next(s, &id)); i++) {
        const struct conf_tls *tls = conf_served_tls(s, c);
        err_t err = tls && conf_served_is_on(s, c) ? load(&out->v[i], tls) : NULL;

        if (err) {
            services_tls_free(out);
            return err_wrap(err, "%s", s->name);
        }
    }
    return NULL;
}

err_t services_tls_check(const struct conf *c)
{
    const struct conf_served *s = NULL;
    enum protocol_id id;

    while ((s = conf_served_next(s, &id))) {
        const struct conf_tls *tls = conf_served_tls(s, c);
        err_t err = tls && conf_served_is_on(s, c) ? io_tls_check_ciphers(tls->ciphers) : NULL;

        if (err)
            return err_wrap(err, "%s", s->name);
    }
    return NULL;
}

void services_tls_free(struct services_tls *t)
{
    for (unsigned i = 0; i < SERVICES; i++)
        t->v[i] = io_tls_server_unref(t->v[i]);
}

struct services_tls services_tls_share(const struct services_tls *t)
{
    struct services_tls out = { 0 };

    for (unsigned i = 0; i < SERVICES; i++)
        out.v[i] = t->v[i] ? io_tls_server_ref(t->v[i]) : NULL;
    return out;
}

void services_tls_refresh(struct services_tls *t)
{
    for (unsigned i = 0; i < SERVICES; i++) {
        struct io_tls_server *one = t->v[i] ? io_tls_server_ref(t->v[i]) : NULL;
        bool changed = false;
        char text[300];
        err_t err = one ? io_tls_server_refresh(one, &changed) : NULL;

        if (err && !co_stop_asked())
            log_warn("%s: the certificate in use stays: %s", services_name(i),
                     err_text(err, text, sizeof(text)));
        else if (changed)
            log_trace("%s: the certificate changed, new connections get it", services_name(i));
        err_free(&err);
        (void)io_tls_server_unref(one);
    }
}
