/* SPDX-License-Identifier: MIT */
/* muxer.h - frames to segments, parts and what they share. */
#ifndef SINK_HLS_SEGMENT_MUXER_H
#define SINK_HLS_SEGMENT_MUXER_H

#include "format/mp4/frag.h"
#include "format/ts/mux.h"
#include "sink/hls/format.h"
#include "sink/hls/list/list.h"
#include "sink/hls/segment/segmenter.h"

#include <openssl/evp.h>

enum { HLS_SEGMENT_MAX = 64 << 20 }; /* bytes: hls_most() */

/* AES-128 of the segment that grows: its bytes are encrypted up to `sealed`, which is at `at`. */
struct hls_crypt {
    EVP_CIPHER_CTX *cipher;
    size_t sealed;
    struct hls_seal { /* in blocks */
        struct block *block; /* NULL: at their begin */
        size_t at;
    } at;
    struct hls_shared *key;  /* NULL: to be made */
    unsigned used;           /* segments that have the key */
};

struct hls_muxer {
    struct hls_info *info;
    struct hls_store *store;
    struct hls_list *list;
    struct segmenter segmenter;
    int64_t segments_full_at, parts_full_at; /* base/pace.h: how fast they may be made */
    struct ts_mux ts;
    struct mp4_frag mp4;
    bool begun;              /* it has the configuration of the publisher */
    co_usec began_at;        /* its publisher */
    unsigned bad;            /* frames that were left out */
    bool logged_codec[2];

    uint64_t next_seq;
    struct hls_segment *now; /* that grows, with all but its duration; NULL: there is none */
    struct blocks out;       /* its bytes */
    struct hls_crypt crypt;
    struct hls_shared *init; /* NULL: to be made */
    struct hls_shared *last_init;
    struct hls_shared *track_init[2]; /* DASH */
    char *hint;              /* path of the part to come */
};

/* cut.c: frames to segments */
void hls_frame(struct hls_muxer *m, struct frame *f);

/* segment.c */
void hls_muxer_init(struct hls_muxer *m);    /* info, store and list are there */
void hls_muxer_restart(struct hls_muxer *m); /* another publisher */
void hls_muxer_clear(struct hls_muxer *m);   /* it has no file any more */
void hls_muxer_fini(struct hls_muxer *m);
void hls_segment_open(struct hls_muxer *m, const struct frame *f);
void hls_segment_close(struct hls_muxer *m, int64_t end);
void hls_segment_drop(struct hls_muxer *m); /* the one that grows */
/* All that was written to m->out is the segment that is open: name it, and fill it. False: it is
 * nothing. */
bool hls_segment_whole(struct hls_muxer *m, int64_t end);
struct hls_numbers hls_segment_numbers(const struct hls_muxer *m);

/* parts.c */
void hls_part_end(struct hls_muxer *m, int64_t end); /* and it may be in a list */
void hls_part_add(struct hls_muxer *m, int64_t end, size_t from); /* m->out from there on */
void hls_part_hint(struct hls_muxer *m, uint64_t seq, size_t part); /* that comes next */
void hls_part_no_hint(struct hls_muxer *m);

/* crypt.c */
void hls_key_next(struct hls_muxer *m);   /* a key for the segment that opens, new or not */
void hls_seal(struct hls_muxer *m);       /* encrypt what came; whole blocks only */
void hls_seal_end(struct hls_muxer *m);

/* container_mp4.c: of all containers of MP4 */
const char *hls_mp4_file(const struct conf_hls *set);
bool hls_mp4_is_begun(const struct hls_muxer *m, const struct mp4_part *track);
err_t hls_mp4_add(struct hls_muxer *m, const struct frame *f) __attribute__((warn_unused_result));

#endif
