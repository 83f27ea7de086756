/* SPDX-License-Identifier: MIT */
/* addresses.h - the addresses at which streams are published and played. */
#ifndef APP_ADDRESSES_H
#define APP_ADDRESSES_H

#include "conf/conf.h"

/* Logs a table of everything that is on: what it is for, and an example address of the default
 * vhost (or of the first one). The host is the one of `listen`, or an address of this machine. */
void addresses_tell(const struct conf *c);

/* The path by which http_server serves a file that is written below `path`, without the first
 * slash; false if that folder is not below the folder of http_server. */
bool addresses_file(const struct conf *c, const char *path, const char *file, char *buf,
                    size_t size);

/* The mount of live fragmented MP4, which is served beside FLV, in buf; NULL if it is off. */
const char *addresses_fmp4(const struct conf_http_remux *r, char *buf, size_t size);

#endif
