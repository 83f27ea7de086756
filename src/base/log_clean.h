/* SPDX-License-Identifier: MIT */
/* log_clean.h - what a log line may show of the texts in it. Pure.
 *
 * Names, addresses and commands come from peers. A new line in one would be a line of its own, with
 * any time, id and words; an escape sequence would do as it likes with the terminal of who reads.
 */
#ifndef BASE_LOG_CLEAN_H
#define BASE_LOG_CLEAN_H

#include <stdbool.h>
#include <stddef.h>

#define LOG_HIDDEN "***"

/* Copy at most `room` bytes of the text to `to`, gives how many. Control characters, those that
 * turn the direction of writing, and bytes that are no UTF-8 become '?'. With hide, stars
 * stand for parameters of addresses ("?***"), for name and password in them, for what follows
 * "Basic" and "Bearer", for the values of words that name a secret ("token=***"), also where these
 * signs are escaped ("%3F***"), and for passwords and keys in session descriptions: a=ice-pwd,
 * a=crypto, a=key-mgmt. */
size_t log_clean(char *to, size_t room, const char *text, bool hide);

/* The same of any text, hidden, for other readers: malloc'ed. */
char *log_hide(const char *text);
/* The same of one address that we send a stream to. The last part of its path is the stream key
 * of many services: it is hidden as well, unless `public_name`. malloc'ed. */
char *log_hide_target(const char *url, bool public_name);
/* A command line, or what a program says, without the stream keys in it: the last part of each
 * address of rtmp:// and rtmps:// that is not of this machine, or of all. malloc'ed. */
char *log_hide_keys(const char *text, bool all);

#endif
