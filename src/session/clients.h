/* SPDX-License-Identifier: MIT */
/* clients.h - the list of clients, streams and vhosts for the API, metrics and callbacks.
 *
 * A session that publishes or plays has a struct client in its own memory and enters it. Details
 * (address, names, bytes) are read from the session on request. So a player needs 64 bytes here,
 * and entering and leaving cost the same for 1 client and for 10,000. Lists are walked a bucket at
 * a time, and other coroutines run in between.
 *
 * Only clients_sample() yields. All of it belongs to one coroutine thread.
 */
#ifndef SESSION_CLIENTS_H
#define SESSION_CLIENTS_H

#include "base/jput.h"
#include "base/kbps.h"
#include "base/table.h"
#include "conf/protocols.h"
#include "live/sender.h"

#include <stdatomic.h>
#include <stdbool.h>

struct clients;
struct client;
struct session;
struct session_stream;
struct stream_owner;
struct workers;

enum { CLIENTS_ID_SIZE = 9, CLIENTS_NAME_ID_SIZE = 12 };

/* The type of a client: a row of PROTOCOL_CLIENT_LIST. */
#define XX(ID, name, text, flags) CLIENTS_##ID,
enum clients_type { PROTOCOL_CLIENT_LIST(XX) CLIENTS_TYPES };
#undef XX
enum clients_flag { CLIENTS_PUBLISHES = 1, CLIENTS_FILE = 2 }; /* 0: it plays a live stream */
const char *clients_type_name(enum clients_type type); /* "rtmp-play" */
const char *clients_type_text(enum clients_type type); /* "RTMP player", for the log */
bool clients_type_publishes(enum clients_type type);
bool clients_type_is_file(enum clients_type type); /* it plays a file, not a live stream */

/* The transport of RTP media; NONE for other protocols. */
enum clients_transport {
    CLIENTS_TRANSPORT_NONE,
    CLIENTS_TRANSPORT_TCP,
    CLIENTS_TRANSPORT_UDP,
    CLIENTS_TRANSPORT_MULTICAST,
    CLIENTS_TRANSPORT_TUNNEL,
    CLIENTS_TRANSPORTS,
};
const char *clients_transport_name(enum clients_transport way); /* "tcp"; "" for NONE */

/* RTP statistics of a client: measured for a publisher, reported by a player. */
struct clients_rtp {
    enum clients_transport way;
    uint32_t lost;    /* lost packets since its media began */
    co_usec jitter;   /* RFC 3550 6.4.1 */
};

/* Details that a protocol adds to a client, as an object in lists of the API. */
enum { CLIENTS_DETAIL = 512 };
struct clients_detail {
    const char *name;                /* the key of the object: "srt" */
    /* fields of the protocol's struct, at most CLIENTS_DETAIL bytes */
    const struct jput_field *fields;
    size_t n;
    /* Fills the struct; returns false if there is nothing yet. */
    bool (*read)(const struct session *s, void *out);
    /* Adds the losses to the last log line of the client; or NULL. */
    void (*add_losses)(const struct session *s, char *text, size_t size);
};

/* Details for a list. Strings belong to the session, valid until the next yield; none is NULL. */
struct clients_info {
    const char *ip, *tc_url, *page_url, *swf_url;
    co_usec began_at;
    uint64_t in, out;       /* bytes of its connection */
    int in_kbps, out_kbps;  /* over the last 30 s */
    const struct live_sender *sender; /* sends to a player; or NULL */
    const struct clients_detail *detail; /* or NULL */
    const struct session *session;       /* for detail->read() and session_play_stat(); or NULL */
};

struct clients_kind {
    void (*describe)(struct client *c, struct clients_info *out);
    /* Ends the client soon, with ERR_KICKED. */
    void (*kick)(struct client *c);
};

struct clients_stream { /* attached to its source */
    struct live_user_data note;
    struct clients *all;             /* the list that it belongs to */
    struct clients_vhost *vhost;
    struct live_source *src;
    struct stream_owner *owner;      /* holds the stream's ownership; NULL: one worker */
    struct workers *workers;         /* where that owner is registered */
    atomic_uint *replicas;           /* counts it as a replica; NULL: this is the owner worker */
    struct stream_key *key;          /* from its publisher, else from its first player; NULL: only
                                      * forwards so far */
    const char *app, *name;          /* parts of the key */
    char *tc_url;                    /* from the same client */
    struct client *publisher;        /* or NULL */
    unsigned clients;                /* players and publisher */
    unsigned waiting;                /* clients that wait for admission */
    unsigned forwards;
    co_usec began_at;
    uint64_t in, out;                /* bytes already counted for the vhost */
    struct kbps in_kbps, out_kbps;
    bool file;                       /* the name is a file, which players play; then: */
    struct client *knows;            /* a player that knows the file's tracks; or NULL */
    uint64_t file_out;               /* bytes sent to them */
    int file_kbps;
};

struct clients_vhost { /* never removed */
    struct clients_vhost *next;
    char *name;
    unsigned clients, streams; /* clients and live streams */
    unsigned replicas; /* streams that another worker owns */
    uint64_t in, out; /* bytes of media; input of replicas is counted on the owner worker */
    struct kbps in_kbps, out_kbps;
    int64_t wanted_kbps, wanted_sum; /* sum of its players' rates; and the sum in progress */
    unsigned publishing, publishing_sum; /* published streams; and the sum in progress */
    unsigned fresh; /* publishers admitted since the last sample, with unknown rates */
};

/* In the session's memory; private to clients*.c. */
struct client {
    struct table_link link;     /* in the table of clients: the hash is its id, 8 characters */
    const struct clients_kind *kind;
    struct clients_stream *stream;
    uint64_t in, out;           /* bytes counted so far */
    uint8_t type;               /* enum clients_type */
    uint8_t way;                /* enum clients_transport */
    bool admitted;              /* else it waits for admission */
    uint32_t lost, jitter;      /* see struct clients_rtp; microseconds */
};

/* Counts of one type since the start. */
struct clients_total { /* only 64-bit words, all of them sums */
    uint64_t now, clients, errors; /* connected; all so far; ended with an error */
    uint64_t in, out;         /* bytes */
    uint64_t ways[CLIENTS_TRANSPORTS]; /* connected RTP clients by transport */
    uint64_t lost;            /* lost packets */
    uint64_t jitter, jitters; /* sum of the jitter of connected clients, us; their number */
};

/* `server_id` seeds the ids of streams and vhosts, so that the same names have the same ids in
 * every run of a server. */
struct clients *clients_new(struct live_registry *streams, const char *server_id);
void clients_free(struct clients *r); /* after all sources and clients */

/* Lists a client that waits for admission to a stream, to which it holds a reference. It can be
 * kicked, but does not count until it is admitted. If `id` is NULL, uses that of the calling
 * coroutine. Names are copied as needed. If r is NULL (tests), this and the following functions do
 * nothing. */
void clients_wait(struct clients *r, struct client *c, const struct clients_kind *kind,
                  enum clients_type type, const char *id, const struct session_stream *names,
                  struct live_source *src);
void clients_admit(struct client *c, const struct session_stream *names);
/* Updates the bytes of its connection; call it periodically for the totals. */
void clients_count(struct client *c, uint64_t in, uint64_t out);
/* Updates the RTP statistics, when media begin and with each report. Only for admitted clients. */
void clients_rtp(struct client *c, const struct clients_rtp *rtp);
/* Removes the client; `why` is borrowed. Fine if it never entered (zero). */
void clients_leave(struct client *c, uint64_t in, uint64_t out, err_t why);

struct client *clients_find(const struct clients *r, const char *id); /* or NULL */
/* Number of clients, without forwards. */
unsigned clients_count_all(const struct clients *r);
const struct clients_total *clients_total(const struct clients *r, enum clients_type type);
void client_id(const struct client *c, char out[CLIENTS_ID_SIZE]);
/* Walks all clients: *at begins at 0; each call visits one bucket and returns false after the last
 * one. Other coroutines may run between two calls; a client that stays is visited exactly once.
 * `each` must not yield or remove a client. */
bool clients_walk(const struct clients *r, uint64_t *at,
                  void (*each)(struct client *c, void *arg), void *arg);

/* Returns the entry of a source; creates it if needed. */
struct clients_stream *clients_stream(struct clients *r, struct live_source *src);
/* Players and publisher on all workers, the number in callbacks. */
unsigned clients_stream_total(const struct clients_stream *s);
/* Marks the stream as a replica, which also counts in *count while it exists. */
void clients_stream_is_replica(struct clients_stream *s, atomic_uint *count);
/* Reads the details of a file. Returns false if it is not a file, or unknown at the moment. */
bool clients_stream_file(const struct clients_stream *s, struct live_feed_info *out);
/* Bytes sent to players, including those of files. */
uint64_t clients_stream_out(const struct clients_stream *s, const struct live_source_stat *stat);
/* The bit rate of one player; 0 while it is unknown. */
int clients_stream_kbps(const struct clients_stream *s);
/* Returns NULL if the vhost had no clients yet. */
const struct clients_vhost *clients_vhost_find(const struct clients *r, const char *name);
/* A publisher was admitted to the vhost. */
void clients_vhost_expect(struct clients *r, const char *name);
/* Writes the id of "vhost/app/stream" or of a vhost: "vid-" and 7 characters. */
void clients_name_id(const struct clients *r, const char *name, char out[CLIENTS_NAME_ID_SIZE]);
/* Writes the public name of a stream, "/app/stream" in the default vhost, else "vhost/app/stream",
 * to buf and returns it. */
const char *clients_url(const char *vhost, const char *app, const char *stream, char *buf,
                        size_t size);

/* Samples the bit rates of streams and vhosts, every few seconds, or every second if a vhost has a
 * bandwidth limit. Yields. */
void clients_sample(struct clients *r);

#endif
