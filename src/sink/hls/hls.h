/* SPDX-License-Identifier: MIT */
/* hls.h - HLS and MPEG-DASH: segments and playlists of streams, on disk and in memory.
 *
 * Each published stream of a vhost with `hls` has a coroutine that reads the stream's packets,
 * muxes them and cuts segments; helper threads write the files (disk.h). Memory holds files that
 * are not on disk yet, all playlists, and with low latency the newest segments and parts. They are
 * found by their path on disk: the HTTP server looks here before it reads a file.
 *
 * A stream's HLS outlives its publisher: a publisher that returns continues the playlist.
 *
 * `dash` works in the same way, with fragmented MP4 files of one track each and an MPD as playlist.
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

/* A file in memory; its content is immutable. */
struct hls_file {
    struct ref ref;
    size_t size;
    const char *type;    /* content type */
    int64_t modified;    /* ms since 1970 */
    uint64_t etag;       /* differs if the bytes differ */
    bool playlist;       /* it changes, so players request it repeatedly */
    uint8_t *data;       /* NULL: the content is in blocks */
    struct blocks blocks;
    struct block_cache *cache; /* where the blocks return to; NULL: there are none */
    struct hls_pack *packs[2]; /* a playlist compressed, without and with space for a player's
                                * session key; created on request (serve/hls/pack.h) */
};

/* A compressed playlist. */
struct hls_pack {
    uint8_t *data;                /* NULL: not compressed yet, or failed */
    size_t size;
    struct http_gzip_keyed keyed; /* .size 0: no space for a key */
    struct http_gzip_piece *pieces; /* pieces of an MPD; NULL: it is in one piece */
    size_t n_pieces;
    unsigned urls;                /* M3U8_URLS_*: the URLs that contain the session key */
    bool busy, done;              /* being compressed; compressed or failed */
    struct hls_pack_waiter *waiters;
};

/* Its start() removes files of an earlier process after hls_dispose. */
extern const struct sink_ops hls_sink;
struct hls *hls_of(struct sink *sink); /* `sink` is of this row */

/* Finds the file at a path such as "./objs/nginx/html/live/s.m3u8", with a reference for the
 * caller. NULL: not in memory, look on the disk. */
struct hls_file *hls_find(struct hls *h, const char *path);
/* The same for a player that already has the playlist: segments far from the end may be omitted. */
struct hls_file *hls_find_update(struct hls *h, const char *path);
struct hls_file *hls_file_unref(struct hls_file *f); /* always NULL; NULL is fine */

/* Low latency: waits up to `timeout` until the playlist has the segment (and the part, unless below
 * 0; a part after the segment's last is the first of the next segment), or the publisher leaves or
 * returns. Then call hls_find(). ERR_MALFORMED: the request is far ahead of the stream;
 * ERR_IO_TIMEOUT; ERR_STREAM_END: the playlist does not exist (any more). Yields. */
err_t hls_wait(struct hls *h, const char *path, uint64_t segment, int part, co_usec timeout)
    __attribute__((warn_unused_result));
/* Waits until the file named by a preload hint exists. */
err_t hls_wait_file(struct hls *h, const char *path, co_usec timeout)
    __attribute__((warn_unused_result));

/* The entry of a stream in a master playlist. Returns false if there is no playlist at that path.
 * */
struct hls_variant {
    unsigned bandwidth;   /* bit/s, measured */
    char codecs[100];     /* RFC 6381; "" if unknown */
    uint32_t width, height;
};
bool hls_variant(struct hls *h, const char *path, struct hls_variant *out);

#endif
