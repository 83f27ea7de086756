/* SPDX-License-Identifier: MIT */
/* listeners.h - the set of endpoints that a server listens on; changes as a whole or not at all. */
#ifndef APP_LISTENERS_H
#define APP_LISTENERS_H

#include "base/err.h"
#include "conf/settings.h"

struct listeners;

/* Endpoints of one service. An endpoint that is written for several services of one family is
 * one socket, and who connects there comes with all of their bits. */
struct listeners_want {
    int family;
    unsigned services; /* bits */
    const struct conf_endpoints *endpoints;
};

/* A connection that came. */
struct listeners_guest {
    unsigned services;
    bool proxied;        /* it begins with a header of the PROXY protocol */
    int fd;
    const uint8_t *peer; /* the address, as io_accept() has it */
};

/* Gets each connection and owns its descriptor. It must not yield. */
typedef void listeners_accept(void *arg, const struct listeners_guest *guest);

struct listeners *listeners_new(listeners_accept *on_accept, void *arg);
/* Listen on exactly these endpoints: those that are new are opened first, and if one cannot be,
 * everything stays as it was. Those no longer wanted are closed. Does not yield. */
err_t listeners_open(struct listeners *l, const struct listeners_want *wanted, size_t n)
    __attribute__((warn_unused_result));
void listeners_close(struct listeners *l); /* all of them; does not yield */
void listeners_free(struct listeners *l);  /* closes and waits until they are. Yields. */

#endif
