/* SPDX-License-Identifier: MIT */
/* table.h - which session a datagram belongs to: by the address it came from, and of a check, by
 * our ufrag in it. Hashes have a secret, so nobody can choose what collides.
 *
 * Only addresses by which an authenticated check came are here. Those of sessions of other workers
 * are so many at most, and forgotten when nothing came of them for a while.
 */
#ifndef SERVE_RTC_TABLE_H
#define SERVE_RTC_TABLE_H

#include "base/table.h"
#include "co/net/udp.h"

struct rtc_peer;
struct rtc_endpoint;

enum { RTC_FOREIGN_MAX = 65536, RTC_HINTS = 256, RTC_HINT_DATAGRAMS = 16 };
#define RTC_FOREIGN_KEEP CO_SECONDS(60)
#define RTC_OWNER_SILENT CO_SECONDS(5)
#define RTC_HINT_KEEP CO_SECONDS(1)

struct rtc_route {
    struct table_link link;
    struct rtc_route *next_own;   /* of its session */
    const struct rtc_endpoint *endpoint;
    struct udp_addr from;
    struct rtc_peer *peer;        /* NULL: it is another worker's */
    unsigned worker;              /* whose it is; of ours, by way of which it comes */
    co_usec used;                 /* when it was last; of ours: by something authenticated */
    bool sure;                    /* of ours: its peer was seen to receive there */
};

enum rtc_name_kind { RTC_NAME_CHECKS, RTC_NAME_LOCATION };
struct rtc_name {
    struct table_link link;
    struct rtc_peer *peer;        /* NULL: it is not in the table */
    const char *text;             /* the peer's memory */
    enum rtc_name_kind kind;
};

/* A check went to another worker: what follows it at once may be here before that one's word. */
struct rtc_hint {
    const struct rtc_endpoint *endpoint;
    struct udp_addr from;
    unsigned worker, left;        /* datagrams */
    co_usec until;
};

struct rtc_table {
    struct table routes, names;
    size_t foreign;               /* routes of other workers */
    size_t sweep;                 /* the list to check next */
    uint8_t key[SIPHASH_KEY];
    struct rtc_hint hints[RTC_HINTS]; /* where two want one, the newer has it */
};

void rtc_table_init(struct rtc_table *t);
void rtc_table_fini(struct rtc_table *t); /* routes of others, too */

struct rtc_route *rtc_table_find(const struct rtc_table *t, const struct rtc_endpoint *e,
                                 const struct udp_addr *from); /* or NULL */
/* An authenticated check of p's came from there: the address is p's from now on. NULL: it is not.
 * Whoever writes a check writes its source as well, so what another session has heard from in the
 * last RTC_OWNER_SILENT stays with that one until p has shown that it is there (`sure`). */
struct rtc_route *rtc_table_own(struct rtc_table *t, struct rtc_peer *p,
                                const struct rtc_endpoint *e, const struct udp_addr *from,
                                unsigned via, bool sure, co_usec now);
void rtc_table_drop(struct rtc_table *t, struct rtc_route *r);
/* The address that it needs least, once it has as many as ICE remembers; else NULL. */
struct rtc_route *rtc_table_spare(const struct rtc_peer *p);
/* What comes from there is that worker's, as above; or no longer. */
void rtc_table_foreign(struct rtc_table *t, const struct rtc_endpoint *e,
                       const struct udp_addr *from, unsigned worker, bool sure, co_usec now);
void rtc_table_forget(struct rtc_table *t, const struct rtc_endpoint *e,
                      const struct udp_addr *from, unsigned worker);

/* Did anything of another worker's session come by that endpoint within RTC_FOREIGN_KEEP? */
bool rtc_table_passes(const struct rtc_table *t, const struct rtc_endpoint *e, co_usec now);
void rtc_table_forget_endpoint(struct rtc_table *t, const struct rtc_endpoint *e); /* it closes */

void rtc_table_hint(struct rtc_table *t, const struct rtc_endpoint *e, const struct udp_addr *from,
                    unsigned worker, co_usec now);
/* True: a datagram from there goes to *worker. */
bool rtc_table_hinted(struct rtc_table *t, const struct rtc_endpoint *e,
                      const struct udp_addr *from, co_usec now, unsigned *worker);

/* By its name in checks, which another takes the place of, and by that in its Location. */
void rtc_table_name(struct rtc_table *t, struct rtc_name *name, struct rtc_peer *p,
                    const char *text);
void rtc_table_unname(struct rtc_table *t, struct rtc_name *name); /* fine if it is not there */
struct rtc_peer *rtc_table_named(const struct rtc_table *t, enum rtc_name_kind kind,
                                 const char *text, size_t size);

#endif
