/* SPDX-License-Identifier: MIT */
/* key_list.h - where the key frames of an FLV file are, as its metadata tell players: the object
 * `keyframes` of `filepositions` and `times`. No specification has it; all write and read it.
 *
 * A file that is being written does not know them yet. So its metadata end with a `keyframes` that
 * is undefined, and its tag has room behind their end, which no reader looks at. When the file is
 * complete, the list is written there, and last of all the bytes that make it part of the object:
 * at no time is the file another one than a player can read, and nothing of it moves. What is more
 * than there is room for is thinned: every second key frame goes, then every second of those.
 *
 * [AMF0] Action Message Format, AMF 0.
 */
#ifndef FORMAT_FLV_KEY_LIST_H
#define FORMAT_FLV_KEY_LIST_H

#include "base/wr.h"

enum {
    FLV_KEYS_MAX = 7200,  /* of one file */
    FLV_KEYS_APART = 500, /* ms; those that are nearer to the one before are left out */
    /* The value of `keyframes`, while it is undefined, and the end of the object around it. */
    FLV_KEYS_SWITCH = 4,
};

struct flv_key {
    uint64_t at; /* of its tag, in the file */
    uint32_t ms; /* of its tag */
};

struct flv_key_list {
    struct flv_key *v;
    size_t n, room;
    size_t max;           /* entries; fewer where there is no memory for more */
    unsigned every, skip; /* one of so many is kept; so many come before the next of them */
};

void flv_key_list_init(struct flv_key_list *l, size_t max);
void flv_key_list_free(struct flv_key_list *l);
/* The next one of the file. One that is before the last one in time is left out. */
void flv_key_list_add(struct flv_key_list *l, const struct flv_key *key);

/* Bytes behind the end of the metadata, for a list of so many. */
size_t flv_key_list_room(size_t max);
/* What stands in front of that room: FLV_KEYS_SWITCH bytes. */
extern const uint8_t flv_keys_undefined[FLV_KEYS_SWITCH];
/* What comes in the place of both, at most so large. False: there is nothing to list. */
bool flv_key_list_write(const struct flv_key_list *l, struct wr *w);

#endif
