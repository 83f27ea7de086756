/* SPDX-License-Identifier: MIT */
/* vod_idle.h - start and end of tests with files on demand. */
#ifndef VOD_IDLE_H
#define VOD_IDLE_H

#include "co/thread.h"
#include "temp_dir.h"
#include "unit.h"
#include "vod/vod.h"

/* A folder, and coroutines. */
int vod_setup(void **state);

int vod_teardown(void **state);

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, vod_setup, vod_teardown)

/* All players have left: pending work finishes, and all files are closed. */
void vod_end_idle(struct vod *vod);

#endif
