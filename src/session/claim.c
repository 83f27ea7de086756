/* SPDX-License-Identifier: MIT */
/* claim.c - whose place a new publisher may take, and how long it waits for it. */
#include "session/claim.h"

#include "session/tokens.h"

#include <openssl/evp.h>
#include <string.h>

enum { PATIENCE = 4 }; /* times the silence that is asked for: what is on its way may still come */
/* Who waits looks so often whether the old one has gone. */
#define LOOK CO_MS(100)

void session_claim_rule(const struct conf_publish *set, struct live_takeover *out)
{
    static const enum live_takeover_mode modes[] = {
        [CONF_TAKEOVER_OFF] = LIVE_TAKEOVER_OFF,
        [CONF_TAKEOVER_STALE] = LIVE_TAKEOVER_STALE,
        [CONF_TAKEOVER_ON] = LIVE_TAKEOVER_ON,
    };
    co_usec near = set->takeover_silence_near, far = set->takeover_silence;
    co_usec deaf = set->mr ? set->mr_latency : 0; /* we do not listen for so long */

    *out = (struct live_takeover){ .mode = modes[set->takeover], .silence = far + deaf,
                                   .silence_near = (near < far ? near : far) + deaf };
}

/* The name of a vhost is no secret. */
static bool is_public(const char *key, size_t size)
{
    return (size == 5 && memcmp(key, "vhost", size) == 0) ||
           (size == 6 && memcmp(key, "domain", size) == 0);
}

/* Does a query say anything that could be one? */
static bool has_secret(const char *param)
{
    for (const char *p = param + strspn(param, "?&"); *p; p += strspn(p, "?&")) {
        size_t size = strcspn(p, "?&");

        if (!is_public(p, strcspn(p, "=?&")))
            return true;
        p += size;
    }
    return false;
}

/* Parameters prove something only where somebody looks at them, before anybody is replaced: we, for
 * a token or a key, or a backend. */
static bool is_asked(const struct session *s)
{
    const struct conf_http_hooks *hooks = &s->vhost->http_hooks;

    return (hooks->enabled && hooks->on_publish.n > 0) ||
           tokens_prove(s->env, s->vhost, CONF_PUBLISH, &s->names);
}

void session_claim_proof(const struct session *s, struct live_publisher *p)
{
    const char *const said[] = { s->names.tc_url, s->names.param };
    EVP_MD_CTX *md;
    unsigned size = 0;
    int ok = 1;

    p->has_proof = false;
    if (!has_secret(s->names.param) || !is_asked(s) || !(md = EVP_MD_CTX_new()))
        return;
    ok &= EVP_DigestInit_ex(md, EVP_sha256(), NULL);
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        ok &= EVP_DigestUpdate(md, said[i], strlen(said[i]) + 1);
    ok &= EVP_DigestFinal_ex(md, p->proof, &size);
    p->has_proof = ok && size == LIVE_PROOF;
    EVP_MD_CTX_free(md);
}

err_t session_claim_wait(const struct live_source *src, const struct live_publisher *p,
                         const struct live_takeover *rule)
{
    co_usec until = co_now() + PATIENCE * rule->silence_near;
    err_t err = NULL;

    while (!err) {
        co_usec wait = live_source_wait(src, p, rule);

        if (wait == 0 || wait == CO_FOREVER || co_now() + wait > until)
            break;
        err = co_sleep(wait < LOOK ? wait : LOOK);
    }
    return err;
}
