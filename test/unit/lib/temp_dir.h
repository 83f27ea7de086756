/* SPDX-License-Identifier: MIT */
/* temp_dir.h - a folder of a test, which is removed with its content. */
#ifndef TEMP_DIR_H
#define TEMP_DIR_H

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char dir[32]; /* its path, from dir_make() to dir_remove() */

int dir_make(void **state);

/* As a teardown: nothing else may be left either. */
int dir_remove(void **state);

#endif
