/* SPDX-License-Identifier: MIT */
/* certs.c - warns of server certificates that expire. */
#include "app/watch/impl.h"

#include "base/log.h"
#include "base/must.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DAY = 24 * 3600, ENDING_DAYS = 30 };

/* Days before the expiry at which it logs a warning; 0: it has expired. */
static const int warnings[] = { 0, 1, 7, ENDING_DAYS };

static void judge(struct watch_cert *c, int64_t now)
{
    int64_t end = c->about.not_after, left = end - now;
    int64_t soon = (end - (int64_t)ENDING_DAYS * DAY) * 1000;

    c->days_left = left >= 0 ? left / DAY : -((-left + DAY - 1) / DAY);
    c->since = c->about.loaded_at;
    if (left < 0) {
        c->state = WATCH_ENDED;
        c->since = end * 1000;
    } else if (now < c->about.not_before) {
        c->state = WATCH_EARLY;
    } else if (left < (int64_t)ENDING_DAYS * DAY) {
        c->state = WATCH_ENDING;
        c->since = soon > c->since ? soon : c->since;
    }
}

static struct watch_cert *find(struct watch_cert *v, size_t n, const struct io_tls_about *about)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(v[i].about.file, about->file) == 0 && strcmp(v[i].about.name, about->name) == 0)
            return &v[i];
    }
    return NULL;
}

static void add_service(struct watch_cert *c, unsigned service)
{
    size_t used = strlen(c->services);

    (void)snprintf(c->services + used, sizeof(c->services) - used, "%s%s", used > 0 ? ", " : "",
                   services_name(service));
}

static void add(struct watch_cert *v, size_t *n, const struct io_tls_about *about,
                unsigned service)
{
    struct watch_cert *c = find(v, *n, about);

    if (!c && *n == WATCH_CERTS)
        return;
    if (!c) {
        c = &v[(*n)++];
        c->about = *about;
        judge(c, (int64_t)time(NULL));
    }
    if (!*c->about.error)
        c->about.error = about->error;
    add_service(c, service);
}

struct watch_cert *watch_certs(const struct watch *u, size_t *n)
{
    struct watch_cert *v = must(calloc(WATCH_CERTS, sizeof(*v)));

    *n = 0;
    for (unsigned s = 0; s < SERVICES; s++) {
        struct io_tls_about about;

        for (size_t i = 0; u->tls->v[s] && io_tls_server_about(u->tls->v[s], i, &about); i++)
            add(v, n, &about, s);
    }
    return v;
}

const char *watch_cert_state_name(enum watch_cert_state state)
{
    static const char *const names[] = {
        [WATCH_VALID] = "valid", [WATCH_ENDING] = "ending", [WATCH_ENDED] = "ended",
        [WATCH_EARLY] = "early",
    };

    return names[state];
}

/* ---- the log */

/* Returns the record of that file, or a new one if the certificate was replaced. */
static struct watch_reported *reported_of(struct watch *u, const struct watch_cert *c)
{
    uint32_t file = text_hash(c->about.file);
    size_t i = 0;

    while (i < u->n_told && u->told[i].file != file)
        i++;
    if (i == WATCH_CERTS)
        i = 0; /* the table is full after many reloads: start over */
    if (i == u->n_told)
        u->n_told++;
    if (u->told[i].file != file || u->told[i].not_after != c->about.not_after)
        u->told[i] = (struct watch_reported){ file, c->about.not_after, INT_MAX };
    return &u->told[i];
}

static void tell(const struct watch_cert *c, int64_t left)
{
    const struct io_tls_about *a = &c->about;
    time_t end = (time_t)a->not_after;
    struct tm tm;
    char when[32] = "", how[32] = "in less than a day";

    if (gmtime_r(&end, &tm))
        (void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M UTC", &tm);
    if (left >= 2 * DAY)
        (void)snprintf(how, sizeof(how), "in %lld days", (long long)c->days_left);
    else if (left >= DAY)
        (void)snprintf(how, sizeof(how), "in one day");
    if (left < 0)
        log_warn("certificate %s (%s) of %s expired on %s, clients refuse it: renew it, the "
                 "server reloads the files automatically", a->file, a->names, c->services, when);
    else
        log_warn("certificate %s (%s) of %s expires %s, on %s: renew it, the server reloads "
                 "the files automatically", a->file, a->names, c->services, how, when);
}

static void check(struct watch *u, const struct watch_cert *c)
{
    struct watch_reported *t = reported_of(u, c);
    int64_t left = c->about.not_after - (int64_t)time(NULL);

    for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++) {
        if (left >= (int64_t)warnings[i] * DAY)
            continue;
        if (t->days > warnings[i])
            tell(c, left);
        t->days = warnings[i];
        return;
    }
}

void watch_check_certs(struct watch *u)
{
    size_t n;
    struct watch_cert *v = watch_certs(u, &n);

    for (size_t i = 0; i < n; i++)
        check(u, &v[i]);
    free(v);
}
