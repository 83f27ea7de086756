/* SPDX-License-Identifier: MIT */
/* hooks_call.c - one callback to one URL. */
#include "session/hooks_impl.h"

#include "base/log.h"
#include "base/log_clean.h"
#include "base/text.h"

#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 300 }; /* characters of a response in the log */

/* Writes "sha256=" and the HMAC-SHA256 of the body in hex. RFC 2104. */
static void sign(const char *secret, const void *body, size_t size, char out[80])
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    size_t at = 7;

    (void)HMAC(EVP_sha256(), secret, (int)strlen(secret), body, size, mac, &n);
    memcpy(out, "sha256=", 8);
    for (unsigned i = 0; i < n && at + 2 < 80; i++, at += 2)
        (void)snprintf(out + at, 3, "%02x", mac[i]);
}

static err_t exchange(struct hooks *h, const struct hooks_call *c, struct http_reply *reply)
{
    char id[64], attempt[16], signature[80] = "";
    struct http_field fields[] = {
        { (char *)(uintptr_t)"X-Hook-Id", id },
        { (char *)(uintptr_t)"X-Hook-Attempt", attempt },
        { (char *)(uintptr_t)"X-Hook-Signature", signature },
    };
    const char *secret = c->set ? c->set->secret : "";
    struct http_call call = {
        .body = c->body, .size = c->size, .fields = fields, .n_fields = *secret ? 3 : 2,
        .agent = h->env->signature, .timeout = c->timeout, .max_reply = c->max_reply,
        .cut = c->action == HOOKS_HLS_NOTIFY,
        .trust = { .any = !c->set || !c->set->tls_verify, .ca = c->set ? c->set->tls_ca : NULL },
    };

    /* the number lets a backend detect repeated events and order the events of one run */
    (void)snprintf(id, sizeof(id), "%s-%llu", h->env->service_id, (unsigned long long)c->number);
    (void)snprintf(attempt, sizeof(attempt), "%u", c->attempt);
    if (*secret)
        sign(secret, text_or_empty(c->body), c->size, signature);
    return http_client_call(reply, c->url, &call);
}

/* Formats a response on one line. */
static const char *shown(const struct http_reply *r, char buf[SHOWN + 1])
{
    size_t n = 0;

    for (; n < r->size && n < SHOWN; n++)
        buf[n] = (unsigned char)r->body[n] < ' ' ? ' ' : r->body[n];
    buf[n] = '\0';
    return buf;
}

static void log_answer(const struct hooks_call *call, const char *how,
                       const struct http_reply *reply, co_usec took)
{
    char text[SHOWN + 1], *answer = log_hide_keys(shown(reply, text), true);

    log_trace("http: %s %s, url=%s, status=%d, response=%s, cost=%lldms",
              hooks_name(call->action), how, call->url, reply->status, answer, us_to_ms(took));
    free(answer);
}

err_t hooks_call(struct hooks *h, const struct hooks_call *call, struct http_reply *reply)
{
    struct hooks_stat *stat = &h->stat[call->action];
    struct http_reply own;
    co_usec began = co_clock(), took;
    err_t err;

    reply = reply ? reply : &own;
    err = exchange(h, call, reply);
    took = co_clock() - began;
    if (err) {
        stat->failed += !co_stop_asked();
        return err_wrap(err, "%s to %.200s", hooks_name(call->action), call->url);
    }
    stat->micros += (uint64_t)took;
    if (call->action != HOOKS_HLS_NOTIFY) /* its response does not matter */
        err = hooks_verdict(reply->status, reply->body, reply->size);
    if (err)
        stat->denied++;
    else
        stat->ok++;
    log_answer(call, err ? "refused" : "ok", reply, took);
    if (err || reply == &own)
        http_reply_free(reply);
    return err ? err_wrap(err, "%s to %.200s", hooks_name(call->action), call->url) : NULL;
}
