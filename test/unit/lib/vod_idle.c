/* SPDX-License-Identifier: MIT */
/* vod_idle.c - start and end of tests with files on demand. */
#include "vod_idle.h"

int vod_setup(void **state)
{
    err_t err = co_init();

    return err ? 1 : dir_make(state);
}

int vod_teardown(void **state)
{
    co_threads_end(CO_SECONDS(5));
    co_fini();
    return dir_remove(state);
}

void vod_end_idle(struct vod *vod)
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
