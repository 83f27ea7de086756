/* SPDX-License-Identifier: MIT */
/* env.h - a server in memory: what each conversation needs of one. */
#ifndef ENV_H
#define ENV_H

#include "conf_mem.h"
#include "session/env.h"

/* The streams that are published in it. */
struct env_published {
    unsigned begun, ended;
    char stream[96];         /* the last one: "vhost/app/name" */
    struct live_source *src; /* the same, while it is published */
};

/* A server of this configuration, with a registry of streams, clients, and publishers that are counted: it
 * is "us" version "1", server "vid-1", run "run". Whatever else it is to have, the test sets. */
struct session_env *env_new(const char *conf);
struct session_env *env_new_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
const struct env_published *env_published(const struct session_env *env);
void env_reload(struct session_env *env, const char *conf);
/* Nobody plays and publishes any more, and nothing of it is left; it is NULL then. */
void env_free(struct session_env **env);

#endif
