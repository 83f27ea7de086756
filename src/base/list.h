/* SPDX-License-Identifier: MIT */
/* list.h - intrusive linked lists. A member has `next`; to be removed in constant time it also has
 * `prev`, the address of the pointer to it, NULL outside a list. Arguments are evaluated more than
 * once. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

/* Inserts x at the front of the list that begins at *(head). */
#define LIST_PUT(head, x)                     \
    do {                                      \
        (x)->next = *(head);                  \
        (x)->prev = (head);                   \
        if ((x)->next)                        \
            (x)->next->prev = &(x)->next;     \
        *(head) = (x);                        \
    } while (0)

/* Removes x from its list. */
#define LIST_TAKE(x)                          \
    do {                                      \
        *(x)->prev = (x)->next;               \
        if ((x)->next)                        \
            (x)->next->prev = (x)->prev;      \
        (x)->prev = NULL;                     \
    } while (0)

/* Removes x, which has no `prev` and must be in the list that begins at *(head). */
#define LIST_CUT(head, x)                     \
    do {                                      \
        __typeof__(x) *list_at = (head);      \
        while (*list_at != (x))               \
            list_at = &(*list_at)->next;      \
        *list_at = (x)->next;                 \
    } while (0)

#endif
