/* SPDX-License-Identifier: MIT */
/* toy.c - the toy protocol: its directives, endpoints and checks. */
#include "conf/protocol.h"
#include "conf/table.h"

#include <string.h>

enum { WORD_MAX = 8 };

static const struct conf_row server[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_toy_server, enabled), "off", CONF_HANDLER,
      .help = "Serve the toy, in each vhost whose toy is on." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_toy_server, listen), "7007", CONF_HANDLER,
      .help = "Its endpoints, of TCP and of UDP." },
    { "word", CONF_KIND_STRING, CONF_AT(conf_toy_server, word), "echo", CONF_AT_ONCE,
      .help = "What each answer begins with, at most 8 letters." },
};

static const struct conf_row vhost[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_vhost_toy, enabled), "off", CONF_AT_ONCE,
      .help = "The toy for this vhost." },
};

const struct conf_block conf_table_toy_server = CONF_BLOCK_OF(conf_toy_server, server, "A toy.");
const struct conf_block conf_table_vhost_toy = CONF_BLOCK_OF(conf_vhost_toy, vhost, "A toy.");

static err_t check(const struct conf *c)
{
    if (strlen(c->toy_server.word) > WORD_MAX)
        return err_new(ERR_CONF, "toy_server: word has at most %d letters", WORD_MAX);
    return NULL;
}

static const struct conf_served served[] = {
    { "toy", "Toy", "toy_server.listen", "toy", "toy", PROTOCOL_TOY, CONF_SERVED_UDP,
      CONF_OF(toy_server.enabled), CONF_NOWHERE, CONF_OF(toy_server.listen), .tls = CONF_NOWHERE },
    { "toy", "Toy over TCP", "toy_server.listen", NULL, "toy", PROTOCOL_TOY, CONF_SERVED_NO_PROXY,
      CONF_OF(toy_server.enabled), CONF_NOWHERE, CONF_OF(toy_server.listen), .tls = CONF_NOWHERE },
};

const struct conf_protocol conf_protocol_toy = {
    .name = "toy", .served = served, .n_served = 2,
    .vhost = offsetof(struct conf_vhost, toy.enabled), .max = CONF_NOWHERE, .check = check,
};
