/* SPDX-License-Identifier: MIT */
/* key_list.h - list of key frames in the metadata of an FLV file: the object `keyframes` with
 * `filepositions` and `times`. It is not in the specification but in common use.
 *
 * The list is unknown while a file is being written. Its metadata therefore end with an undefined
 * `keyframes`, and the tag has free space after them, which readers ignore. When the file is
 * complete, the list is written to that space, and then the bytes that make it part of the object.
 * Players can read the file at any time, and no other bytes move. If the space is too small, every
 * second key frame is removed, repeatedly if necessary.
 *
 * [AMF0] Action Message Format, AMF 0.
 */
#ifndef FORMAT_FLV_KEY_LIST_H
#define FORMAT_FLV_KEY_LIST_H

#include "base/wr.h"

enum {
    FLV_KEYS_MAX = 7200,  /* most entries in a file */
    FLV_KEYS_APART = 500, /* ms; smallest distance of two listed key frames */
    /* The value of `keyframes`, while it is undefined, and the end of the object around it. */
    FLV_KEYS_SWITCH = 4,
};

struct flv_key {
    uint64_t at; /* file offset of its tag */
    uint32_t ms; /* time of its tag */
};

struct flv_key_list {
    struct flv_key *v;
    size_t n, room;
    size_t max;           /* entries; fewer where there is no memory for more */
    unsigned every, skip; /* every n-th one is kept; number to skip before the next */
};

void flv_key_list_init(struct flv_key_list *l, size_t max);
void flv_key_list_free(struct flv_key_list *l);
/* Adds the next key frame of the file; ignores it if its time is before the last one's. */
void flv_key_list_add(struct flv_key_list *l, const struct flv_key *key);

/* Bytes to reserve after the metadata for a list of `max` entries. */
size_t flv_key_list_room(size_t max);
/* The FLV_KEYS_SWITCH bytes in front of that space. */
extern const uint8_t flv_keys_undefined[FLV_KEYS_SWITCH];
/* Writes the list that replaces both, at most as large as they are. False: the list is empty. */
bool flv_key_list_write(const struct flv_key_list *l, struct wr *w);

#endif
