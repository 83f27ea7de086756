/* SPDX-License-Identifier: MIT */
/* stream_key.c - the name of a stream. */
#include "session/stream_key.h"

#include "base/must.h"

#include <stdio.h>

/* One block of memory has the key, the path (which ends with the name), vhost and app. */
struct stream_key *stream_key_new(const char *vhost, const char *app, const char *name)
{
    size_t v = strlen(vhost), a = strlen(app), n = strlen(name);
    size_t path = v + a + n + 3;
    struct stream_key *key = must(malloc(sizeof(*key) + path + v + a + 2));
    char *text = (char *)(key + 1);

    ref_init(&key->ref);
    (void)snprintf(text, path, "%s/%s/%s", vhost, app, name);
    key->path = text;
    key->name = text + v + a + 2;
    key->vhost = memcpy(text + path, vhost, v + 1);
    key->app = memcpy(text + path + v + 1, app, a + 1);
    return key;
}

struct stream_key *stream_key_ref(struct stream_key *key)
{
    ref_get(&key->ref);
    return key;
}

struct stream_key *stream_key_unref(struct stream_key *key)
{
    if (key && ref_put(&key->ref))
        free(key);
    return NULL;
}
