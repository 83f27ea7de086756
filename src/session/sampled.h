/* SPDX-License-Identifier: MIT */
/* sampled.h - one sample line in the log per kind of client and period.
 *
 * Every client calls this at each turn; the first call after the end of a period returns true, and
 * that client logs a line about itself. With ten thousand players the log has one PLA line per
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

/* Initially zero. One per worker, part of the server. */
struct sampled {
    int64_t due[SAMPLED_KINDS]; /* 0: no call for this kind yet */
};

/* Returns the arrow and the name that begin a line of this kind: "-> PLA". */
const char *sampled_name(enum sampled_kind kind);

/* Returns true if the caller must log its line now. `now` and `period` are in microseconds. The
 * first line of a kind comes one period after the first call, when there is something to report. */
bool sampled_due(struct sampled *p, enum sampled_kind kind, int64_t now, int64_t period);

#endif
