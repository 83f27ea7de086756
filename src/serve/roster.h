/* SPDX-License-Identifier: MIT */
/* roster.h - who is on: clients, streams and vhosts, for the API, the metrics and the callbacks.
 *
 * A session that publishes or plays has a struct roster_client in its own memory and enters it;
 * what it is (address, names, how much it took) is asked of the session when somebody wants to
 * know. So a player costs 64 bytes here, and to enter and to leave cost the same for 1 client and
 * for 10,000. Lists are walked a bucket at a time, with other coroutines running in between.
 *
 * Nothing here yields but roster_sample(). All of it belongs to one coroutine thread.
 */
#ifndef SERVE_ROSTER_H
#define SERVE_ROSTER_H

#include "base/kbps.h"
#include "live/source.h"

#include <stdbool.h>

struct roster;
struct roster_client;
struct serve_stream;

enum { ROSTER_ID_SIZE = 9, ROSTER_NAME_ID_SIZE = 12 };

/* What a client is; the names are those that users of such servers know. */
enum roster_type {
    ROSTER_RTMP_PLAY, ROSTER_FLV_PLAY, ROSTER_HLS_PLAY, ROSTER_DASH_PLAY, ROSTER_FLASH_PUBLISH,
    ROSTER_FMLE_PUBLISH, ROSTER_HAIVISION_PUBLISH, ROSTER_FORWARD, ROSTER_TYPES,
};
const char *roster_type_name(enum roster_type type); /* "rtmp-play" */
bool roster_type_publishes(enum roster_type type);

/* What a list shows. Strings are the session's, valid until the next yield; none is NULL. */
struct roster_info {
    const char *ip, *tc_url, *page_url, *swf_url;
    co_usec began_at;
    uint64_t in, out;       /* bytes of its connection */
    int in_kbps, out_kbps;  /* over the last 30 s */
};

struct roster_kind {
    void (*describe)(struct roster_client *c, struct roster_info *out);
    /* Somebody wants it to end: it does so soon, with ERR_KICKED. */
    void (*kick)(struct roster_client *c);
};

struct roster_stream { /* kept with its source */
    struct live_note note;
    struct roster *roster;
    struct roster_vhost *vhost;
    struct live_source *src;
    char *app, *name, *tc_url;       /* as its publisher, else its first player said */
    struct roster_client *publisher; /* or NULL */
    unsigned clients;                /* players and publisher */
    unsigned waiting;                /* to be one of them */
    unsigned forwards;
    co_usec began_at;
    uint64_t in, out;                /* counted for the vhost so far */
    struct kbps in_kbps, out_kbps;
};

struct roster_vhost { /* once known, it stays */
    struct roster_vhost *next;
    char *name;
    unsigned clients, streams;
    uint64_t in, out; /* bytes of media */
    struct kbps in_kbps, out_kbps;
    int64_t wanted_kbps, wanted_sum; /* what its players take together; and while it is summed up */
    unsigned publishing, publishing_sum; /* streams that somebody publishes, likewise */
    unsigned fresh; /* publishers let in since the last sample: what they send is not known yet */
};

/* In the session's memory; fields are the roster's. */
struct roster_client {
    struct roster_client *next; /* in a bucket */
    uint64_t id;                /* its 8 characters */
    const struct roster_kind *kind;
    struct roster_stream *stream;
    uint64_t in, out;           /* bytes counted so far */
    uint8_t type;               /* enum roster_type */
    bool admitted;              /* else it waits */
};

/* Counts of one type since the start. */
struct roster_total {
    unsigned now;
    uint64_t clients, errors; /* that came, and that ended by a fault */
    uint64_t in, out;         /* bytes */
};

/* `server_id` makes the ids of streams and vhosts: the same names have the same ids in every run
 * of a server. */
struct roster *roster_new(struct live_registry *streams, const char *server_id);
void roster_free(struct roster *r); /* sources and clients are gone already */

/* A client begins with that stream, of which it has a reference for as long as it is here. `id`
 * is NULL: that of the coroutine that calls. Names are copied as needed. With r NULL (tests)
 * nothing happens, and the same for the functions that follow. */
void roster_enter(struct roster *r, struct roster_client *c, const struct roster_kind *kind,
                  enum roster_type type, const char *id, const struct serve_stream *names,
                  struct live_source *src);
/* The same in two steps, for who waits to be let in: it is listed and can be kicked, and counts for
 * nothing until it is admitted. */
void roster_wait(struct roster *r, struct roster_client *c, const struct roster_kind *kind,
                 enum roster_type type, const char *id, const struct serve_stream *names,
                 struct live_source *src);
void roster_admit(struct roster_client *c, const struct serve_stream *names);
/* How much went over its connection so far: now and then, for the totals. */
void roster_count(struct roster_client *c, uint64_t in, uint64_t out);
/* It ends; `why` is borrowed. Fine if it never entered (zeroed). */
void roster_leave(struct roster_client *c, uint64_t in, uint64_t out, err_t why);

struct roster_client *roster_find(const struct roster *r, const char *id); /* or NULL */
/* Clients of these types: all but forwards. */
unsigned roster_count_clients(const struct roster *r);
const struct roster_total *roster_total(const struct roster *r, enum roster_type type);
void roster_client_id(const struct roster_client *c, char out[ROSTER_ID_SIZE]);
/* Walk all clients: *at begins as 0; each call shows those of one bucket and gives false when that
 * was the last one. Other coroutines may run between two calls: who is there all the time is shown
 * once. `each` must not yield, and nobody may leave in it. */
bool roster_walk(const struct roster *r, uint64_t *at,
                 void (*each)(struct roster_client *c, void *arg), void *arg);

/* What is kept of a source; made if there is nothing yet. */
struct roster_stream *roster_stream(struct roster *r, struct live_source *src);
unsigned roster_listed(const struct roster_stream *s); /* clients, and those that wait */
/* What one player of it takes, as far as that is known. */
int roster_stream_kbps(const struct roster_stream *s);
const struct roster_vhost *roster_vhosts(const struct roster *r);
/* NULL: nobody was there yet. */
const struct roster_vhost *roster_vhost_find(const struct roster *r, const char *name);
/* A publisher is let into it. */
void roster_vhost_expect(struct roster *r, const char *name);
/* The id of "vhost/app/stream" or of a vhost: "vid-" and 7 characters. */
void roster_name_id(const struct roster *r, const char *name, char out[ROSTER_NAME_ID_SIZE]);
/* "/app/stream" of the default vhost, else "vhost/app/stream": how others know a stream. Writes
 * to buf; returns it. */
const char *roster_url(const char *vhost, const char *app, const char *stream, char *buf,
                       size_t size);

/* Take the bit rates of streams and vhosts; every few seconds, or every second where a vhost is
 * bounded by them. Yields. */
void roster_sample(struct roster *r);

#endif
