/* SPDX-License-Identifier: MIT */
/* check.h - what must hold between values of a configuration. */
#ifndef CONF_CHECK_H
#define CONF_CHECK_H

#include "conf/conf.h"

/* ERR_CONF with what is wrong. */
err_t conf_check(const struct conf *c, const struct conf_source *src)
    __attribute__((warn_unused_result));

#endif
