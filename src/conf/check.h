/* SPDX-License-Identifier: MIT */
/* check.h - what must hold between values of a configuration. */
#ifndef CONF_CHECK_H
#define CONF_CHECK_H

#include "conf/conf.h"
#include "conf/value.h"

/* ERR_CONF with what is wrong. */
err_t conf_check(const struct conf *c, const struct conf_source *src)
    __attribute__((warn_unused_result));

/* Of one vhost: its tokens and keys can be checked by something, and are well-formed. */
err_t conf_check_token(const struct conf_vhost *v) __attribute__((warn_unused_result));
/* What of them is easy to guess, or has no effect. */
void conf_warn_token(const struct conf_vhost *v, const struct conf_ctx *ctx);

/* What of files on demand no row can say. */
err_t conf_check_vod(const struct conf_vhost *v) __attribute__((warn_unused_result));

#endif
