/* SPDX-License-Identifier: MIT */
/* muxer.h - turns frames into segments, parts, and the files that they share. */
#ifndef SINK_HLS_SEGMENT_MUXER_H
#define SINK_HLS_SEGMENT_MUXER_H

#include "format/mp4/frag.h"
#include "format/ts/mux.h"
#include "sink/hls/format.h"
#include "sink/hls/list/list.h"
#include "sink/hls/segment/segmenter.h"

#include <openssl/evp.h>

enum { HLS_SEGMENT_MAX = 64 << 20 }; /* bytes, see hls_most() */

/* AES-128 of the growing segment: its bytes are encrypted up to `sealed`, at position `at`. */
struct hls_crypt {
    EVP_CIPHER_CTX *cipher;
    size_t sealed;
    struct hls_seal { /* a position in the blocks */
        struct block *block; /* NULL: at the start */
        size_t at;
    } at;
    struct hls_shared *key;  /* NULL: not created yet */
    unsigned used;           /* number of segments with this key */
};

struct hls_muxer {
    struct hls_info *info;
    struct hls_store *store;
    struct hls_list *list;
    struct segmenter segmenter;
    int64_t segments_full_at, parts_full_at; /* rate limits, base/pace.h */
    struct ts_mux ts;
    struct mp4_frag mp4;
    bool begun;              /* it has the publisher's codec configurations */
    co_usec began_at;        /* when its publisher started */
    unsigned bad;            /* dropped invalid frames */
    bool logged_codec[2];

    uint64_t next_seq;
    struct hls_segment *now; /* the growing segment, without its duration; or NULL */
    struct blocks out;       /* its bytes */
    struct hls_crypt crypt;
    struct hls_shared *init; /* NULL: not created yet */
    struct hls_shared *last_init;
    struct hls_shared *track_init[2]; /* DASH */
    char *hint;              /* path of the next part */
};

/* cut.c */
void hls_frame(struct hls_muxer *m, struct frame *f);

/* segment.c */
void hls_muxer_init(struct hls_muxer *m);    /* info, store and list are set */
void hls_muxer_restart(struct hls_muxer *m); /* for another publisher */
void hls_muxer_clear(struct hls_muxer *m);   /* drops all files */
void hls_muxer_fini(struct hls_muxer *m);
void hls_segment_open(struct hls_muxer *m, const struct frame *f);
void hls_segment_close(struct hls_muxer *m, int64_t end);
void hls_segment_drop(struct hls_muxer *m); /* drops the growing segment */
/* Names the open segment and gives it the bytes of m->out. Returns false if it is empty. */
bool hls_segment_whole(struct hls_muxer *m, int64_t end);
struct hls_numbers hls_segment_numbers(const struct hls_muxer *m);

/* parts.c */
void hls_part_end(struct hls_muxer *m, int64_t end); /* ends a part and may list it */
void hls_part_add(struct hls_muxer *m, int64_t end, size_t from); /* bytes: m->out after `from` */
void hls_part_hint(struct hls_muxer *m, uint64_t seq, size_t part); /* announces the next part */
void hls_part_no_hint(struct hls_muxer *m);

/* crypt.c */
void hls_key_next(struct hls_muxer *m);   /* sets the key of the next segment, new or reused */
void hls_seal(struct hls_muxer *m);       /* encrypts new bytes, whole blocks only */
void hls_seal_end(struct hls_muxer *m);

/* container_mp4.c: shared by the MP4 containers */
const char *hls_mp4_file(const struct conf_hls *set);
bool hls_mp4_is_begun(const struct hls_muxer *m, const struct mp4_part *track);
err_t hls_mp4_add(struct hls_muxer *m, const struct frame *f) __attribute__((warn_unused_result));

#endif
