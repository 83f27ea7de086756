/* SPDX-License-Identifier: MIT */
/* protocol.h - what the configuration knows of a protocol: its endpoints and its checks. Its
 * directives are conf_table_ID_server and conf_table_vhost_ID (conf/table.h).
 */
#ifndef CONF_PROTOCOL_H
#define CONF_PROTOCOL_H

#include "conf/conf.h"
#include "conf/protocols.h"

struct conf_ctx;

/* No such field: always on; plain. */
#define CONF_NOWHERE SIZE_MAX

enum conf_served_flag {
    CONF_SERVED_UDP = 1,      /* datagrams; else connections */
    CONF_SERVED_FIRST = 2,    /* by the first worker alone */
    CONF_SERVED_RESERVE = 4,  /* limits.api_reserve is for its clients */
    CONF_SERVED_NO_PROXY = 8, /* its `listen` takes no proxy_protocol */
};

/* An address that clients use, for the log: [host] has the port, if it is not the usual one, and
 * [api] is the host of the API, without which there is no such address; [query], [more] ("&vhost=")
 * and [h] say which vhost, if it is not the default one. */
struct conf_address {
    const char *use;       /* "publish, play" */
    const char *format;    /* "rtsp://[host]/live/livestream[query]" */
};

/* One `listen` directive. */
struct conf_served {
    const char *name;      /* "rtsps": in the log and in what the doctor reports */
    const char *text;      /* "RTSPS": in the log */
    const char *listens;   /* "rtsp_server.https.listen" */
    const char *console;   /* what the console knows its port by; NULL: it does not */
    const char *heartbeat; /* the same of a heartbeat */
    enum protocol_id speaks; /* who speaks the same, and has TLS or not alike, may share a port */
    unsigned flags;
    size_t enabled, also;  /* bools in struct conf that must be true */
    size_t listen;         /* struct conf_endpoints */
    size_t tls;            /* struct conf_tls; CONF_NOWHERE: plain */
    struct conf_address addresses[2]; /* use NULL: none */
    int usual;             /* the port that those need not say */
};

/* Those of HTTP, whose handlers ask which it was. */
enum { CONF_HTTP_SERVER, CONF_HTTPS_SERVER, CONF_HTTP_API, CONF_HTTPS_API, CONF_HTTP_EXPORTER,
       CONF_HTTP_SERVED };

struct conf_protocol {
    const char *name;      /* "rtsp" */
    const struct conf_served *served;
    size_t n_served;
    size_t vhost;          /* in struct conf_vhost, the bool that has it on; CONF_NOWHERE: always */
    size_t max, max_ip;    /* ints: clients at one time, and of one address; CONF_NOWHERE: no limits
                            * of its own */
    int ip_most;
    /* Ports of UDP beside its endpoints, from *first on, and what to do if one is taken; gives how
     * many for so many workers. NULL: none. */
    unsigned (*ports)(const struct conf *c, unsigned workers, int *first, const char **remedy);
    /* What no row of a table can say; NULL: nothing. */
    err_t (*check)(const struct conf *c);
    err_t (*check_vhost)(const struct conf_vhost *v);
    void (*resolve)(struct conf *c); /* values that follow from others */
    void (*warn)(const struct conf *c, const struct conf_ctx *ctx);
    /* Has its block in a vhost an effect without the server's, and the other way round? NULL: no */
    bool (*vhost_alone)(const struct conf_vhost *v);
    bool (*server_alone)(const struct conf *c);
};

/* Of a row in conf/protocol/: where a field is. */
#define CONF_OF(field) offsetof(struct conf, field)

const struct conf_protocol *conf_protocol(enum protocol_id id);
bool conf_protocol_in(const struct conf_protocol *p, const struct conf_vhost *v);
/* Clients at one time; 0: no limit of its own. */
int conf_protocol_max(const struct conf_protocol *p, const struct conf *c);
bool conf_served_is_on(const struct conf_served *s, const struct conf *c);
const struct conf_endpoints *conf_served_listen(const struct conf_served *s, const struct conf *c);
const struct conf_tls *conf_served_tls(const struct conf_served *s, const struct conf *c);
/* The first port; 0: it is off. */
int conf_served_port(const struct conf_served *s, const struct conf *c);
bool conf_served_share(const struct conf_served *a, const struct conf_served *b);
/* All of them, one after the other: NULL begins, and ends. */
const struct conf_served *conf_served_next(const struct conf_served *s, enum protocol_id *id);

/* What rows do not check; the blocks of server and vhost need each other. For check.c, load.c. */
err_t conf_protocols_check(const struct conf *c) __attribute__((warn_unused_result));
err_t conf_protocols_check_vhost(const struct conf_vhost *v) __attribute__((warn_unused_result));
void conf_protocols_resolve(struct conf *c);
void conf_protocols_warn(const struct conf *c, const struct conf_ctx *ctx);

#endif
