/* SPDX-License-Identifier: MIT */
/* claim.h - whose place a new publisher may take, and how long it waits for it. */
#ifndef SESSION_CLAIM_H
#define SESSION_CLAIM_H

#include "session/session.h"

void session_claim_rule(const struct conf_publish *set, struct live_takeover *out);

/* What the client showed so far, as p->proof. Parameters are one if they say more than the vhost
 * and somebody looks at them before this client takes any place: a backend by on_publish, or we,
 * for a token or the key of the stream. */
void session_claim_proof(const struct session *s, struct live_publisher *p);

/* An encoder may be back before anybody knows that its old connection is dead. So one of the same
 * address waits a moment until that one is silent or gone. NULL as well when it was in vain.
 * Yields. */
err_t session_claim_wait(const struct live_source *src, const struct live_publisher *p,
                         const struct live_takeover *rule) __attribute__((warn_unused_result));

#endif
