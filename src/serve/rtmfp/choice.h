/* SPDX-License-Identifier: MIT */
/* choice.h - which of the workers' sockets gets a datagram of RTMFP: for the kernel, and for us. */
#ifndef SERVE_RTMFP_CHOICE_H
#define SERVE_RTMFP_CHOICE_H

#include <linux/filter.h>
#include <stdint.h>

enum { RTMFP_CHOICE_STEPS = 11 };

/* The program for a group of so many sockets, one for each worker: the low part of the session id
 * names the worker ([RTMFP] 2.2.2). Session 0 is a handshake, for which the kernel's own choice is
 * asked for: by addresses, so all of a handshake comes to one worker. Returns how many steps. */
unsigned rtmfp_choice_program(struct sock_filter out[RTMFP_CHOICE_STEPS], unsigned workers);

#endif
