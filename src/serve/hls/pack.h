/* SPDX-License-Identifier: MIT */
/* pack.h - playlists compressed once per change, for all players that accept gzip.
 *
 * A playlist without session keys is compressed unchanged. One with session keys in its URLs is
 * also compressed once, with a gap for the key (proto/http/gzip.h), so a player costs one copy of
 * the compressed bytes. Players request a changed playlist at the same time; all of them wait for
 * one compression.
 *
 * An MPD has a few positions with text for one player: the pieces between them are compressed once
 * and joined with that text.
 */
#ifndef SERVE_HLS_PACK_H
#define SERVE_HLS_PACK_H

#include "format/playlist/mpd.h"
#include "sink/hls/hls.h"

enum {
    HLS_LIST_MAX = 4 << 20, /* largest playlist in bytes, with keys or read from disk */
    HLS_PACK_MPD = 1 << 8,  /* used instead of M3U8_URLS_*: the file is an MPD */
};

/* Gets the compressed form of a playlist; it lives as long as the caller's reference to the file.
 * `urls`: M3U8_URLS_*, the URLs that have the session's key (0: none), or HLS_PACK_MPD. *out is
 * NULL if the file must be sent uncompressed. Yields. */
err_t hls_pack_get(struct hls_file *f, unsigned urls, const struct hls_pack **out)
    __attribute__((warn_unused_result));

/* Writes the uncompressed playlist with a session's key in those URLs. */
void hls_pack_key(struct wr *w, const struct hls_file *f, unsigned urls, const char *key);

/* Writes the MPD of one player from its compressed form. */
void hls_pack_personal(struct wr *w, const struct hls_pack *p, const struct mpd_personal *own);

#endif
