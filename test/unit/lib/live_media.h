/* SPDX-License-Identifier: MIT */
/* live_media.h - a live source that frames are published to: for tests. */
#ifndef LIVE_MEDIA_H
#define LIVE_MEDIA_H

#include "format/frame.h"
#include "live/deferred_free.h"
#include "live/source.h"
#include "unit.h"

#include <string.h>

extern const struct live_takeover rule;
extern struct live_publisher me;

/* A separate source, which is published. */
struct live_source *live_begin(const struct live_settings *set);

void live_end(struct live_source *src);
void push(struct live_source *src, const struct frame *f);

#endif
