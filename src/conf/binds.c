/* SPDX-License-Identifier: MIT */
/* binds.c - sockets for `listen` directives. */
#include "conf/binds.h"

#include "conf/endpoint.h"

#include <stdio.h>
#include <string.h>

/* BARE: a port without an address. */
enum { BARE = 1, ANY4 = 2, ONE4 = 4, ANY6 = 8, ONE6 = 16 };

static unsigned kind_of(const struct conf_endpoint *e)
{
    static const uint8_t zeros[16];
    uint8_t addr[16];
    bool v4;

    if (!conf_address_parse(e->host, strlen(e->host), addr, &v4))
        return BARE;
    if (v4)
        return memcmp(addr + 12, zeros, 4) == 0 ? ANY4 : ONE4;
    return memcmp(addr, zeros, 16) == 0 ? ANY6 : ONE6;
}

unsigned conf_binds_at(const struct conf_endpoints *list, int port)
{
    unsigned kinds = 0;

    for (size_t i = 0; i < list->n; i++) {
        if (list->v[i].port == port)
            kinds |= kind_of(&list->v[i]);
    }
    return kinds;
}

static struct conf_bind bind_at(const struct conf_endpoint *e, const char *host)
{
    struct conf_bind b = { .host = host, .port = e->port };

    (void)snprintf(b.text, sizeof(b.text), "%s", e->text);
    return b;
}

void conf_bind_halves(int port, struct conf_bind out[CONF_BINDS_EACH])
{
    out[0] = (struct conf_bind){ .host = "0.0.0.0", .port = port };
    out[1] = (struct conf_bind){ .host = "::", .port = port };
    (void)snprintf(out[0].text, sizeof(out[0].text), "0.0.0.0:%d", port);
    (void)snprintf(out[1].text, sizeof(out[1].text), "[::]:%d", port);
}

size_t conf_binds(const struct conf_endpoint *e, unsigned at_port,
                  struct conf_bind out[CONF_BINDS_EACH])
{
    unsigned kind = kind_of(e);

    if (kind == BARE && at_port & (ANY4 | ANY6 | ONE6)) {
        conf_bind_halves(e->port, out);
        return !(at_port & ANY6) && at_port & ONE6 ? 1 : CONF_BINDS_EACH;
    }
    if (kind == ANY6 && at_port & (BARE | ANY4 | ONE4))
        out[0] = bind_at(e, "::");
    else if (kind == BARE || kind == ANY6)
        out[0] = bind_at(e, "");
    else
        out[0] = bind_at(e, kind == ANY4 ? "0.0.0.0" : e->host);
    return 1;
}

bool conf_bind_same(const struct conf_bind *a, const struct conf_bind *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}
