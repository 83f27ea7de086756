/* SPDX-License-Identifier: MIT */
/* unit.h - shared by all unit test files. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "av/packet.h"
#include "base/err.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The tests of a room share one program: the Makefile renames the main() of each file and defines its
 * UNIT_NAME. program.c runs the file selected by the program's name or first argument. */
void unit_add(const char *name, int (*run)(void));

#ifdef UNIT_NAME
int main(void);
__attribute__((constructor)) static void unit_add_this(void)
{
    unit_add(UNIT_NAME, main);
}
#endif

/* Teardown of every test: nothing may be left, whether it passed or failed. */
int nothing_left(void **state);

#define TEST(f) cmocka_unit_test_teardown(f, nothing_left)

/* The call must return this code; its error is freed. */
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
