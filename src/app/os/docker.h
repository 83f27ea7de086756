/* SPDX-License-Identifier: MIT */
/* docker.h - do we run in a container? Then the program stays in the foreground and looks at its
 * configuration file by itself, unless the configuration says otherwise. */
#ifndef APP_OS_DOCKER_H
#define APP_OS_DOCKER_H

#include <stdbool.h>

bool docker_inside(void);
/* Does the text of /proc/1/cgroup belong to a container? */
bool docker_cgroup(const char *text);

#endif
