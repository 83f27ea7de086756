/* SPDX-License-Identifier: MIT */
/* pack.h - playlists compressed once per change, for all players that accept gzip.
 *
 * A list that all get alike is compressed as it is. One whose URLs have the key of a session is
 * compressed once as well, with a hole for the key (proto/http/gzip.h): a player then costs a copy
 * of the compressed bytes. Who asks while a list is being compressed waits for that, since players
 * come together when a list has changed.
 *
 * An MPD has few places for what is a player's own: the pieces between them are compressed once,
 * and joined with the player's texts.
 */
#ifndef SERVE_HLS_PACK_H
#define SERVE_HLS_PACK_H

#include "format/playlist/mpd.h"
#include "sink/hls/hls.h"

enum {
    HLS_LIST_MOST = 4 << 20, /* bytes of a list with keys, or of one that is read from disk */
    HLS_PACK_MPD = 1 << 8,   /* instead of M3U8_URLS_*: it is an MPD */
};

/* The compressed form of a list, borrowed from the file, which the caller has a reference of.
 * `urls`: M3U8_URLS_*, which of its URLs have the session's key; 0: none have; or HLS_PACK_MPD.
 * *out is NULL where it is to be sent as it is. Yields. */
err_t hls_pack_get(struct hls_file *f, unsigned urls, const struct hls_pack **out)
    __attribute__((warn_unused_result));

/* The list with a session's key in those URLs, not compressed. */
void hls_pack_key(struct wr *w, const struct hls_file *f, unsigned urls, const char *key);

/* An MPD for one player, out of its compressed form. */
void hls_pack_personal(struct wr *w, const struct hls_pack *p, const struct mpd_personal *own);

#endif
