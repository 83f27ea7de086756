/* SPDX-License-Identifier: MIT */
/* conf.h - load, query and reload a configuration.
 *
 * A struct conf (settings.h) is a snapshot: immutable, reference-counted, complete. A connection
 * takes a reference when it starts and reads typed fields. A reload creates another snapshot. The
 * tables (table.h) define all directives, with defaults, limits and texts.
 * Nothing here yields.
 */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include "base/err.h"
#include "conf/settings.h"

/* Source of a configuration. Zero-initialize it and set the fields that differ. */
struct conf_source {
    const char *path; /* the file; NULL: environment only (`-e`) */
    /* Returns the whole file as malloc'ed text that the caller frees. NULL: conf_read_file. */
    err_t (*read)(void *arg, const char *path, char **text, size_t *size);
    /* NULL: getenv. For no environment pass a function that returns NULL. */
    const char *(*getenv)(void *arg, const char *name);
    void *arg;             /* for read and getenv */
    const char *const *environment; /* "NAME=value", NULL-terminated: checked for unknown names.
                                     * NULL: environ, or nothing if getenv is set */
    const char *folder;    /* absolute folder in which the program started; NULL: does not check
                            * that programs in the file exist */
    long max_files;        /* descriptors the process may open; 0: not checked */
    int interfaces;        /* number of network interfaces; 0: not checked */
    bool allow_full;       /* accept `is_full on` */
};

/* Receives warnings, one line of text per call. */
struct conf_report {
    void (*warn)(void *arg, const char *text);
    void *arg;
};

/* Reads, converts old spellings, checks and resolves a configuration. *out has one reference. On
 * error *out is NULL, and the error (ERR_CONF, ERR_CONF_SYNTAX) contains file, line and, for an
 * unknown name, the most similar one. report may be NULL. */
err_t conf_load(struct conf **out, const struct conf_source *src,
                const struct conf_report *report) __attribute__((warn_unused_result));

/* Returns the content of a file as malloc'ed text, at most 4 MB. */
err_t conf_read_file(void *arg, const char *path, char **text, size_t *size)
    __attribute__((warn_unused_result));

struct conf *conf_ref(struct conf *c);
struct conf *conf_unref(struct conf *c); /* returns NULL; c may be NULL */
long conf_live(void);                    /* number of snapshots; tests assert 0 */

/* Returns the vhost of this name, or __defaultVhost__, or NULL: then access is denied. */
const struct conf_vhost *conf_vhost_find(const struct conf *c, const char *name);

/* Maximum connections of one address: `per_address` or its default. 0: no limit. */
int conf_per_address(const struct conf *c);
/* Maximum clients of one address for a protocol with its own limit. A private address has no limit
 * unless the directive is set or limit_private is on. */
int conf_protocol_per_address(const struct conf *c, enum protocol_id id, bool is_private);

/* Checks the rules for a client address (IPv4 or IPv6 text). Returns NULL or ERR_DENIED. Tokens and
 * keys are checked by session/tokens.h. */
err_t conf_security_check(const struct conf_security *s, enum conf_action what, const char *ip)
    __attribute__((warn_unused_result));
/* Returns true if the address is in one of the networks. */
bool conf_networks_have(const struct conf_networks *networks, const uint8_t addr[16]);
bool conf_networks_have_text(const struct conf_networks *networks, const char *ip);
/* Returns true if some stream of the vhost requires a token or key for this action. */
bool conf_security_needs_token(const struct conf_security *s, enum conf_action what);
/* Returns true if the vhost restricts this action in any way. */
bool conf_security_restricts(const struct conf_security *s, enum conf_action what);
/* Returns true if `except` exempts this address from tokens and keys. */
bool conf_security_exempts(const struct conf_security *s, enum conf_action what, const char *ip);
/* Checks the rules for the page that a client comes from. Returns NULL or ERR_REFER_DENIED. */
err_t conf_refer_check(const struct conf_refer *r, enum conf_action what, const char *page_url)
    __attribute__((warn_unused_result));

/* ------------------------------------------------------------------ reload */

enum conf_reload {
    CONF_NEVER,   /* the old value stays until a restart */
    CONF_AT_ONCE, /* applies to readers of the new snapshot, without further code */
    CONF_HANDLER, /* the program must apply it */
};

enum conf_change_kind { CONF_CHANGED, CONF_ADDED, CONF_REMOVED };

/* One difference. Texts have the syntax of the file. Valid only during the call. */
struct conf_change {
    enum conf_change_kind kind; /* ADDED, REMOVED: only named blocks (vhosts, ingests, ...) */
    enum conf_reload reload;
    const char *path;           /* "max_connections", "vhost[a.b].play.mw_latency", "vhost[x]" */
    const char *vhost;          /* its vhost, or NULL */
    const char *old_text, *new_text;
};

struct conf_changes {
    void (*change)(void *arg, const struct conf_change *change);
    void *arg;
};

/* Reports every difference, in the order of the tables. Returns their number. */
size_t conf_diff(const struct conf *old, const struct conf *new, const struct conf_changes *to);

/* Loads a new snapshot like conf_load, reports the changes, and keeps the old values that need a
 * restart. The program applies the other changes. On error nothing is reported and the old snapshot
 * is unchanged. */
err_t conf_reload(struct conf **out, const struct conf *old, const struct conf_source *src,
                  const struct conf_report *report, const struct conf_changes *to)
    __attribute__((warn_unused_result));

#endif
