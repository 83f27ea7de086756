/* SPDX-License-Identifier: MIT */
/* table.h - finds the session of a datagram: by source address, or by our ufrag in a check. Hashes
 * are keyed, so no client can choose colliding entries.
 *
 * The table holds only addresses from which an authenticated check arrived. The number of addresses
 * that belong to sessions of other workers is limited, and they expire when unused.
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
    struct rtc_route *next_own;   /* next address of the same session */
    const struct rtc_endpoint *endpoint;
    struct udp_addr from;
    struct rtc_peer *peer;        /* NULL: the session is at another worker */
    unsigned worker;              /* the session's worker; if it is here, the worker that receives
                                   * the datagrams */
    co_usec used;                 /* last use; for sessions here: last authenticated packet */
    bool sure;                    /* sessions here: the peer was seen to receive at this address */
};

enum rtc_name_kind { RTC_NAME_CHECKS, RTC_NAME_LOCATION };
struct rtc_name {
    struct table_link link;
    struct rtc_peer *peer;        /* NULL: not in the table */
    const char *text;             /* memory of the peer */
    enum rtc_name_kind kind;
};

/* Remembers that a check was passed to another worker: packets that follow it at once may arrive
 * before that worker's message. */
struct rtc_hint {
    const struct rtc_endpoint *endpoint;
    struct udp_addr from;
    unsigned worker, left;        /* left: datagrams still covered */
    co_usec until;
};

struct rtc_table {
    struct table routes, names;
    size_t foreign;               /* number of routes to other workers */
    size_t sweep;                 /* next list to check for expiry */
    uint8_t key[SIPHASH_KEY];
    struct rtc_hint hints[RTC_HINTS]; /* a newer hint overwrites an older one */
};

void rtc_table_init(struct rtc_table *t);
void rtc_table_fini(struct rtc_table *t); /* also frees routes to other workers */

struct rtc_route *rtc_table_find(const struct rtc_table *t, const struct rtc_endpoint *e,
                                 const struct udp_addr *from); /* returns NULL if unknown */
/* Assigns the address to p after an authenticated check from it. Returns NULL if refused: the
 * sender of a check can forge its source, so an address another session used within
 * RTC_OWNER_SILENT stays with that session until p has proved that it receives there (`sure`). */
struct rtc_route *rtc_table_own(struct rtc_table *t, struct rtc_peer *p,
                                const struct rtc_endpoint *e, const struct udp_addr *from,
                                unsigned via, bool sure, co_usec now);
void rtc_table_drop(struct rtc_table *t, struct rtc_route *r);
/* Returns the address the peer needs least, once it has as many as ICE remembers; else NULL. */
struct rtc_route *rtc_table_spare(const struct rtc_peer *p);
/* Assigns the address to another worker, with the same check; or removes it. */
void rtc_table_foreign(struct rtc_table *t, const struct rtc_endpoint *e,
                       const struct udp_addr *from, unsigned worker, bool sure, co_usec now);
void rtc_table_forget(struct rtc_table *t, const struct rtc_endpoint *e,
                      const struct udp_addr *from, unsigned worker);

/* Returns true if packets of another worker's session used this endpoint within
 * RTC_FOREIGN_KEEP. */
bool rtc_table_passes(const struct rtc_table *t, const struct rtc_endpoint *e, co_usec now);
/* the endpoint closes */
void rtc_table_forget_endpoint(struct rtc_table *t, const struct rtc_endpoint *e);

void rtc_table_hint(struct rtc_table *t, const struct rtc_endpoint *e, const struct udp_addr *from,
                    unsigned worker, co_usec now);
/* Returns true if a hint sends datagrams from this address to *worker. */
bool rtc_table_hinted(struct rtc_table *t, const struct rtc_endpoint *e,
                      const struct udp_addr *from, co_usec now, unsigned *worker);

/* Registers a session by its name in checks (replacing an older one) and by the one in its
 * Location. */
void rtc_table_name(struct rtc_table *t, struct rtc_name *name, struct rtc_peer *p,
                    const char *text);
/* fine if it is not in the table */
void rtc_table_unname(struct rtc_table *t, struct rtc_name *name);
struct rtc_peer *rtc_table_named(const struct rtc_table *t, enum rtc_name_kind kind,
                                 const char *text, size_t size);

#endif
