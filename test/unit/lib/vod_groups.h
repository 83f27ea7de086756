/* SPDX-License-Identifier: MIT */
/* vod_groups.h - files on demand for tests of their store: a format, a wire, a server, players.
 *
 * A file is a header, then groups of samples; every third sample is audio. Helper threads that read it stop at a
 * gate while it is closed. A test calls fake_open() from its demux_open() (test/unit/FAKES).
 */
#ifndef VOD_GROUPS_H
#define VOD_GROUPS_H

#include "env.h"
#include "vod/store.h"
#include "vod_idle.h"

#include <stdatomic.h>
#include <string.h>

enum { HEAD = 4096, ZERO = 90 };

struct fake_head {
    char magic[4]; /* "FAKE", "HUGE": over its limit */
    uint32_t groups, samples, size;
};

extern atomic_int store_opened, store_grouped; /* by helper threads */
extern atomic_bool store_cold;           /* groups are not in memory */
extern atomic_bool store_gate;           /* closed: helper threads stand in front of it */
extern atomic_int store_at_gate;

void store_pass_gate(void);
enum demux_status fake_open(struct demux_index **out, const struct demux_input *in,
                            const struct demux_limits *limits, const char **why);
/* Position of this sample. */
int64_t store_byte_of(const struct fake_head *h, demux_position g, unsigned i);

/* ---- a wire: each sample as its size and its bytes */

extern const struct vod_wire plain, other;

enum { BOTH = VOD_TRACKS_VIDEO | VOD_TRACKS_AUDIO };

extern const struct vod_wire_use both;
extern const struct vod_numbers none;

/* ---- a minimal server */

extern struct session_env *store_env;
extern struct conf_vhost *store_vhost;

struct vod *store_begin(void);
void store_end(void);
const char *store_path(const char *name); /* below its folder */
uint8_t store_byte_at(int64_t i);       /* the same for any file */
void store_put(const char *name, const char *magic, struct fake_head head);
struct vod_file *open_file(const char *name);

extern const struct fake_head small;

/* ---- a player */

struct player {
    struct vod_wait wait;
    int calls;
};

struct player new_player(void);
void wait_for(const atomic_int *what, int n);
void wait_called(const struct player *p, int n);
const struct vod_part *store_get(struct vod_file *f, const struct vod_wire_use *use, struct vod_at place,
                           struct player *p);
void store_give(struct vod_file *f, const struct vod_part *part);

#endif
