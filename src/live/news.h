/* SPDX-License-Identifier: MIT */
/* news.h - wait until a stream shows what it is made of: for those who have to describe it. */
#ifndef LIVE_NEWS_H
#define LIVE_NEWS_H

#include "live/source.h"

/* What a tap brought is in the source by now: for who looks first, and then perhaps waits. */
void live_news_look(struct live_source *src);
/* Until a publisher begins, a codec, a configuration or its first key frame comes, or so long. Who
 * wants to know which looks at the source; of frames nobody is told. Holds nothing of the log.
 * Yields; the caller has a reference to src. ERR_STOPPED and the like when asked to stop. */
err_t live_news_wait(struct live_source *src, co_usec time) __attribute__((warn_unused_result));

#endif
