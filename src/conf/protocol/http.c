/* SPDX-License-Identifier: MIT */
/* http.c - endpoints of HTTP: files and streams, API, metrics. */
#include "conf/protocol.h"

static const struct conf_served served[CONF_HTTP_SERVED] = {
    [CONF_HTTP_SERVER] = {
        "http", "HTTP", "http_server.listen", "http", "http", PROTOCOL_HTTP, 0,
        CONF_OF(http_server.enabled), CONF_NOWHERE,
        CONF_OF(http_server.listen), .tls = CONF_NOWHERE },
    [CONF_HTTPS_SERVER] = {
        "https", "HTTPS", "http_server.https.listen", "https", "https", PROTOCOL_HTTP, 0,
        CONF_OF(http_server.https.enabled), CONF_OF(http_server.enabled),
        CONF_OF(http_server.https.listen), .tls = CONF_OF(http_server.https) },
    [CONF_HTTP_API] = {
        "api", "HTTP API", "http_api.listen", "api", "api", PROTOCOL_HTTP,
        CONF_SERVED_FIRST | CONF_SERVED_RESERVE, CONF_OF(http_api.enabled), CONF_NOWHERE,
        CONF_OF(http_api.listen), .tls = CONF_NOWHERE },
    [CONF_HTTPS_API] = {
        "https api", "HTTPS API", "http_api.https.listen", "api_tls", NULL, PROTOCOL_HTTP,
        CONF_SERVED_FIRST | CONF_SERVED_RESERVE, CONF_OF(http_api.https.enabled),
        CONF_OF(http_api.enabled), CONF_OF(http_api.https.listen), .tls = CONF_OF(http_api.https) },
    [CONF_HTTP_EXPORTER] = {
        "exporter", "metrics", "exporter.listen", NULL, NULL, PROTOCOL_HTTP,
        CONF_SERVED_FIRST | CONF_SERVED_RESERVE, CONF_OF(exporter.enabled), CONF_NOWHERE,
        CONF_OF(exporter.listen), .tls = CONF_NOWHERE },
};

const struct conf_protocol conf_protocol_http = {
    .name = "http", .served = served, .n_served = CONF_HTTP_SERVED, .vhost = CONF_NOWHERE,
    .max = CONF_NOWHERE,
};
