/* SPDX-License-Identifier: MIT */
/* random_id.h - ids that nobody guesses, of letters and digits: in urls, file names and the log. */
#ifndef BASE_RANDOM_ID_H
#define BASE_RANDOM_ID_H

#include <stddef.h>

/* n of "0-9a-z", each as likely as the others (5.2 bits), and a 0 behind them. Any thread. */
void random_id(char *out, size_t n);

#endif
