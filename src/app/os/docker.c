/* SPDX-License-Identifier: MIT */
/* docker.c - detects containers. */
#include "app/os/docker.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

bool docker_cgroup(const char *text)
{
    static const char *const words[] = { "/docker/",    "/docker-", "/kubepods",
                                         "containerd-", "/libpod",  "/lxc/" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strstr(text, words[i]))
            return true;
    }
    return false;
}

bool docker_inside(void)
{
    char text[4096];
    ssize_t n;
    int fd;

    if (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0)
        return true;
    fd = open("/proc/1/cgroup", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    return docker_cgroup(text);
}
