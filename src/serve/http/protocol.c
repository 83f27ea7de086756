/* SPDX-License-Identifier: MIT */
/* protocol.c - HTTP as a row. */
#include "serve/protocol.h"
#include "serve/http/http.h"

const struct protocol protocol_http = {
    .id = PROTOCOL_HTTP, .accept = http_accept,
};
