/* SPDX-License-Identifier: MIT */
/* connection_reserve.c - reserves connections for the operator. */
#include "app/connection_reserve.h"

#include <string.h>

enum { OWN_FILES = 16 }; /* reserved for segments, logs and backends */

enum connection_reserve connection_reserve_find(const struct conf *c, const struct server_use *use)
{
    int reserve = c->limits.api_reserve;
    long over = (long)use->taken - c->max_connections;
    long over_files = use->fd - (use->files - reserve - OWN_FILES);

    if (use->files > 0 && over_files > over)
        over = over_files;
    if (over < 0)
        return CONNECTION_RESERVE_FREE;
    if (!use->api || over >= (use->local ? reserve : reserve - reserve / 4))
        return CONNECTION_RESERVE_NONE;
    return CONNECTION_RESERVE_RESERVED;
}

bool connection_reserve_is_local(const uint8_t addr[16])
{
    static const uint8_t v4[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127 };
    static const uint8_t v6[16] = { [15] = 1 };

    return memcmp(addr, v4, sizeof(v4)) == 0 || memcmp(addr, v6, sizeof(v6)) == 0;
}
