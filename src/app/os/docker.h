/* SPDX-License-Identifier: MIT */
/* docker.h - detects containers. In a container the program stays in the foreground and reloads its
 * configuration file automatically, unless the configuration says otherwise. */
#ifndef APP_OS_DOCKER_H
#define APP_OS_DOCKER_H

#include <stdbool.h>

bool docker_inside(void);
/* Returns true if the text of /proc/1/cgroup is that of a container. */
bool docker_cgroup(const char *text);

#endif
