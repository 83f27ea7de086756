/* SPDX-License-Identifier: MIT */
/* resolve.h - computes values that depend on others, so that readers do not have to. */
#ifndef CONF_RESOLVE_H
#define CONF_RESOLVE_H

#include "conf/settings.h"

/* May be called again after a change of values. */
void conf_resolve(struct conf *c);

#endif
