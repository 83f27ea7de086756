/* SPDX-License-Identifier: MIT */
/* env.h - a server in memory: everything that a conversation needs. */
#ifndef ENV_H
#define ENV_H

#include "conf_mem.h"
#include "session/env.h"

/* The streams published in it. */
struct env_published {
    unsigned begun, ended;
    char stream[96];         /* the last one: "vhost/app/name" */
    struct live_source *src; /* the same, while it is published */
};

/* A server of this configuration, with a registry of streams, clients, and counted publishers: it
 * is "us" version "1", server "vid-1", run "run". The test sets everything else. */
struct session_env *env_new(const char *conf);
struct session_env *env_new_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
const struct env_published *env_published(const struct session_env *env);
void env_reload(struct session_env *env, const char *conf);
/* All clients are gone, and nothing of it is left; it is NULL then. */
void env_free(struct session_env **env);

#endif
