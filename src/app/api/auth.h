/* SPDX-License-Identifier: MIT */
/* auth.h - who may use the API: http_api.auth, by password (RFC 7617) or token (RFC 6750).
 *
 * A wrong password is answered late, and after some its address gets no more answers for a while,
 * not to the right one either: who waits for it learns nothing. Nobody else waits.
 */
#ifndef APP_API_AUTH_H
#define APP_API_AUTH_H

#include "app/api/guard.h"
#include "serve/http/mux.h"

enum api_who {
    API_REFUSED, /* and answered */
    API_ANYBODY, /* no password is in force here */
    API_TRUSTED, /* it proved the password */
};

/* Asks for the password at endpoints of the API and of figures; where there is none, who may not
 * even look is refused, unless it is `told` to everybody. Yields. */
err_t api_auth_ask(struct api_guard *g, struct http_exchange *x, bool told, enum api_who *who)
    __attribute__((warn_unused_result));
/* An http_handler in front of others, for http_api.auth.rtc_bearer_enabled; arg is the guard. */
err_t api_auth_ask_token(struct http_exchange *x, void *guard) __attribute__((warn_unused_result));
/* Is this value of Authorization that name and password? */
bool api_auth_is(const char *value, const char *username, const char *password);
/* Is it that token? */
bool api_auth_is_token(const char *value, const char *token);

#endif
