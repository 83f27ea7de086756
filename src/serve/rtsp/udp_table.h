/* SPDX-License-Identifier: MIT */
/* udp_table.h - which address is whose, of the datagrams that come to one port of ours.
 *
 * As many as sessions have; those who are in none are found in no longer time for it: the table
 * has a secret, so nobody can choose addresses that collide.
 */
#ifndef SERVE_RTSP_UDP_TABLE_H
#define SERVE_RTSP_UDP_TABLE_H

#include "base/table.h"
#include "co/net/udp.h"

struct rtsp_udp_key { /* the table's own */
    struct table_link link;
    struct udp_addr at;
    struct rtsp_udp_port *port;
};

struct rtsp_udp_port { /* a member of who has it */
    struct udp_path path; /* set before it is added */
    bool waits;           /* nothing came from there yet: what comes may come from another port,
                           * since a router gave it another */
    /* the table's own */
    struct rtsp_udp_key said, other; /* where it said that it is; where it was seen then, or
                                      * other.port NULL */
    struct table_link wait; /* while it waits */
    struct rtsp_udp_table *table;
};

struct rtsp_udp_table {
    struct table by_port, by_ip; /* by_ip: those that wait */
    size_t count;                /* ports */
    uint8_t secret[SIPHASH_KEY];
};

void rtsp_udp_table_init(struct rtsp_udp_table *t);
void rtsp_udp_table_fini(struct rtsp_udp_table *t); /* it is empty */
/* False: another one has that address. */
bool rtsp_udp_table_add(struct rtsp_udp_table *t, struct rtsp_udp_port *p)
    __attribute__((warn_unused_result));
void rtsp_udp_table_remove(struct rtsp_udp_table *t, struct rtsp_udp_port *p);
/* Whose address that is; NULL: nobody's. */
struct rtsp_udp_port *rtsp_udp_table_find(const struct rtsp_udp_table *t,
                                          const struct udp_addr *from);
/* It is known where that one is. */
void rtsp_udp_table_known(struct rtsp_udp_port *p);
/* Nobody has that address: the one who waits at its ip, if there is exactly one, has it from now
 * on, and waits no more. NULL: it is nobody's. */
struct rtsp_udp_port *rtsp_udp_table_move(struct rtsp_udp_table *t, const struct udp_addr *from);
/* Something came from where it had said that it is: that counts more than where it was seen. */
void rtsp_udp_table_back(struct rtsp_udp_table *t, struct rtsp_udp_port *p);

#endif
