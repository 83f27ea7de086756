/* SPDX-License-Identifier: MIT */
/* console.h - the web pages, which are files next to the program.
 *
 * /console/ is on every HTTP port. The ports for files and streams also have / and /players/,
 * unless http_server.dir has files with these names.
 */
#ifndef APP_API_CONSOLE_H
#define APP_API_CONSOLE_H

#include "serve/http/http.h"

/* Mounts the pages before the files. The pages are public; they read their data from the API, with
 * a password if the API needs one. */
void console_mount(struct http_mux *mux);

#endif
