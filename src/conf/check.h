/* SPDX-License-Identifier: MIT */
/* check.h - checks that involve several values of a configuration. */
#ifndef CONF_CHECK_H
#define CONF_CHECK_H

#include "conf/conf.h"
#include "conf/value.h"

/* Returns ERR_CONF for the first violated rule. */
err_t conf_check(const struct conf *c, const struct conf_source *src)
    __attribute__((warn_unused_result));

/* Checks that tokens and stream keys of a vhost are well-formed and can be verified. */
err_t conf_check_token(const struct conf_vhost *v) __attribute__((warn_unused_result));
/* Warns about secrets that are easy to guess. */
void conf_warn_token(const struct conf_vhost *v, const struct conf_ctx *ctx);

/* Checks the directives of vod. */
err_t conf_check_vod(const struct conf_vhost *v) __attribute__((warn_unused_result));

#endif
