/* SPDX-License-Identifier: MIT */
/* blocks.h - memory for what is read past the kernel's: blocks of one size, out of large pages.
 *
 * For each read the kernel takes hold of the pages that it goes to, one by one; in large pages they
 * are one. The pool is of one thread, but that a helper thread may give blocks back: where a disk
 * does not answer, whoever asked has gone by then.
 */
#ifndef VOD_BLOCKS_H
#define VOD_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

enum { VOD_BLOCK = 32 * 1024 };

struct vod_blocks;

struct vod_blocks *vod_blocks_new(void);
struct vod_blocks *vod_blocks_ref(struct vod_blocks *b); /* any thread; and the next two */
void vod_blocks_unref(struct vod_blocks *b); /* NULL is fine */
void vod_blocks_return(struct vod_blocks *b, uint8_t *block);

/* Not cleared, on a page's begin. NULL: there is none without more than `limit` bytes of all. */
uint8_t *vod_blocks_take(struct vod_blocks *b, size_t limit);
void vod_blocks_give(struct vod_blocks *b, uint8_t *block);
size_t vod_blocks_bytes(const struct vod_blocks *b); /* that it has of the system */

#endif
