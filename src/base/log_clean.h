/* SPDX-License-Identifier: MIT */
/* log_clean.h - removes control characters and secrets from the texts of log lines. Pure functions.
 *
 * Names, URLs and commands come from peers. A newline in one of them would create a forged log
 * line; an escape sequence could control the operator's terminal.
 */
#ifndef BASE_LOG_CLEAN_H
#define BASE_LOG_CLEAN_H

#include <stdbool.h>
#include <stddef.h>

#define LOG_HIDDEN "***"

/* Copies at most `room` bytes of the text to `to`; returns their number. Control characters,
 * characters that change the direction of text, and bytes that are not UTF-8 become '?'. If `hide`
 * is set, stars replace secrets: URL parameters ("?***"), name and password in URLs, the text after
 * "Basic" and "Bearer", and values whose key names a secret ("token=***"). The same holds for their
 * escaped forms ("%3F***"), and for passwords and keys in SDP: a=ice-pwd, a=crypto, a=key-mgmt. */
size_t log_clean(char *to, size_t room, const char *text, bool hide);

/* Returns a malloc'ed copy of the text with its secrets hidden. */
char *log_hide(const char *text);
/* The same for the URL of a forward destination. Many services use the last component of its path
 * as the stream key, so it is hidden too, unless `public_name`. malloc'ed. */
char *log_hide_target(const char *url, bool public_name);
/* Returns a command line, or the output of a program, without stream keys: hides the last component
 * of each rtmp:// and rtmps:// URL that is not of this machine, or of all. malloc'ed. */
char *log_hide_keys(const char *text, bool all);

#endif
