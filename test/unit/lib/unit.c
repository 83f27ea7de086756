/* SPDX-License-Identifier: MIT */
/* unit.c - shared by all unit test files. */
#include "unit.h"

#include <signal.h>

/* The parent may ignore it, and then no child would leave a status. */
__attribute__((constructor)) static void restore_sigchld(void)
{
    (void)signal(SIGCHLD, SIG_DFL);
}

int nothing_left(void **state)
{
    (void)state;
    assert_int_equal(err_live(), 0);
    assert_int_equal(av_packet_live(), 0);
    return 0;
}
