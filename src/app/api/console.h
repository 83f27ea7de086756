/* SPDX-License-Identifier: MIT */
/* console.h - the web pages: files beside the program.
 *
 * /console/ is on every HTTP port. On those of files and streams there are / and /players/, too, as
 * long as http_server.dir has no files of these names.
 */
#ifndef APP_API_CONSOLE_H
#define APP_API_CONSOLE_H

#include "serve/http/http.h"

/* Mount them, before the files. The pages themselves are open; what they show they ask of the API,
 * with a password if that wants one. */
void console_mount(struct http_mux *mux);

#endif
