/* SPDX-License-Identifier: MIT */
/* watch.c - pulls, recordings, certificates and disks in the API.
 *
 * All rows begin with the same fields: id, what, state, since, state_ms, error.
 */
#include "app/api/kept.h"
#include "app/watch/watch.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE CO_SECONDS(2) /* for each worker */

/* `since` is in ms since 1970. */
static void put_head(struct jput *j, const char *id, const char *what, const char *state,
                     int64_t since, const char *error)
{
    jput_text(j, "id", id);
    jput_text(j, "what", what);
    jput_text(j, "state", state);
    jput_int(j, "since", since);
    jput_int(j, "state_ms", co_wall_ms() - since);
    jput_text(j, "error", error);
}

static int64_t ago_ms(co_usec t)
{
    return us_to_ms(co_clock() - t);
}

/* ---- pulls, recordings */

static void put_kept(struct jput *j, const struct kept_row *r)
{
    const struct condition *c = &r->condition;

    put_head(j, r->id, r->what, condition_name(c->state), co_wall_ms() - ago_ms(c->since),
             c->error);
    jput_uint(j, "failures", c->failures);
    if (c->failed_at)
        jput_int(j, "failed_ms", ago_ms(c->failed_at));
    jput_text(j, "vhost", r->vhost);
    jput_text(j, "app", r->app);
    jput_text(j, "stream", r->stream);
    jput_uint(j, "bytes", r->bytes);
}

static void put_pull(struct jput *j, const struct kept_row *r)
{
    jput_open(j, NULL, '{');
    put_kept(j, r);
    jput_text(j, "name", r->name);
    jput_text(j, "url", r->place);
    jput_bool(j, "on_demand", r->on_demand);
    if (r->again_at)
        jput_int(j, "next_ms", ago_ms(r->again_at) < 0 ? -ago_ms(r->again_at) : 0);
    jput_close(j, '}');
}

static void put_recording(struct jput *j, const struct kept_row *r)
{
    jput_open(j, NULL, '{');
    put_kept(j, r);
    jput_text(j, "file", r->place);
    if (r->began_at)
        jput_int(j, "file_ms", ago_ms(r->began_at));
    jput_close(j, '}');
}

static err_t put_all_kept(struct api_call *c, const char *key, enum kept_kind kind,
                          void (*put)(struct jput *j, const struct kept_row *r))
{
    const struct kept_row *row = NULL;
    struct kept k;
    err_t err = NULL;

    kept_collect(&k, c->of, kind, PATIENCE);
    jput_open(&c->j, key, '[');
    while (!err && (row = kept_next(&k, row))) {
        put(&c->j, row);
        err = api_yield_if_due(c);
    }
    jput_close(&c->j, ']');
    kept_free(&k);
    return err;
}

static err_t pulls(struct api_call *c)
{
    return put_all_kept(c, "pulls", KEPT_PULLS, put_pull);
}

static err_t recordings(struct api_call *c)
{
    return put_all_kept(c, "recordings", KEPT_RECORDINGS, put_recording);
}

/* ---- certificates */

/* Writes "a b" as a list of two strings. */
static void put_words(struct jput *j, const char *key, const char *text)
{
    jput_open(j, key, '[');
    while (*text) {
        size_t n = strcspn(text, " ");

        jput_bytes(j, NULL, text, n);
        text += n + (text[n] == ' ');
    }
    jput_close(j, ']');
}

static void put_certificate(struct jput *j, const struct watch_cert *v)
{
    const struct io_tls_about *a = &v->about;
    char id[20];

    (void)snprintf(id, sizeof(id), "%08x%08x", text_hash(a->file), text_hash(a->name));
    jput_open(j, NULL, '{');
    put_head(j, id, v->services, watch_cert_state_name(v->state), v->since, a->error);
    jput_text(j, "file", a->file);
    jput_text(j, "host", a->name);
    jput_text(j, "subject", a->subject);
    jput_text(j, "issuer", a->issuer);
    put_words(j, "names", a->names);
    jput_bool(j, "self_signed", strcmp(a->subject, a->issuer) == 0);
    jput_int(j, "not_before", a->not_before);
    jput_int(j, "not_after", a->not_after);
    jput_int(j, "days_left", v->days_left);
    jput_int(j, "loaded", a->loaded_at);
    jput_close(j, '}');
}

static err_t certificates(struct api_call *c)
{
    size_t n = 0;
    struct watch_cert *v = c->of->watch ? watch_certs(c->of->watch, &n) : NULL;

    jput_open(&c->j, "certificates", '[');
    for (size_t i = 0; i < n; i++)
        put_certificate(&c->j, &v[i]);
    jput_close(&c->j, ']');
    free(v);
    return NULL;
}

/* ---- disks */

static void put_disk(struct jput *j, const struct watch_disk *d)
{
    jput_open(j, NULL, '{');
    put_head(j, d->id, d->uses, watch_disk_state_name(d->state), d->since, d->error);
    jput_text(j, "path", d->path);
    jput_int(j, "size_bytes", d->size);
    jput_int(j, "free_bytes", d->free);
    if (d->size > 0)
        jput_real(j, "used_percent", 100.0 * (double)(d->size - d->free) / (double)d->size, 1);
    jput_close(j, '}');
}

static err_t disks(struct api_call *c)
{
    const struct watch_disk *v = NULL;
    size_t n = c->of->watch ? watch_disks(c->of->watch, &v) : 0;

    jput_open(&c->j, "disks", '[');
    for (size_t i = 0; i < n; i++)
        put_disk(&c->j, &v[i]);
    jput_close(&c->j, ']');
    return NULL;
}

const struct api_row api_rows_upkeep[] = {
    { "pulls", "streams that the server pulls or ingests, and errors", API_READ, pulls, NULL },
    { "recordings", "recordings, and errors", API_READ, recordings, NULL },
    { "certificates", "server certificates and their expiry", API_READ,
      certificates, NULL },
    { "disks", "disks that the server writes to, and their free space", API_READ, disks,
      NULL },
    { .path = NULL },
};
