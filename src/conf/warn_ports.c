/* SPDX-License-Identifier: MIT */
/* warn_ports.c - warns about two protocols on one port. */
#include "conf/protocol.h"
#include "conf/warn.h"

#include <stdio.h>
#include <string.h>

static bool is_any(const char *host)
{
    return !*host || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

/* Returns a port that both lists contain, or 0. */
static int shared_port(const struct conf_endpoints *a, const struct conf_endpoints *b)
{
    for (size_t i = 0; i < a->n; i++) {
        for (size_t j = 0; j < b->n; j++) {
            const struct conf_endpoint *x = &a->v[i], *y = &b->v[j];

            if (x->port == y->port &&
                (is_any(x->host) || is_any(y->host) || strcmp(x->host, y->host) == 0))
                return x->port;
        }
    }
    return 0;
}

static void warn_both(const struct conf_served *a, const struct conf_served *b, int port,
                      const struct conf_node *root, const struct conf_ctx *ctx)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "%s and %s both have %s port %d: one of them cannot start; "
                   "give it another port", b->listens, a->listens,
                   a->flags & CONF_SERVED_UDP ? "UDP" : "TCP", port);
    conf_warn_at(ctx, conf_warn_node(root, a->listens), text);
}

void conf_warn_ports(const struct conf *c, const struct conf_node *root,
                     const struct conf_ctx *ctx)
{
    const struct conf_served *a = NULL;
    enum protocol_id at = 0;

    while ((a = conf_served_next(a, &at))) {
        const struct conf_served *b = NULL;
        enum protocol_id id = 0;

        while (conf_served_is_on(a, c) && (b = conf_served_next(b, &id)) && b != a) {
            bool apart = ((a->flags ^ b->flags) & CONF_SERVED_UDP) || conf_served_share(a, b);
            int port = !apart && conf_served_is_on(b, c)
                       ? shared_port(conf_served_listen(a, c), conf_served_listen(b, c)) : 0;

            if (port > 0)
                warn_both(a, b, port, root, ctx);
        }
    }
}
