/* SPDX-License-Identifier: MIT */
/* unit.h - what every unit test file shares. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "av/packet.h"
#include "base/err.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Whoever runs the tests may have them ignore it, and then no child would leave a status. */
__attribute__((constructor)) static void hear_of_children(void)
{
    (void)signal(SIGCHLD, SIG_DFL);
}

/* Teardown of every test: nothing may be left, whichever way the test went. */
static inline int nothing_left(void **state)
{
    (void)state;
    assert_int_equal(err_live(), 0);
    assert_int_equal(av_packet_live(), 0);
    return 0;
}

#define TEST(f) cmocka_unit_test_teardown(f, nothing_left)

/* The call must give this code; its error is freed. */
#define assert_err(call, expected) do {                                   \
        err_t err_ = (call);                                              \
        char text_[512];                                                  \
        if (err_code(err_) != (expected))                                 \
            print_error("%s\n", err_text(err_, text_, sizeof(text_)));    \
        assert_int_equal(err_code(err_), expected);                       \
        err_free(&err_);                                                  \
    } while (0)
#define assert_ok(call) assert_err(call, ERR_OK)

#endif
