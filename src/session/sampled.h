/* SPDX-License-Identifier: MIT */
/* sampled.h - one sample line per kind of client and period, however many clients there are.
 *
 * Every client asks at each of its turns; the first one that asks when the period is over is told
 * yes and prints a line about itself. With ten thousand players the log has one PLA line per
 * pithy_print_ms, not ten thousand.
 */
#ifndef SESSION_SAMPLED_H
#define SESSION_SAMPLED_H

#include "conf/protocols.h"

#include <stdbool.h>
#include <stdint.h>

#define XX(ID, text) SAMPLED_##ID,
enum sampled_kind { PROTOCOL_SAMPLED_LIST(XX) SAMPLED_KINDS };
#undef XX

/* Starts as zeros. One per coroutine thread, held by the server. */
struct sampled {
    int64_t due[SAMPLED_KINDS]; /* 0: nobody of the kind has asked yet */
};

/* The arrows and the name that begin the kind's line: "-> PLA". */
const char *sampled_name(enum sampled_kind kind);

/* Shall who asks print its line now? `now` and `period` in microseconds. The first line of a kind
 * comes one period after the first question, so it has something to tell. */
bool sampled_due(struct sampled *p, enum sampled_kind kind, int64_t now, int64_t period);

#endif
