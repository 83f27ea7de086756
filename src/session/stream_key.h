/* SPDX-License-Identifier: MIT */
/* stream_key.h - the name of a stream: immutable and reference counted. */
#ifndef SESSION_STREAM_KEY_H
#define SESSION_STREAM_KEY_H

#include "base/ref.h"

struct stream_key {
    struct ref ref;
    const char *vhost, *app, *name;
    const char *path; /* "vhost/app/name", the key in the registry of streams */
};

struct stream_key *stream_key_new(const char *vhost, const char *app, const char *name);
struct stream_key *stream_key_ref(struct stream_key *key);
struct stream_key *stream_key_unref(struct stream_key *key); /* always NULL; NULL is fine */

#endif
