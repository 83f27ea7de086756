/* SPDX-License-Identifier: MIT */
/* protocol.c - the row of HTTP in the list of protocols. */
#include "serve/protocol.h"
#include "serve/http/http.h"

const struct protocol protocol_http = {
    .id = PROTOCOL_HTTP, .accept = http_accept,
};
