/* SPDX-License-Identifier: MIT */
/* autoreload.c - detects changes of the configuration file. */
#include "app/autoreload.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { LEAST_SECONDS = 3 };

err_t autoreload_open(struct autoreload *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];

    *a = (struct autoreload){ .fd = -1, .last = -CO_SECONDS(LEAST_SECONDS) };
    (void)snprintf(a->name, sizeof(a->name), "%s", slash ? slash + 1 : path);
    (void)snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 1,
                   slash ? path : ".");
    a->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (a->fd < 0)
        return err_sys(ERR_SYSTEM, "inotify");
    if (inotify_add_watch(a->fd, folder, IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE) < 0) {
        err_t err = err_sys(ERR_SYSTEM, "watch %s", folder);

        autoreload_close(a);
        return err;
    }
    return NULL;
}

void autoreload_close(struct autoreload *a)
{
    if (a->fd >= 0)
        (void)close(a->fd);
    a->fd = -1;
}

/* Ignores the creation of the file itself, which has no content yet: the event of its close
 * follows. A link is complete when it is created. */
static bool concerns(const struct autoreload *a, const struct inotify_event *e)
{
    if (e->mask & IN_Q_OVERFLOW)
        return true;
    if (e->len == 0)
        return false;
    if (strcmp(e->name, "..data") == 0)
        return true;
    return strcmp(e->name, a->name) == 0 && !(e->mask & IN_CREATE);
}

static void read_events(struct autoreload *a)
{
    char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n;

    while (a->fd >= 0 && (n = read(a->fd, buf, sizeof(buf))) > 0) {
        for (char *p = buf; p < buf + n;) {
            const struct inotify_event *e = (const void *)p;

            a->changed |= concerns(a, e);
            p += sizeof(*e) + e->len;
        }
    }
}

void autoreload_forget(struct autoreload *a)
{
    read_events(a);
    a->changed = false;
}

bool autoreload_due(struct autoreload *a, co_usec now)
{
    read_events(a);
    if (!a->changed || now - a->last < CO_SECONDS(LEAST_SECONDS))
        return false;
    a->changed = false;
    a->last = now;
    return true;
}
