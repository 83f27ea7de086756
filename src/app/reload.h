/* SPDX-License-Identifier: MIT */
/* reload.h - a new configuration into a server that runs: whole or not at all. */
#ifndef APP_RELOAD_H
#define APP_RELOAD_H

#include "app/server.h"
#include "conf/conf.h"

/* Read, check and compare the configuration, put it in force, and say in the log what became of
 * each directive that changed: applied, or needs a restart. Whatever goes wrong, the old one
 * stays whole, and the log has file and line. True: a new snapshot is in force. */
bool reload_now(struct server *s, const struct conf_source *src);

#endif
