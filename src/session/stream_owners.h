/* SPDX-License-Identifier: MIT */
/* stream_owners.h - the directory of owner workers: which worker owns each stream, and which worker
 * serves a client.
 *
 * Each stream has one owner worker, which serves its publisher and runs its sinks. A client that
 * publishes or plays enters the stream's entry, which is created if needed, and holds it until it
 * leaves. The owner does not change while the entry is held, so clients that arrive at two workers
 * at the same time meet on one. Sources on any worker hold the entry, too.
 *
 * A mutex protects the directory. It is locked when a client starts to publish or play, when it
 * leaves, and when a source is created or freed, never for a packet. Nothing here yields. Any
 * thread.
 */
#ifndef SESSION_STREAM_OWNERS_H
#define SESSION_STREAM_OWNERS_H

#include "session/workers.h"

struct stream_owners; /* the directory of the process; owned by struct workers */
struct stream_owner;  /* the entry of one stream */

struct stream_owners *stream_owners_new(void);
void stream_owners_free(struct stream_owners *h); /* all entries were released */

struct stream_owners_client {
    const char *path;  /* the stream: "vhost/app/name" */
    unsigned here;     /* the worker at which the client arrived */
    unsigned spread;   /* workers_spread: this many players move to the owner at any load */
    bool publishes;    /* else it plays */
    bool gathered;     /* also moves if players are gathered: stream_owner_gathers() */
};

/* Enters a client; *to is the worker that serves it. Publishers move to the owner worker. Players
 * move there while the stream has few players or the owner has a low load; else they stay, and
 * their worker has a replica. The owner of a new stream is this worker, or one with a clearly lower
 * load. */
struct stream_owner *stream_owners_enter(struct workers *w,
                                         const struct stream_owners_client *guest, unsigned *to);
/* Holds the entry for something other than a client, such as a source; creates it here if needed.
 * */
struct stream_owner *stream_owners_hold(struct workers *w, const char *path, unsigned here);
void stream_owners_leave(struct workers *w, struct stream_owner *owner, bool plays);
/* Releases stream_owners_hold(). */
void stream_owners_release(struct workers *w, struct stream_owner *owner);

unsigned stream_owner_worker(const struct stream_owner *owner);
/* Sets whether players of certain formats must move to the owner worker, which alone has them. */
void stream_owner_gathers(struct workers *w, struct stream_owner *owner, bool on);
/* Returns true if the stream has a publisher and does not gather players. */
bool stream_owner_is_plain(struct workers *w, const struct stream_owner *owner);
/* Changes and returns the number of admitted clients of the stream on all workers. */
void stream_owner_count(struct stream_owner *owner, int by);
unsigned stream_owner_clients(const struct stream_owner *owner);
/* Finds a published stream by vhost and name, in any app, and writes its path. Returns false if
 * there is none. */
bool stream_owners_find_published(struct workers *w, const char *vhost, const char *name,
                                  size_t name_size, char *path, size_t size);
/* Returns true if the stream of that path has a publisher on any worker. */
bool stream_owners_is_published(struct workers *w, const char *path);
/* Calls each() with the paths of published streams of all workers, checking at most `most` entries.
 * each() runs under the lock. */
void stream_owners_each_published(struct workers *w, unsigned most,
                          void (*each)(void *arg, const char *path), void *arg);
/* Records whether the stream has a publisher. */
void stream_owner_published(struct workers *w, struct stream_owner *owner, bool published);

#endif
