/* SPDX-License-Identifier: MIT */
/* hls.h - HLS and MPEG-DASH of the streams of a server: segments and playlists, on disk and in
 * memory.
 *
 * Each published stream of a vhost with `hls` has a coroutine that reads the stream's packets,
 * muxes them and cuts segments; files are written by helper threads (disk.h). Files not on disk
 * yet, all playlists, and with low latency the newest segments and parts, are in memory, found by
 * the path they have or will have on disk: an HTTP server of files asks here first.
 *
 * A stream's HLS outlives its publisher: one that comes back goes on with the same playlist.
 *
 * `dash` has the same for itself, with files of fragmented MP4 that hold one track each, as players
 * of DASH want them, and an MPD for a playlist.
 */
#ifndef SINK_HLS_HLS_H
#define SINK_HLS_HLS_H

#include "base/ref.h"
#include "proto/http/gzip.h"
#include "session/env.h"
#include "sink/sink.h"
#include "sink/store/disk.h"
#include "sink/store/block_cache.h"

struct hls; /* owned by the server */

/* A file in memory: what it says is immutable. */
struct hls_file {
    struct ref ref;
    size_t size;
    const char *type;    /* its content type */
    int64_t modified;    /* ms since 1970 */
    uint64_t etag;       /* another one for other bytes */
    bool playlist;       /* it changes: to be asked for again and again */
    uint8_t *data;       /* NULL: it is in blocks */
    struct blocks blocks;
    struct block_cache *cache;   /* where those go; NULL: there are none */
    struct hls_pack *packs[2]; /* of a list: the same by gzip, without and with places for what is
                                * a player's own, once somebody asked for it (serve/hls/pack.h) */
};

/* A list compressed. */
struct hls_pack {
    uint8_t *data;                /* NULL: it is not there yet, or could not be made */
    size_t size;
    struct http_gzip_keyed keyed; /* .size 0: there is no hole */
    struct http_gzip_piece *pieces; /* of an MPD; NULL: it is in one */
    size_t n_pieces;
    unsigned urls;                /* M3U8_URLS_*: those that have the key of a session */
    bool busy, done;              /* somebody compresses it, or has tried */
    struct hls_pack_waiter *waiters;
};

/* Its start() removes what an earlier server left on disk, after hls_dispose. */
extern const struct sink_ops hls_sink;
struct hls *hls_of(struct sink *sink); /* the sink that this row made */

/* The file at that path ("./objs/nginx/html/live/s.m3u8"), with a reference for the caller, or
 * NULL: not in memory, ask the disk. */
struct hls_file *hls_find(struct hls *h, const char *path);
/* The same of a playlist for a player that has it: what is far from the end may be left out. */
struct hls_file *hls_find_update(struct hls *h, const char *path);
struct hls_file *hls_file_unref(struct hls_file *f); /* always NULL; NULL is fine */

/* Low latency: wait until the playlist at that path has the segment (and the part, if not below
 * 0; one behind the segment's last is the first of the next segment), or the publisher goes or
 * comes, for at most `timeout`; then hls_find() it. ERR_MALFORMED: it is far ahead of the stream;
 * ERR_IO_TIMEOUT; ERR_STREAM_END: there is no such playlist (any more). Yields. */
err_t hls_wait(struct hls *h, const char *path, uint64_t segment, int part, co_usec timeout)
    __attribute__((warn_unused_result));
/* The same for a file that a preload hint named: waits until it is there. */
err_t hls_wait_file(struct hls *h, const char *path, co_usec timeout)
    __attribute__((warn_unused_result));

/* The entry of a stream in a master list. False: no playlist at that path. */
struct hls_variant {
    unsigned bandwidth;   /* bit/s, measured */
    char codecs[100];     /* RFC 6381; "" if not known */
    uint32_t width, height;
};
bool hls_variant(struct hls *h, const char *path, struct hls_variant *out);

#endif
