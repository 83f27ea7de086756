/* SPDX-License-Identifier: MIT */
/* resolve.h - values that follow from others, so that readers never compute. */
#ifndef CONF_RESOLVE_H
#define CONF_RESOLVE_H

#include "conf/settings.h"

/* May be called again after values have changed. */
void conf_resolve(struct conf *c);

#endif
