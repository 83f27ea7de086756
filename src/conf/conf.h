/* SPDX-License-Identifier: MIT */
/* conf.h - load a configuration, ask it, and change to a new one.
 *
 * A struct conf (settings.h) is a snapshot: immutable, reference-counted, complete. A connection
 * takes a reference when it begins and reads typed fields; a reload makes another snapshot. What
 * directives exist, their defaults, limits and texts is known to the tables (table.h) alone.
 * Nothing here yields.
 */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include "base/err.h"
#include "conf/settings.h"

/* Where a configuration comes from. Zero is a good start; only what differs need be set. */
struct conf_source {
    const char *path; /* the file; NULL: environment only, as `-e` */
    /* Give the whole file as malloc'ed text that the caller frees. NULL: conf_read_file. */
    err_t (*read)(void *arg, const char *path, char **text, size_t *size);
    /* NULL: getenv. Whoever wants no environment gives a function that returns NULL. */
    const char *(*getenv)(void *arg, const char *name);
    void *arg;             /* for both */
    const char *const *environment; /* "NAME=value", NULL at the end: looked at for names that are
                                     * no settings. NULL: environ; none with a getenv */
    const char *folder;    /* where the program was started, absolute; NULL: programs that the
                            * file names are not looked for */
    long max_files;        /* descriptors the process may open; 0: not checked */
    int interfaces;        /* network interfaces there are; 0: not checked */
    bool allow_full;       /* `is_full on` is no reason to refuse */
};

/* Where warnings go: what is odd but no error: one line of text per call. */
struct conf_report {
    void (*warn)(void *arg, const char *text);
    void *arg;
};

/* Read, transform old spellings, check, resolve. *out has one reference; on error it is NULL and
 * the error (ERR_CONF, ERR_CONF_SYNTAX) says file, line and, for a wrong name, the nearest right
 * one. report may be NULL. */
err_t conf_load(struct conf **out, const struct conf_source *src,
                const struct conf_report *report) __attribute__((warn_unused_result));

/* Give the file's whole content as malloc'ed text: at most 4 MB. */
err_t conf_read_file(void *arg, const char *path, char **text, size_t *size)
    __attribute__((warn_unused_result));

struct conf *conf_ref(struct conf *c);
struct conf *conf_unref(struct conf *c); /* always NULL; c may be NULL */
long conf_live(void);                    /* snapshots alive: tests assert 0 */

/* The vhost of that name, else __defaultVhost__, else NULL: then access is denied. */
const struct conf_vhost *conf_vhost_find(const struct conf *c, const char *name);

/* Connections that one address may have: `per_address`, or else what suits. 0: no limit. */
int conf_per_address(const struct conf *c);
/* The same of the clients of a protocol that has a limit of its own. A private address has none
 * unless the directive is written or limit_private is on. */
int conf_protocol_per_address(const struct conf *c, enum protocol_id id, bool is_private);

/* May a client at this address (text of an IPv4 or IPv6) do it? NULL, or ERR_DENIED. What it must
 * show besides is not looked at: session/tokens.h. */
err_t conf_security_check(const struct conf_security *s, enum conf_action what, const char *ip)
    __attribute__((warn_unused_result));
/* Is this address, or the address of this text, in one of the networks? */
bool conf_networks_have(const struct conf_networks *networks, const uint8_t addr[16]);
bool conf_networks_have_text(const struct conf_networks *networks, const char *ip);
/* Must who does it to some stream of the vhost show a token or a key? */
bool conf_security_asks(const struct conf_security *s, enum conf_action what);
/* Is there anybody who may not do it in the vhost, or not without showing something? */
bool conf_security_limits(const struct conf_security *s, enum conf_action what);
/* Is this address one of those that need none? */
bool conf_security_excepts(const struct conf_security *s, enum conf_action what, const char *ip);
/* May a client that came from this page do it? NULL, or ERR_REFER_DENIED. */
err_t conf_refer_check(const struct conf_refer *r, enum conf_action what, const char *page_url)
    __attribute__((warn_unused_result));

/* ------------------------------------------------------------------ reload */

enum conf_reload {
    CONF_NEVER,   /* the old value stays until a restart */
    CONF_AT_ONCE, /* whoever reads the new snapshot has it: no code is needed */
    CONF_HANDLER, /* the program must do something */
};

enum conf_change_kind { CONF_CHANGED, CONF_ADDED, CONF_REMOVED };

/* One difference. The texts are as one would write them in the file; all of it is valid during
 * the call only. */
struct conf_change {
    enum conf_change_kind kind; /* ADDED and REMOVED are of named blocks: vhosts, ingests, ... */
    enum conf_reload reload;
    const char *path;           /* "max_connections", "vhost[a.b].play.mw_latency", "vhost[x]" */
    const char *vhost;          /* the vhost it is in, or NULL */
    const char *old_text, *new_text;
};

struct conf_changes {
    void (*change)(void *arg, const struct conf_change *change);
    void *arg;
};

/* Tell every difference, in the order of the tables. Returns how many. */
size_t conf_diff(const struct conf *old, const struct conf *new, const struct conf_changes *to);

/* All of a reload but what the program must do itself: load as conf_load, tell the changes, and
 * in the new snapshot keep the old value of everything that needs a restart. On error nothing is
 * told and the old snapshot is as it was. */
err_t conf_reload(struct conf **out, const struct conf *old, const struct conf_source *src,
                  const struct conf_report *report, const struct conf_changes *to)
    __attribute__((warn_unused_result));

#endif
