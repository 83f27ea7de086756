/* SPDX-License-Identifier: MIT */
/* answer.h - what a server says to a command of a client: _result, _error or onStatus. */
#ifndef TOOLS_LOAD_ANSWER_H
#define TOOLS_LOAD_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOAD_CONNECT_ID = 1, LOAD_CREATE_ID = 4 }; /* transactions of ours */

struct load_answer {
    int waits_for;    /* transaction id, 0: an onStatus */
    bool answered;    /* the reply that is waited for is there */
    bool refused;
    double number;    /* of the reply: a stream id */
    char code[64];    /* of the last onStatus or _error */
};

/* A command came, of RTMP_COMMAND or RTMP_COMMAND_AMF3; what is none, or is not waited for, changes
 * nothing. */
void load_answer_hear(struct load_answer *a, uint8_t type, const uint8_t *body, size_t size);

#endif
