/* SPDX-License-Identifier: MIT */
/* console.h - the page at /console/: files beside the program, on every HTTP port. */
#ifndef APP_CONSOLE_H
#define APP_CONSOLE_H

#include "serve/http.h"

/* Mount it. The page itself is open; what it shows it asks of the API, with a password if that
 * wants one. */
void console_mount(struct http_mux *mux);

#endif
