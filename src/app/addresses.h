/* SPDX-License-Identifier: MIT */
/* addresses.h - the URLs for publishing and playing that the log shows at the start. */
#ifndef APP_ADDRESSES_H
#define APP_ADDRESSES_H

#include "conf/conf.h"

/* Logs a table of all enabled services: their purpose and an example URL in the default vhost (or
 * the first one). The host is that of `listen`, or an address of this machine. */
void addresses_log(const struct conf *c);

/* Writes the URL path, without the leading slash, at which http_server serves `file` of the folder
 * `path`. Returns false if that folder is not below http_server's. */
bool addresses_file(const struct conf *c, const char *path, const char *file, char *buf,
                    size_t size);

/* Writes the mount of live fragmented MP4, which follows from that of FLV, to buf and returns it.
 * Returns NULL if it is off. */
const char *addresses_fmp4(const struct conf_http_remux *r, char *buf, size_t size);

#endif
