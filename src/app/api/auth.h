/* SPDX-License-Identifier: MIT */
/* auth.h - authentication for the API: http_api.auth, by password (RFC 7617) or token (RFC 6750).
 *
 * The response to a wrong password is delayed. After several wrong ones the address is locked for a
 * while, even with the right password, so guessing reveals nothing. Other addresses are not
 * affected.
 */
#ifndef APP_API_AUTH_H
#define APP_API_AUTH_H

#include "app/api/guard.h"
#include "serve/http/mux.h"

enum api_who {
    API_REFUSED, /* the error response was sent */
    API_ANYBODY, /* no password is configured */
    API_TRUSTED, /* the password is right */
};

/* Authenticates a request to the API or to metrics. If no password is configured, it refuses
 * clients that may not read, unless all clients may read this route (`told`). Yields. */
err_t api_auth_ask(struct api_guard *g, struct http_exchange *x, bool told, enum api_who *who)
    __attribute__((warn_unused_result));
/* An http_handler before others, for http_api.auth.rtc_bearer_enabled; arg is the guard. */
err_t api_auth_ask_token(struct http_exchange *x, void *guard) __attribute__((warn_unused_result));
/* Returns true if the Authorization header has this name and password. */
bool api_auth_is(const char *value, const char *username, const char *password);
/* Returns true if the Authorization header has this token. */
bool api_auth_is_token(const char *value, const char *token);

#endif
