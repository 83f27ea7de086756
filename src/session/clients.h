/* SPDX-License-Identifier: MIT */
/* clients.h - who is on: clients, streams and vhosts, for the API, the metrics and the callbacks.
 *
 * A session that publishes or plays has a struct client in its own memory and enters it;
 * what it is (address, names, how much it took) is asked of the session when somebody wants to
 * know. So a player costs 64 bytes here, and to enter and to leave cost the same for 1 client and
 * for 10,000. Lists are walked a bucket at a time, with other coroutines running in between.
 *
 * Nothing here yields but clients_sample(). All of it belongs to one coroutine thread.
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

/* What a client is: a row of PROTOCOL_CLIENT_LIST. */
#define XX(ID, name, text, flags) CLIENTS_##ID,
enum clients_type { PROTOCOL_CLIENT_LIST(XX) CLIENTS_TYPES };
#undef XX
enum clients_flag { CLIENTS_PUBLISHES = 1, CLIENTS_FILE = 2 }; /* else it plays a live stream */
const char *clients_type_name(enum clients_type type); /* "rtmp-play" */
const char *clients_type_text(enum clients_type type); /* "RTMP player", for the log */
bool clients_type_publishes(enum clients_type type);
bool clients_type_is_file(enum clients_type type); /* it plays one, not a live stream */

/* How the media of a conversation over RTP go; of others there is no telling. */
enum clients_transport {
    CLIENTS_TRANSPORT_NONE,
    CLIENTS_TRANSPORT_TCP,
    CLIENTS_TRANSPORT_UDP,
    CLIENTS_TRANSPORT_MULTICAST,
    CLIENTS_TRANSPORT_TUNNEL,
    CLIENTS_TRANSPORTS,
};
const char *clients_transport_name(enum clients_transport way); /* "tcp"; "" of none */

/* What a conversation over RTP knows of the way of its media: of a publisher by what came here, of
 * a player by its reports. */
struct clients_rtp {
    enum clients_transport way;
    uint32_t lost;    /* packets, since its media began */
    co_usec jitter;   /* RFC 3550 6.4.1 */
};

/* What a protocol knows of one client, since it began: an object of its own in lists. */
enum { CLIENTS_DETAIL = 512 };
struct clients_detail {
    const char *name;                /* the key of the object: "srt" */
    const struct jput_field *fields; /* of a struct of the protocol's, at most that many bytes */
    size_t n;
    /* Fill the struct. False: there is nothing yet. */
    bool (*read)(const struct session *s, void *out);
    /* Add to the last line in the log what it lost; or NULL. */
    void (*add_losses)(const struct session *s, char *text, size_t size);
};

/* What a list shows. Strings are the session's, valid until the next yield; none is NULL. */
struct clients_info {
    const char *ip, *tc_url, *page_url, *swf_url;
    co_usec began_at;
    uint64_t in, out;       /* bytes of its connection */
    int in_kbps, out_kbps;  /* over the last 30 s */
    const struct live_sender *sender; /* to a player; NULL: it has none */
    const struct clients_detail *detail; /* NULL: there is none */
    const struct session *session;       /* for its read(), and session_play_stat(); or NULL */
};

struct clients_kind {
    void (*describe)(struct client *c, struct clients_info *out);
    /* Somebody wants it to end: it does so soon, with ERR_KICKED. */
    void (*kick)(struct client *c);
};

struct clients_stream { /* kept with its source */
    struct live_user_data note;
    struct clients *all;             /* it is one of */
    struct clients_vhost *vhost;
    struct live_source *src;
    struct stream_owner *owner;               /* of the stream, which it is in; NULL: one worker */
    struct workers *workers;         /* of that home */
    atomic_uint *replicas;           /* where it counts as a replica; NULL: it is at home */
    struct stream_key *key;          /* as its publisher, else its first player said; NULL: only
                                      * forwards so far */
    const char *app, *name;          /* of the key */
    char *tc_url;                    /* of the same client */
    struct client *publisher; /* or NULL */
    unsigned clients;                /* players and publisher */
    unsigned waiting;                /* to be one of them */
    unsigned forwards;
    co_usec began_at;
    uint64_t in, out;                /* counted for the vhost so far */
    struct kbps in_kbps, out_kbps;
    bool file;                       /* it is the name of a file, which players play; then: */
    struct client *knows;            /* one of them, who knows what is in it; or NULL, for now */
    uint64_t file_out;               /* bytes to them */
    int file_kbps;
};

struct clients_vhost { /* once known, it stays */
    struct clients_vhost *next;
    char *name;
    unsigned clients, streams; /* live ones */
    unsigned replicas; /* those of the streams that are at home at another worker */
    uint64_t in, out; /* bytes of media; what replicas take in was counted at home */
    struct kbps in_kbps, out_kbps;
    int64_t wanted_kbps, wanted_sum; /* what its players take together; and while it is summed up */
    unsigned publishing, publishing_sum; /* streams that somebody publishes, likewise */
    unsigned fresh; /* publishers let in since the last sample: what they send is not known yet */
};

/* In the session's memory; fields are of clients.c. */
struct client {
    struct table_link link;     /* in the table of all: the hash is its id, 8 characters */
    const struct clients_kind *kind;
    struct clients_stream *stream;
    uint64_t in, out;           /* bytes counted so far */
    uint8_t type;               /* enum clients_type */
    uint8_t way;                /* enum clients_transport */
    bool admitted;              /* else it waits */
    uint32_t lost, jitter;      /* as in struct clients_rtp, in microseconds */
};

/* Counts of one type since the start. */
struct clients_total { /* words alone, all of them sums */
    uint64_t now, clients, errors; /* connected; that came; that ended by a fault */
    uint64_t in, out;         /* bytes */
    uint64_t ways[CLIENTS_TRANSPORTS]; /* those of RTP that are on, by how their media go */
    uint64_t lost;            /* packets of theirs */
    uint64_t jitter, jitters; /* microseconds of those that are on, together; and of how many */
};

/* `server_id` makes the ids of streams and vhosts: the same names have the same ids in every run
 * of a server. */
struct clients *clients_new(struct live_registry *streams, const char *server_id);
void clients_free(struct clients *r); /* sources and clients are gone already */

/* A client waits to be let in to that stream, of which it has a reference for as long as it is
 * here: it is listed and can be kicked, and counts for nothing until it is admitted. `id` is NULL:
 * that of the coroutine that calls. Names are copied as needed. With r NULL (tests) nothing
 * happens, and the same for the functions that follow. */
void clients_wait(struct clients *r, struct client *c, const struct clients_kind *kind,
                  enum clients_type type, const char *id, const struct session_stream *names,
                  struct live_source *src);
void clients_admit(struct client *c, const struct session_stream *names);
/* How much went over its connection so far: now and then, for the totals. */
void clients_count(struct client *c, uint64_t in, uint64_t out);
/* The same of what it knows by RTP: when its media begin, and with each report. Only those that are
 * admitted. */
void clients_rtp(struct client *c, const struct clients_rtp *rtp);
/* It ends; `why` is borrowed. Fine if it never entered (zeroed). */
void clients_leave(struct client *c, uint64_t in, uint64_t out, err_t why);

struct client *clients_find(const struct clients *r, const char *id); /* or NULL */
/* Clients of these types: all but forwards. */
unsigned clients_count_all(const struct clients *r);
const struct clients_total *clients_total(const struct clients *r, enum clients_type type);
void client_id(const struct client *c, char out[CLIENTS_ID_SIZE]);
/* Walk all clients: *at begins as 0; each call shows those of one bucket and gives false when that
 * was the last one. Other coroutines may run between two calls: who is there all the time is shown
 * once. `each` must not yield, and nobody may leave in it. */
bool clients_walk(const struct clients *r, uint64_t *at,
                  void (*each)(struct client *c, void *arg), void *arg);

/* What is kept of a source; made if there is nothing yet. */
struct clients_stream *clients_stream(struct clients *r, struct live_source *src);
/* Players and publisher, at all workers: as backends are told. */
unsigned clients_stream_total(const struct clients_stream *s);
/* Its home is at another worker. It counts as a replica while it is there, and in *count, too. */
void clients_stream_is_replica(struct clients_stream *s, atomic_uint *count);
/* What is in the file of that name. False: it is none, or nobody knows at the moment. */
bool clients_stream_file(const struct clients_stream *s, struct live_feed_info *out);
/* Bytes to players, those of a file as well. */
uint64_t clients_stream_out(const struct clients_stream *s, const struct live_source_stat *stat);
/* What one player of it takes, as far as that is known. */
int clients_stream_kbps(const struct clients_stream *s);
/* NULL: nobody was there yet. */
const struct clients_vhost *clients_vhost_find(const struct clients *r, const char *name);
/* A publisher is let into it. */
void clients_vhost_expect(struct clients *r, const char *name);
/* The id of "vhost/app/stream" or of a vhost: "vid-" and 7 characters. */
void clients_name_id(const struct clients *r, const char *name, char out[CLIENTS_NAME_ID_SIZE]);
/* "/app/stream" of the default vhost, else "vhost/app/stream": how others know a stream. Writes
 * to buf; returns it. */
const char *clients_url(const char *vhost, const char *app, const char *stream, char *buf,
                        size_t size);

/* Take the bit rates of streams and vhosts; every few seconds, or every second where a vhost is
 * bounded by them. Yields. */
void clients_sample(struct clients *r);

#endif
