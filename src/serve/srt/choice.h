/* SPDX-License-Identifier: MIT */
/* choice.h - which of the workers' sockets gets a datagram of SRT: for the kernel, and for us. */
#ifndef SERVE_SRT_CHOICE_H
#define SERVE_SRT_CHOICE_H

#include <linux/filter.h>
#include <stdint.h>

enum { SRT_CHOICE_STEPS = 5 };

/* The program for a group of so many sockets, one for each worker: the low part of the id in it
 * names the worker. A handshake has no id of ours yet: the caller's own is taken, so its repeats
 * come to the same worker. Returns how many steps it has. */
unsigned srt_choice_program(struct sock_filter out[SRT_CHOICE_STEPS], unsigned workers);

#endif
