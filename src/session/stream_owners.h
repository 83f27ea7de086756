/* SPDX-License-Identifier: MIT */
/* stream_owners.h - at which worker each stream is at home, and where a client of it goes.
 *
 * A stream has one home: the worker where its publisher lives, and all that begins and ends with
 * it. Who says publish or play enters the stream's home, which is made if there is none, and stays
 * in it until it leaves: a home is where it is for as long as somebody is in it, so two who come to
 * two workers at the same time meet at one. Sources are in it, too, wherever they are.
 *
 * One mutex, taken when a client says publish or play, when it leaves, and when a source comes or
 * goes; never for a packet. Nothing here yields. Any thread.
 */
#ifndef SESSION_STREAM_OWNERS_H
#define SESSION_STREAM_OWNERS_H

#include "session/workers.h"

struct stream_owners; /* of the process; owned by struct workers */
struct stream_owner;  /* of one stream */

struct stream_owners *stream_owners_new(void);
void stream_owners_free(struct stream_owners *h); /* nobody is in any */

struct stream_owners_guest {
    const char *path;  /* of the stream: "vhost/app/name" */
    unsigned here;     /* the worker that it came to */
    unsigned spread;   /* workers_spread: so many players go home, whoever is busy */
    bool publishes;    /* else it plays */
    bool gathered;     /* it goes home, too, where players are gathered: stream_owner_gathers() */
};

/* A client comes: *to is the worker where it is to be served. A publisher goes home. A player goes
 * home while the stream has few, or home has little to do; else it stays, and its worker has a
 * replica of the stream. A home is made here, or where there is clearly less to do. */
struct stream_owner *stream_owners_enter(struct workers *w, const struct stream_owners_guest *guest,
                                 unsigned *to);
/* Something that is no client: a source. Its home is made here if there is none. */
struct stream_owner *stream_owners_hold(struct workers *w, const char *path, unsigned here);
void stream_owners_leave(struct workers *w, struct stream_owner *owner, bool plays);
/* of stream_owners_hold() */
void stream_owners_release(struct workers *w, struct stream_owner *owner);

unsigned stream_owner_worker(const struct stream_owner *owner);
/* Players of that kind are at home from now on, or no longer: what they are sent is there alone. */
void stream_owner_gathers(struct workers *w, struct stream_owner *owner, bool on);
/* Somebody publishes it, and does not gather players. */
bool stream_owner_is_plain(struct workers *w, const struct stream_owner *owner);
/* How many play it, at all workers. */
/* Clients of it that were let in, at all workers: one more or less. */
void stream_owner_count(struct stream_owner *owner, int by);
unsigned stream_owner_clients(const struct stream_owner *owner);
/* The home of a stream that somebody publishes now, of that vhost and name, whatever its app: its
 * path is written to `path`. False: there is none. */
bool stream_owners_find_published(struct workers *w, const char *vhost, const char *name,
                                  size_t name_size, char *path, size_t size);
/* Somebody publishes the stream of that path now, at whatever worker. */
bool stream_owners_is_published(struct workers *w, const char *path);
/* Calls each() with the paths of streams that somebody publishes now, at whatever worker; `most`
 * homes are looked at. It runs with the lock held. */
void stream_owners_each_published(struct workers *w, unsigned most,
                          void (*each)(void *arg, const char *path), void *arg);
/* Somebody publishes it now, or no longer. */
void stream_owner_published(struct workers *w, struct stream_owner *owner, bool published);

#endif
