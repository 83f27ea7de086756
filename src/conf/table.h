/* SPDX-License-Identifier: MIT */
/* table.h - tables of directives.
 *
 * A row defines everything about a directive: name, kind, default, field, limits, words,
 * environment variables, effect of a reload, and help text. Parsing, defaults, environment, checks,
 * reload, conf/full.conf and doc/config.md all use these rows, starting at conf_table_root. A new
 * directive needs a field in settings.h and a row here.
 */
#ifndef CONF_TABLE_H
#define CONF_TABLE_H

#include "conf/conf.h"
#include "conf/protocols.h"

enum conf_kind {
    CONF_KIND_ON,        /* bool that is true unless the text is `off` */
    CONF_KIND_OFF,       /* bool that is false unless the text is `on` */
    CONF_KIND_TRI,       /* enum conf_tri: on, off, or not given */
    CONF_KIND_INT,       /* int */
    CONF_KIND_INT_AUTO,  /* the same, or the word `auto` */
    CONF_KIND_SIZE,      /* int64_t bytes: 65536, 64k, 16m, 1g */
    CONF_KIND_FLOAT,     /* double */
    CONF_KIND_SECONDS,   /* int64_t microseconds, written in seconds: 10, 0.5 */
    CONF_KIND_MSEC,      /* int64_t microseconds, written in milliseconds */
    CONF_KIND_MSEC_AUTO, /* the same, or the word `auto` */
    CONF_KIND_STRING,    /* const char * */
    CONF_KIND_ENUM,      /* an enum: index into words */
    CONF_KIND_LIST,      /* struct conf_list: the words of one line */
    CONF_KIND_CANDIDATE, /* the same; $NAME is replaced by the environment variable */
    CONF_KIND_LISTEN,    /* struct conf_endpoints: [ip:]port [proxy_protocol] ... */
    CONF_KIND_HOSTS,     /* struct conf_endpoints: host[:port] ...; default port in the row */
    CONF_KIND_NETWORKS,  /* struct conf_networks: address[/bits] ..., or `none` */
    CONF_KIND_RULES,     /* struct conf_rules, one per line, repeatable */
    CONF_KIND_COMMANDS,  /* struct conf_commands, one per line, repeatable */
    CONF_KIND_PAIRS,     /* struct conf_pairs: a block of free names */
    CONF_KIND_BLOCK,     /* the struct of row->block */
    CONF_KIND_BLOCKS,    /* { const struct x *v; size_t n; }, x begins with its name; repeatable */
    CONF_KIND_OBSOLETE,  /* accepted with any content; no effect, no field */
    CONF_KINDS,
};

enum conf_flag {
    CONF_NOT_APPLIED  = 1,  /* parsed, but not implemented */
    CONF_NO_ENV = 2,  /* not settable by environment; for a block: all of it */
    CONF_CLAMP  = 4,  /* out of range: uses the nearest limit, with a warning */
    CONF_RESET  = 8,  /* out of range: uses the default, with a warning */
    CONF_ONCE   = 16, /* a duplicate is an error instead of a warning */
    CONF_NAMED  = 32, /* BLOCKS: the name is required */
    CONF_QUIET  = 64, /* OBSOLETE: no warning; NOT_APPLIED: no warning for the environment */
    CONF_PROXY  = 128, /* LISTEN: proxy_protocol may follow an endpoint */
    CONF_SECRET = 256, /* its value is not logged on reload */
};

struct conf_row {
    const char *name;
    enum conf_kind kind;
    size_t offset, size; /* the field, from CONF_AT() */
    const char *def;     /* in the syntax of the file; NULL: none */
    enum conf_reload reload;
    unsigned flags;      /* enum conf_flag */
    double min, max;     /* in the unit of the file; both 0: no limits */
    int port;            /* HOSTS: default port */
    const char *const *words;      /* ENUM: NULL-terminated */
    const char *env;               /* NULL: SRS_ and the path; else names, the first set wins */
    const struct conf_block *block;
    const char *sample;            /* value in conf/full.conf instead of the default */
    const char *def_note;          /* description of a computed default */
    const char *help;              /* effect, unit, special values, when to change it */
};

struct conf_block {
    const struct conf_row *rows;
    size_t n;
    size_t size; /* bytes of its struct */
    const char *help;
};

#define CONF_AT(type, field) \
    .offset = offsetof(struct type, field), .size = sizeof(((struct type *)0)->field)
#define CONF_BLOCK_OF(type, table, text) \
    { .rows = (table), .n = sizeof(table) / sizeof((table)[0]), .size = sizeof(struct type), \
      .help = (text) }

/* The blocks; a file has one or several of them. */
extern const struct conf_block conf_table_root;
extern const struct conf_block conf_table_vhost;

/* process and peers */
extern const struct conf_block conf_table_rtmp, conf_table_rtmps, conf_table_limits;
extern const struct conf_block conf_table_certificate;
extern const struct conf_block conf_table_heartbeat, conf_table_stats, conf_table_exporter;
extern const struct conf_block conf_table_circuit_breaker;
/* servers */
extern const struct conf_block conf_table_http_api, conf_table_http_server;
extern const struct conf_block conf_table_stream_caster;
#define XX(ID, id) extern const struct conf_block conf_table_##id##_server, conf_table_vhost_##id;
PROTOCOL_SERVER_LIST(XX)
#undef XX
/* in a vhost */
extern const struct conf_block conf_table_play, conf_table_publish, conf_table_cluster;
extern const struct conf_block conf_table_forward, conf_table_refer, conf_table_security;
extern const struct conf_block conf_table_bandwidth, conf_table_token;
extern const struct conf_block conf_table_http_static, conf_table_http_remux;
extern const struct conf_block conf_table_http_hooks, conf_table_exec;
extern const struct conf_block conf_table_hls, conf_table_dash, conf_table_hds, conf_table_dvr;
extern const struct conf_block conf_table_ingest, conf_table_transcode;
extern const struct conf_block conf_table_vod;

/* Only forward secrecy and authenticated encryption; the cheapest cipher first. */
#define CONF_TLS_CIPHERS \
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:" \
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
#define CONF_TLS_PROTOCOLS "TLSv1.2 TLSv1.3"
/* Rows that every block of struct conf_tls has. */
#define CONF_TLS_ROWS \
    { "key", CONF_KIND_STRING, CONF_AT(conf_tls, key), "./conf/server.key", CONF_HANDLER, \
      .help = "PEM file of the private key." }, \
    { "cert", CONF_KIND_STRING, CONF_AT(conf_tls, cert), "./conf/server.crt", CONF_HANDLER, \
      .help = "PEM file of the certificate with its intermediates. The server reloads a file " \
              "that changes." }, \
    { "ssl_protocols", CONF_KIND_LIST, CONF_AT(conf_tls, protocols), CONF_TLS_PROTOCOLS, \
      CONF_HANDLER, .help = "TLS versions: TLSv1.2, TLSv1.3." }, \
    { "ssl_ciphers", CONF_KIND_STRING, CONF_AT(conf_tls, ciphers), CONF_TLS_CIPHERS, \
      CONF_HANDLER, \
      .help = "Ciphers of TLS 1.2 in OpenSSL's syntax, as in nginx. The first one that the " \
              "client supports is used. Change it for old clients. TLS 1.3 has its own, " \
              "AES-128-GCM first." }, \
    { "ssl_own_records", CONF_KIND_ON, CONF_AT(conf_tls, own_records), "on", CONF_HANDLER, \
      .help = "The server encrypts and decrypts TLS 1.3 records itself after OpenSSL's " \
              "handshake, which saves CPU and memory for each player. off: OpenSSL does it." }
#define CONF_TLS_CERTIFICATES \
    { "certificate", CONF_KIND_BLOCKS, CONF_AT(conf_tls, certificate), .flags = CONF_NO_ENV | \
      CONF_NAMED, .sample = "example.com", .block = &conf_table_certificate }

/* Shared by several tables. */
extern const char *const conf_words_jitter[];

const struct conf_row *conf_table_find(const struct conf_block *b, const char *name, size_t size);
/* Returns the most similar name in the block or below it ("play.gop_cache"), or "" if none is
 * similar enough. Writes to buf. */
const char *conf_table_nearest(const struct conf_block *b, const char *name, char *buf,
                               size_t size);
/* Returns the edit distance of two names. Compares the first 64 characters. */
int conf_table_distance(const char *a, const char *b);
/* Returns the block to which a name belongs, such as "vhost.play", or NULL. Writes to buf. */
const char *conf_table_elsewhere(const char *name, char *buf, size_t size);
/* Returns the environment variables of a row in the block at path, separated by spaces, or "". */
const char *conf_row_env(const struct conf_row *row, const char *path, char *buf, size_t size);
bool conf_row_is_block(const struct conf_row *row); /* has { } */
bool conf_row_repeats(const struct conf_row *row);

#endif
