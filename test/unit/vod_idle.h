/* SPDX-License-Identifier: MIT */
/* vod_idle.h - begin and end of tests with files on demand. */
#ifndef VOD_IDLE_H
#define VOD_IDLE_H

#include "co/thread.h"
#include "temp_dir.h"
#include "unit.h"
#include "vod/vod.h"

/* A folder, and coroutines. */
static inline int vod_setup(void **state)
{
    err_t err = co_init();

    return err ? 1 : dir_make(state);
}

static inline int vod_teardown(void **state)
{
    co_threads_end(CO_SECONDS(5));
    co_fini();
    return dir_remove(state);
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, vod_setup, vod_teardown)

/* Nobody plays any more: what nobody waits for is done, and all files are closed. */
static inline void vod_end_idle(struct vod *vod)
{
    struct vod_stat s;

    vod_stat(vod, &s);
    for (int i = 0; i < 1000 && s.files > 0; i++) {
        assert_ok(co_sleep(CO_MS(1)));
        vod_stat(vod, &s);
    }
    assert_int_equal(s.files, 0);
    vod_free(vod);
}

#endif
