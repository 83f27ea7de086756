/* SPDX-License-Identifier: MIT */
/* list.h - lists whose members have `next`, and `prev` where they leave from anywhere: it points to
 * what points to them, and is NULL outside of a list. Arguments are evaluated more than once. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

/* In front of the list that begins at *(head). */
#define LIST_PUT(head, x)                     \
    do {                                      \
        (x)->next = *(head);                  \
        (x)->prev = (head);                   \
        if ((x)->next)                        \
            (x)->next->prev = &(x)->next;     \
        *(head) = (x);                        \
    } while (0)

/* Out of the list that it is in. */
#define LIST_TAKE(x)                          \
    do {                                      \
        *(x)->prev = (x)->next;               \
        if ((x)->next)                        \
            (x)->next->prev = (x)->prev;      \
        (x)->prev = NULL;                     \
    } while (0)

/* Out of the list without `prev` that begins at *(head): it is in it. */
#define LIST_CUT(head, x)                     \
    do {                                      \
        __typeof__(x) *list_at = (head);      \
        while (*list_at != (x))               \
            list_at = &(*list_at)->next;      \
        *list_at = (x)->next;                 \
    } while (0)

#endif
