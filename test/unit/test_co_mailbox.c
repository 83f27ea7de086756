/* SPDX-License-Identifier: MIT */
/* test_co_mailbox.c - messages between threads: all arrive, in order, and wake sleepers.
 *
 * Assertions are made on the first thread only: cmocka leaves a failing test by longjmp.
 */
#include "base/container_of.h"
#include "co/co.h"
#include "co/mailbox.h"
#include "unit.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WRITERS = 4, EACH = 20000, ROUNDS = 5000, UNREAD = 100 };

static struct co_mailbox box;
static struct co_group readers;

static void begin(void)
{
    assert_ok(co_mailbox_open(&box));
    co_group_init(&readers);
    assert_ok(co_go(&readers, "mailbox", co_mailbox_run, &box));
}

static void end(void)
{
    err_t err = co_group_stop(&readers);

    assert_int_equal(err_code(err), ERR_STOPPED);
    err_free(&err);
    co_mailbox_close(&box);
}

/* ---- many writers */

struct numbered {
    struct co_mail mail;
    unsigned writer, number;
};

static unsigned next_of[WRITERS], wrong, read_so_far;
static struct co *waits_for_all;

static void on_numbered(struct co_mail *m)
{
    struct numbered *n = container_of(m, struct numbered, mail);

    wrong += n->number != next_of[n->writer]++;
    if (++read_so_far == WRITERS * EACH)
        co_unpark(waits_for_all);
}

static void *writer(void *all_of)
{
    struct numbered *all = all_of;
    unsigned seed = all->writer;

    for (unsigned i = 0; i < EACH; i++) {
        all[i].mail.fn = on_numbered;
        co_mailbox_post(&box, &all[i].mail);
        if (rand_r(&seed) % 256 == 0) /* so that the reader sleeps now and then */
            (void)nanosleep(&(struct timespec){ .tv_nsec = rand_r(&seed) % 100000 }, NULL);
    }
    return NULL;
}

static void many_writers(void **state)
{
    struct numbered *all = calloc((size_t)WRITERS * EACH, sizeof(*all));
    co_usec until = co_clock() + CO_SECONDS(60);
    pthread_t id[WRITERS];

    (void)state;
    begin();
    waits_for_all = co_self();
    for (unsigned i = 0; i < WRITERS * EACH; i++) {
        all[i].writer = i / EACH;
        all[i].number = i % EACH;
    }
    for (unsigned w = 0; w < WRITERS; w++)
        assert_int_equal(pthread_create(&id[w], NULL, writer, &all[w * EACH]), 0);
    while (read_so_far < WRITERS * EACH && co_clock() < until)
        (void)!co_park(CO_SECONDS(1));
    for (unsigned w = 0; w < WRITERS; w++)
        assert_int_equal(pthread_join(id[w], NULL), 0);
    assert_int_equal(read_so_far, WRITERS * EACH);
    assert_int_equal(wrong, 0);
    end();
    free(all);
}

/* ---- no wakeup is lost: the other side sleeps until it is answered */

static struct co_mailbox far_box;
static struct co_mail to_far, to_here, to_end;
static unsigned rounds;
static struct co *waits_for_rounds;

static void now_and_then(void)
{
    static _Thread_local unsigned seed = 1;

    if (rand_r(&seed) % 4 == 0)
        (void)sched_yield();
}

static void on_far(struct co_mail *m)
{
    (void)m;
    now_and_then();
    co_mailbox_post(&box, &to_here);
}

static void on_here(struct co_mail *m)
{
    (void)m;
    now_and_then();
    if (++rounds < ROUNDS)
        co_mailbox_post(&far_box, &to_far);
    else
        co_unpark(waits_for_rounds);
}

static void on_end(struct co_mail *m)
{
    (void)m;
    co_stop(co_self(), NULL); /* the reader */
}

static void *far_main(void *opened)
{
    err_t err = co_init();

    if (!err)
        err = co_mailbox_open(&far_box);
    assert(!err);
    co_mailbox_post(&box, opened);
    err = co_mailbox_run(&far_box);
    err_free(&err);
    co_mailbox_close(&far_box);
    co_fini();
    return NULL;
}

static void no_wake_is_lost(void **state)
{
    struct co_mail opened = { .fn = on_here }; /* the first round */
    co_usec until = co_clock() + CO_SECONDS(60);
    pthread_t id;

    (void)state;
    begin();
    to_far.fn = on_far;
    to_here.fn = on_here;
    to_end.fn = on_end;
    waits_for_rounds = co_self();
    assert_int_equal(pthread_create(&id, NULL, far_main, &opened), 0);
    while (rounds < ROUNDS && co_clock() < until)
        (void)!co_park(CO_SECONDS(1));
    assert_int_equal(rounds, ROUNDS);
    co_mailbox_post(&far_box, &to_end);
    assert_int_equal(pthread_join(id, NULL), 0);
    end();
}

/* ---- one side alone */

static unsigned counted;

static void on_counted(struct co_mail *m)
{
    (void)m;
    counted++;
}

static uint64_t wakes(void)
{
    uint64_t n = 0;

    return read(box.notify.sock.fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static void one_wake_for_all_that_wait(void **state)
{
    struct co_mail mail[UNREAD];

    (void)state;
    counted = 0;
    assert_ok(co_mailbox_open(&box));
    for (int i = 0; i < UNREAD; i++) {
        mail[i].fn = on_counted;
        co_mailbox_post(&box, &mail[i]);
    }
    assert_int_equal(wakes(), 1);
    assert_int_equal(counted, 0);
    co_group_init(&readers);
    assert_ok(co_go(&readers, "mailbox", co_mailbox_run, &box));
    end(); /* stopped before it ran, it reads the existing messages */
    assert_int_equal(counted, UNREAD);
}

static struct co_mail second = { .fn = on_counted };

static void on_first(struct co_mail *m)
{
    (void)m;
    co_mailbox_post(&box, &second);
    counted += 10 * (wakes() == 0); /* the reader needs none */
}

static void who_reads_is_not_woken(void **state)
{
    struct co_mail first = { .fn = on_first };

    (void)state;
    counted = 0;
    begin();
    assert_ok(co_sleep(CO_MS(1))); /* it waits */
    co_mailbox_post(&box, &first);
    for (int i = 0; i < 1000 && counted < 11; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_int_equal(counted, 11);
    co_mailbox_post(&box, &second); /* and again after it has waited */
    for (int i = 0; i < 1000 && counted < 12; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_int_equal(counted, 12);
    end();
}

static void late(void **state)
{
    struct co_mail mail[2] = { { .fn = on_counted }, { .fn = on_counted } };
    co_usec first;

    (void)state;
    assert_ok(co_mailbox_open(&box));
    assert_int_equal(co_mailbox_late(&box), 0);
    co_mailbox_post(&box, &mail[0]);
    assert_ok(co_sleep(CO_MS(20)));
    co_mailbox_post(&box, &mail[1]); /* the older one counts */
    first = co_mailbox_late(&box);
    assert_true(first >= CO_MS(20));
    co_group_init(&readers);
    assert_ok(co_go(&readers, "mailbox", co_mailbox_run, &box));
    for (int i = 0; i < 1000 && co_mailbox_late(&box) > 0; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_int_equal(co_mailbox_late(&box), 0);
    end();
}

static int set_up(void **state)
{
    err_t err = co_init();

    (void)state;
    return err != NULL;
}

static int tear_down(void **state)
{
    (void)state;
    co_fini();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_writers), TEST(no_wake_is_lost), TEST(one_wake_for_all_that_wait),
        TEST(who_reads_is_not_woken), TEST(late),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
