/* SPDX-License-Identifier: MIT */
/* table.h - directives as tables.
 *
 * A row is the only place that knows a directive: its name, kind, default, field, limits, words,
 * environment names, what a reload does with it, and the sentence that explains it. Parsing,
 * defaults, environment, checks, reload, conf/full.conf and doc/config.md all walk these rows, from
 * conf_table_root down; a new directive is a field in settings.h and a row here.
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
    CONF_KIND_CANDIDATE, /* the same; $NAME is replaced by what the environment has for it */
    CONF_KIND_LISTEN,    /* struct conf_endpoints: [ip:]port [proxy_protocol] ... */
    CONF_KIND_HOSTS,     /* struct conf_endpoints: host[:port] ..., the row has the default port */
    CONF_KIND_NETWORKS,  /* struct conf_networks: address[/bits] ..., or `none` */
    CONF_KIND_RULES,     /* struct conf_rules, one per line, repeatable */
    CONF_KIND_COMMANDS,  /* struct conf_commands, one per line, repeatable */
    CONF_KIND_PAIRS,     /* struct conf_pairs: a block of free names */
    CONF_KIND_BLOCK,     /* the struct of row->block */
    CONF_KIND_BLOCKS,    /* { const struct x *v; size_t n; }, x begins with its name; repeatable */
    CONF_KIND_RELIC,     /* accepted with whatever it says, has no effect, no field */
    CONF_KINDS,
};

enum conf_flag {
    CONF_NOT_APPLIED  = 1,  /* understood, but nothing applies it yet */
    CONF_NO_ENV = 2,  /* not from the environment; for a block: nothing in it */
    CONF_CLAMP  = 4,  /* out of limits: the nearest limit, and a warning */
    CONF_RESET  = 8,  /* out of limits: the default, and a warning */
    CONF_ONCE   = 16, /* a second one is an error, not merely ignored */
    CONF_NAMED  = 32, /* BLOCKS: the name is required */
    CONF_QUIET  = 64, /* RELIC: no warning; LATER: none of the environment */
    CONF_PROXY  = 128, /* LISTEN: an endpoint may have proxy_protocol behind it */
    CONF_SECRET = 256, /* a reload does not tell what it says */
};

struct conf_row {
    const char *name;
    enum conf_kind kind;
    size_t offset, size; /* the field: of AT() */
    const char *def;     /* as one would write it; NULL: none */
    enum conf_reload reload;
    unsigned flags;      /* enum conf_flag */
    double min, max;     /* in the unit that is written; both 0: no limits */
    int port;            /* HOSTS: when none is written */
    const char *const *words;      /* ENUM: NULL at the end */
    const char *env;               /* NULL: SRS_ and the path; else names, the first that is set */
    const struct conf_block *block;
    const char *sample;            /* what conf/full.conf shows instead of the default */
    const char *def_note;          /* the default in words, where it is computed */
    const char *help;              /* one sentence */
};

struct conf_block {
    const struct conf_row *rows;
    size_t n;
    size_t size; /* of its struct */
    const char *help;
};

#define CONF_AT(type, field) \
    .offset = offsetof(struct type, field), .size = sizeof(((struct type *)0)->field)
#define CONF_BLOCK_OF(type, table, text) \
    { .rows = (table), .n = sizeof(table) / sizeof((table)[0]), .size = sizeof(struct type), \
      .help = (text) }

/* The blocks, one file each or a few: what stands in the root, in a vhost, ... */
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

/* Forward secrecy and authenticated encryption; what costs least comes first and wins. */
#define CONF_TLS_CIPHERS \
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:" \
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
#define CONF_TLS_PROTOCOLS "TLSv1.2 TLSv1.3"
/* Rows of each block of struct conf_tls: its files, and what is spoken. */
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

/* Words that several tables share. */
extern const char *const conf_words_jitter[];

const struct conf_row *conf_table_find(const struct conf_block *b, const char *name, size_t size);
/* The name in the block or below it ("play.gop_cache") that is nearest to this wrong one; "" when
 * none is so near that it could be meant. */
const char *conf_table_nearest(const struct conf_block *b, const char *name, char *buf,
                               size_t size);
/* How many letters of a name must change, come or go to make it the other. Of longer names the
 * first 64 letters count. */
int conf_table_distance(const char *a, const char *b);
/* Where a name stands if not in this block: "vhost.play", or NULL. Writes to buf. */
const char *conf_table_elsewhere(const char *name, char *buf, size_t size);
/* The environment names of a row in the block at path, with spaces between; "" for none. */
const char *conf_row_env(const struct conf_row *row, const char *path, char *buf, size_t size);
bool conf_row_is_block(const struct conf_row *row); /* takes { } */
bool conf_row_repeats(const struct conf_row *row);

#endif
