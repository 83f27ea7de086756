/* SPDX-License-Identifier: MIT */
/* endpoint.h - parses addresses. */
#ifndef CONF_ENDPOINT_H
#define CONF_ENDPOINT_H

#include "base/err.h"
#include "conf/arena.h"

/* Parses an endpoint to listen on: "1935", "1.2.3.4:1935", "[::1]:1935". */
err_t conf_endpoint_listen(struct conf_arena *a, const char *text, struct conf_endpoint *out)
    __attribute__((warn_unused_result));
/* Parses a server to connect to: "host", "host:port", "[::1]:port", "::1", or a URL with rtmp://,
 * rtmps://, rtsp://, rtsps:// or srt://, with or without a path. Errors contain no secret. */
err_t conf_endpoint_host(struct conf_arena *a, const char *text, int default_port,
                         struct conf_endpoint *out) __attribute__((warn_unused_result));

/* Parses an IPv4 or IPv6 address to 16 bytes (IPv4 mapped). Ignores a zone (%eth0). */
bool conf_address_parse(const char *text, size_t size, uint8_t addr[16], bool *is_v4);
/* Parses "publish all", "play 10.0.0.0/8", "play ::1". */
err_t conf_rule_parse(struct conf_arena *a, const struct conf_list *words, struct conf_rule *out)
    __attribute__((warn_unused_result));

/* Parses `all`, an address, or address/bits. */
err_t conf_network_parse(struct conf_arena *a, const char *text, struct conf_network *out)
    __attribute__((warn_unused_result));

#endif
