/* SPDX-License-Identifier: MIT */
/* protocol.h - endpoints and checks of a protocol in the configuration. Its directives are
 * conf_table_ID_server and conf_table_vhost_ID (conf/table.h).
 */
#ifndef CONF_PROTOCOL_H
#define CONF_PROTOCOL_H

#include "conf/conf.h"
#include "conf/protocols.h"

struct conf_ctx;

/* Offset of a missing field. For enabled: always on; for tls: plain. */
#define CONF_NOWHERE SIZE_MAX

enum conf_served_flag {
    CONF_SERVED_UDP = 1,      /* UDP; otherwise TCP */
    CONF_SERVED_FIRST = 2,    /* only on the first worker */
    CONF_SERVED_RESERVE = 4,  /* its clients may use limits.api_reserve */
    CONF_SERVED_NO_PROXY = 8, /* its `listen` does not support proxy_protocol */
};

/* Address for clients, shown in the log. [host] includes the port if it is not the usual one. [api]
 * is the host of the API; without an API the address is not shown. [query], [more] ("&vhost=") and
 * [h] name the vhost if it is not the default one. */
struct conf_address {
    const char *use;       /* "publish, play" */
    const char *format;    /* "rtsp://[host]/live/livestream[query]" */
};

/* One `listen` directive. */
struct conf_served {
    const char *name;      /* "rtsps": in the log and in reports of --doctor */
    const char *text;      /* "RTSPS": in the log */
    const char *listens;   /* "rtsp_server.https.listen" */
    const char *console;   /* name of its port in the console; NULL: not shown */
    const char *heartbeat; /* name of its port in heartbeats; NULL: not sent */
    enum protocol_id speaks; /* endpoints with equal protocol and TLS may share a port */
    unsigned flags;
    size_t enabled, also;  /* offsets of bools in struct conf that must both be true */
    size_t listen;         /* struct conf_endpoints */
    size_t tls;            /* struct conf_tls; CONF_NOWHERE: plain */
    struct conf_address addresses[2]; /* use NULL: unused entry */
    int usual;             /* default port, omitted in addresses */
};

/* Endpoints of HTTP; handlers check which one a request came from. */
enum { CONF_HTTP_SERVER, CONF_HTTPS_SERVER, CONF_HTTP_API, CONF_HTTPS_API, CONF_HTTP_EXPORTER,
       CONF_HTTP_SERVED };

struct conf_protocol {
    const char *name;      /* "rtsp" */
    const struct conf_served *served;
    size_t n_served;
    size_t vhost;          /* offset of `enabled` in struct conf_vhost; CONF_NOWHERE: on */
    size_t max, max_ip;    /* offsets of ints: maximum clients, and of one address; CONF_NOWHERE:
                            * no limits of its own */
    int ip_most;           /* upper bound for the default of max_ip, which is half of max */
    /* Returns the number of further UDP ports for this number of workers, from *first on. *remedy:
     * advice if one is in use. NULL: no further ports. */
    unsigned (*ports)(const struct conf *c, unsigned workers, int *first, const char **remedy);
    /* Checks beyond those of the rows; may be NULL. */
    err_t (*check)(const struct conf *c);
    err_t (*check_vhost)(const struct conf_vhost *v);
    void (*resolve)(struct conf *c); /* computes values that depend on others */
    void (*warn)(const struct conf *c, const struct conf_ctx *ctx);
    /* True if the block in a vhost, or the server block, works without the other. NULL: false */
    bool (*vhost_alone)(const struct conf_vhost *v);
    bool (*server_alone)(const struct conf *c);
};

/* Offset of a field, for rows in conf/protocol/. */
#define CONF_OF(field) offsetof(struct conf, field)

const struct conf_protocol *conf_protocol(enum protocol_id id);
bool conf_protocol_in(const struct conf_protocol *p, const struct conf_vhost *v);
/* Maximum number of clients; 0: no limit of its own. */
int conf_protocol_max(const struct conf_protocol *p, const struct conf *c);
bool conf_served_is_on(const struct conf_served *s, const struct conf *c);
const struct conf_endpoints *conf_served_listen(const struct conf_served *s, const struct conf *c);
const struct conf_tls *conf_served_tls(const struct conf_served *s, const struct conf *c);
/* First port; 0: the endpoint is off. */
int conf_served_port(const struct conf_served *s, const struct conf *c);
bool conf_served_share(const struct conf_served *a, const struct conf_served *b);
/* Iterates over all endpoints: pass NULL to start; returns NULL at the end. */
const struct conf_served *conf_served_next(const struct conf_served *s, enum protocol_id *id);

/* Run the functions of all protocols, for check.c and load.c. */
err_t conf_protocols_check(const struct conf *c) __attribute__((warn_unused_result));
err_t conf_protocols_check_vhost(const struct conf_vhost *v) __attribute__((warn_unused_result));
void conf_protocols_resolve(struct conf *c);
void conf_protocols_warn(const struct conf *c, const struct conf_ctx *ctx);

#endif
