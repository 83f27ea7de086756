/* SPDX-License-Identifier: MIT */
/* jwks_files.h - the configured files of public keys. */
#ifndef SESSION_JWKS_FILES_H
#define SESSION_JWKS_FILES_H

#include "conf/conf.h"
#include "proto/token/jwk.h"

struct jwks_files;

/* Reads all configured files, each once. ERR_CONF. Yields. */
err_t jwks_files_read(struct jwks_files **out, const struct conf *conf)
    __attribute__((warn_unused_result));
struct jwks_files *jwks_files_ref(struct jwks_files *f);
struct jwks_files *jwks_files_unref(struct jwks_files *f); /* always NULL */

/* Returns the keys of a file, valid until the next yield; NULL: it was not read. */
const struct jwk_set *jwks_files_find(const struct jwks_files *f, const char *path);
/* Reads changed files again. The caller holds a reference. Yields. */
void jwks_files_refresh(struct jwks_files *f);
/* Checks whether all files can be read. Blocks. */
err_t jwks_files_test(const struct conf *conf) __attribute__((warn_unused_result));

#endif
