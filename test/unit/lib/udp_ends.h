/* SPDX-License-Identifier: MIT */
/* udp_ends.h - two ends that communicate over UDP. */
#ifndef UDP_ENDS_H
#define UDP_ENDS_H

#include "co/net/udp.h"
#include "udp_net.h"
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

extern const struct udp_opts udp_usual;

struct udp_path udp_path_to(const char *ip, int port);
size_t udp_send_bytes(struct udp *u, const struct udp_path *path, const void *data, size_t size,
                      size_t segment);

#endif
