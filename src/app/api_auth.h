/* SPDX-License-Identifier: MIT */
/* api_auth.h - who may use the API: http_api.auth, RFC 7617. */
#ifndef APP_API_AUTH_H
#define APP_API_AUTH_H

#include "serve/http.h"

/* Always, unless http_api.auth is on and the request came by an endpoint of the API. */
bool api_auth_allows(const struct http_exchange *x);
err_t api_auth_refuse(struct http_exchange *x) __attribute__((warn_unused_result)); /* 401 */
/* Is a password in force, and did this request prove it? */
bool api_auth_proved(const struct http_exchange *x);
/* Is this value of Authorization that name and password? */
bool api_auth_is(const char *value, const char *username, const char *password);

#endif
