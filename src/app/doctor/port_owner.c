/* SPDX-License-Identifier: MIT */
/* port_owner.c - who has a port, by /proc/net/tcp and udp and the descriptors of processes. */
#include "app/doctor/plan.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOCKETS_MAX = 8, TCP_LISTENS = 0x0a };

/* Of one family of addresses; `first`: those that listen come first, however many connections
 * there are. */
static const struct {
    const char *path;
    bool udp, first;
} tables[] = {
    { "/proc/net/tcp", false, true }, { "/proc/net/tcp6", false, true },
    { "/proc/net/udp", true, false }, { "/proc/net/udp6", true, false },
};

struct sockets {
    unsigned long inode[SOCKETS_MAX];
    size_t n;
};

/* "  0: 0100007F:078F 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 INODE ..." */
static bool line_of(char *line, int *port, unsigned *state, unsigned long *inode)
{
    char *rest, *word, *local = NULL;
    int i = 0;

    *inode = 0;
    for (word = strtok_r(line, " ", &rest); word && i < 10; word = strtok_r(NULL, " ", &rest)) {
        if (i == 1)
            local = word;
        else if (i == 3)
            *state = (unsigned)strtoul(word, NULL, 16);
        else if (i == 9)
            *inode = strtoul(word, NULL, 10);
        i++;
    }
    if (i < 10 || !local || !strchr(local, ':'))
        return false;
    *port = (int)strtol(strrchr(local, ':') + 1, NULL, 16);
    return true;
}

static void find_sockets(struct doctor_plan *p, const char *table, bool first, int port,
                         struct sockets *out)
{
    char path[300], line[512];
    unsigned state;
    int its;
    unsigned long inode;
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s%s", p->root, table);
    f = fopen(path, "re");
    if (!f)
        return;
    while (out->n < SOCKETS_MAX && fgets(line, sizeof(line), f)) {
        if (!line_of(line, &its, &state, &inode))
            continue; /* the head */
        if (first && state != TCP_LISTENS)
            break;
        if (its == port)
            out->inode[out->n++] = inode;
    }
    (void)fclose(f);
}

static bool is_one(const struct sockets *s, const char *link)
{
    unsigned long inode;
    size_t i = 0;

    if (strncmp(link, "socket:[", 8) != 0)
        return false;
    inode = strtoul(link + 8, NULL, 10);
    while (i < s->n && s->inode[i] != inode)
        i++;
    return i < s->n;
}

static bool has_one(const struct doctor_plan *p, const char *pid, const struct sockets *s)
{
    char path[600], link[64];
    struct dirent *e;
    bool found = false;
    DIR *d;

    (void)snprintf(path, sizeof(path), "%s/proc/%.32s/fd", p->root, pid);
    d = opendir(path);
    while (d && !found && (e = readdir(d))) {
        ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);

        if (n <= 0)
            continue;
        link[n] = '\0';
        found = is_one(s, link);
    }
    if (d)
        (void)closedir(d);
    return found;
}

int doctor_port_owner(struct doctor_plan *p, int port, bool udp)
{
    struct sockets s = { .n = 0 };
    char path[300];
    struct dirent *e;
    int owner = -1;
    DIR *d;

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (tables[i].udp == udp)
            find_sockets(p, tables[i].path, tables[i].first, port, &s);
    }
    if (!s.n)
        return 0;
    if (has_one(p, "self", &s))
        return (int)getpid();
    (void)snprintf(path, sizeof(path), "%s/proc", p->root);
    d = opendir(path);
    while (d && owner < 0 && (e = readdir(d))) {
        if (isdigit((unsigned char)e->d_name[0]) && has_one(p, e->d_name, &s))
            owner = (int)strtol(e->d_name, NULL, 10);
    }
    if (d)
        (void)closedir(d);
    return owner;
}
