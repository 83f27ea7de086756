/* SPDX-License-Identifier: MIT */
/* sb_udp.c - what datagrams cost through co/net/udp: packets a second, and CPU time of each. */
#include "tools/load/floor.h"

int main(int argc, char **argv)
{
    return load_udp_floor(argc, argv);
}
