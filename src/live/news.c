/* SPDX-License-Identifier: MIT */
/* news.c - wait until a stream shows what it is made of. */
#include "live/news.h"

#include "live/impl.h"

/* On the stack of who waits. */
struct live_news {
    struct co *co;
    struct live_news *next, **prev;
};

static void link_in(struct live_source *src, struct live_news *n)
{
    n->next = src->news;
    n->prev = &src->news;
    if (n->next)
        n->next->prev = &n->next;
    src->news = n;
}

static void link_out(const struct live_news *n)
{
    *n->prev = n->next;
    if (n->next)
        n->next->prev = n->prev;
}

void live_news_look(struct live_source *src)
{
    live_source_look(src);
}

err_t live_news_wait(struct live_source *src, co_usec time)
{
    struct live_news n = { .co = co_self() };
    enum co_wake wake;

    link_in(src, &n);
    wake = co_park(time);
    link_out(&n);
    live_source_look(src);
    return wake == CO_STOPPED ? co_stop_why() : NULL;
}

/* They run later, when what they are told of is in the log. */
void live_news_wake(struct live_source *src)
{
    for (struct live_news *n = src->news; n; n = n->next)
        co_unpark(n->co);
}
