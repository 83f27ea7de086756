/* SPDX-License-Identifier: MIT */
/* test_load_srt.c - parts of the SRT load tool: a bad network from a seed, files as MPEG-TS packets in
 * real time, and what players find in them. */
#include "tools/load/link.h"
#include "tools/load/srt_hub.h"
#include "tools/load/srt_source.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/must.h"

/* ------------------------------------------------------------ a bad network */

enum { MANY = 200000 };

struct told { /* without gaps: it is compared byte by byte */
    uint64_t came, twice, overtaken, longest_run, runs;
    co_usec least, most; /* delay of the network */
};

/* One each 100 µs, all the way. */
static struct told send_many(const struct load_opts *o)
{
    struct told t = { .least = CO_SECONDS(100) };
    struct load_link link;
    struct load_link_item *item;
    unsigned *seen = must(calloc(MANY, sizeof(*seen))), newest = 0, run = 0;
    const struct udp_path path = { .peer = { .port = 7 } };

    load_link_init(&link, o, 0);
    for (unsigned i = 0; i < MANY + 1000000; i += i < MANY ? 1 : 1000) {
        co_usec now = (co_usec)i * 100;
        struct iovec iov[2] = { { &i, sizeof(i) }, { "abc", 3 } };

        if (i < MANY)
            load_link_put(&link, LOAD_LINK_OUT, &path, iov, 2, now);
        while ((item = load_link_take(&link, LOAD_LINK_OUT, now))) {
            unsigned n;

            assert_true(item->size == 7 && item->path.peer.port == 7);
            memcpy(&n, item->data, sizeof(n));
            t.came += seen[n]++ == 0;
            t.twice += seen[n] == 2;
            t.overtaken += n < newest;
            newest = n > newest ? n : newest;
            if (now - (co_usec)n * 100 < t.least)
                t.least = now - (co_usec)n * 100;
            if (now - (co_usec)n * 100 > t.most && i < MANY)
                t.most = now - (co_usec)n * 100;
            free(item);
        }
    }
    for (unsigned i = 0; i < MANY; i++) {
        run = seen[i] ? 0 : run + 1;
        t.runs += run == 1;
        t.longest_run = run > t.longest_run ? run : t.longest_run;
    }
    load_link_fini(&link);
    free(seen);
    return t;
}

static void a_good_network(void **state)
{
    const struct load_opts o = { .loss_run = 1 };
    struct load_link link;

    (void)state;
    load_link_init(&link, &o, 0);
    assert_false(load_link_is_on(&link));
}

static void losses_come_in_runs(void **state)
{
    const struct load_opts o = { .loss = 5, .loss_run = 4, .seed = 1 };
    struct told t = send_many(&o), again = send_many(&o);

    (void)state;
    assert_in_range(MANY - t.came, MANY * 45 / 1000, MANY * 55 / 1000);
    assert_in_range(t.runs, MANY * 5 / 100 / 4 * 9 / 10, MANY * 5 / 100 / 4 * 11 / 10);
    assert_true(t.longest_run >= 4 && t.twice == 0 && t.overtaken == 0 && t.most == 0);
    assert_memory_equal(&t, &again, sizeof(t)); /* the same seed */
}

static void some_come_twice_late_or_never(void **state)
{
    const struct load_opts o = { .twice = 1, .reorder = 2, .one_way = 20, .cut = 1, .cut_at = 5,
                                 .loss_run = 1, .seed = 9 };
    struct told t = send_many(&o);

    (void)state;
    assert_int_equal(MANY - t.came, 10000); /* all of a second */
    assert_int_equal(t.longest_run, 10000);
    assert_in_range(t.twice, MANY / 100 * 8 / 10, MANY / 100 * 12 / 10);
    assert_true(t.overtaken > MANY / 100);
    assert_true(t.least >= CO_MS(20) && t.most > CO_MS(30) && t.most <= CO_MS(36));
}

/* ------------------------------------------------------------ files */

static const char *source_flv(void)
{
    return access("doc/source.flv", R_OK) == 0 ? "doc/source.flv" : "../../doc/source.flv";
}

struct seen {
    struct load_run run;
    struct load_client c;
    struct load_poll look;
};

static void look_at(struct seen *s, const struct srt_log *log, uint64_t *from)
{
    struct srt_log_entry e = { .size = 0 };

    s->c.run = &s->run;
    s->run.opts.stall_ms = 1000;
    for (; *from < log->head; (*from)++) {
        assert_true(srt_log_get(log, *from, &e));
        load_poll(&s->look, &s->c, &(struct srt_message){ .data = e.data, .size = e.size });
    }
}

/* More than two rounds of the file: times increase, and no TS packet is missing. */
static void films_go_round(void **state)
{
    struct load_srt_file *file = must(calloc(1, sizeof(*file)));
    struct load_srt_source *s = must(calloc(1, sizeof(*s)));
    struct seen *seen = must(calloc(1, sizeof(*seen)));
    const co_usec begin = CO_SECONDS(1000);
    co_usec end, last = 0;
    uint64_t at = 0, bytes = 0;

    (void)state;
    assert_ok(load_srt_file_load(file, source_flv()));
    load_srt_source_init(s, file, 1400, true);
    assert_int_equal(s->payload, 1316);
    end = begin + CO_MS(file->flv.period) * 9 / 4;
    for (co_usec now = begin; now < end; now += CO_MS(20)) {
        uint64_t from = s->log.head;
        struct srt_log_entry e = { .size = 0 };

        load_srt_source_run(s, now);
        for (uint64_t n = from; n < s->log.head; n++) {
            assert_true(srt_log_get(&s->log, n, &e));
            assert_true(e.due <= now && e.due >= last && now - e.due < CO_MS(21));
            assert_true(e.size % TS_PACKET == 0 && e.size <= 1316);
            last = e.due;
            bytes += e.size;
        }
        look_at(seen, &s->log, &at);
    }
    assert_int_equal(seen->run.stat.srt.ts_faults, 0);
    assert_true(seen->c.have_key && seen->c.had_marker);
    assert_int_equal(seen->run.stat.drops, 0);
    assert_true(seen->run.stat.messages > 300 && bytes > file->flv.bytes * 2);
    free(seen);
    free(s);
    free(file);
}

/* ---- TS: equal packets far apart between two clocks */

static void ts_packet(uint8_t *p, unsigned pid, uint8_t cc, int64_t pcr)
{
    memset(p, 0xff, TS_PACKET);
    p[0] = 0x47;
    p[1] = (uint8_t)(pid >> 8);
    p[2] = (uint8_t)pid;
    p[3] = (uint8_t)(0x10 | cc);
    if (pcr < 0)
        return;
    p[3] |= 0x20;
    p[4] = 7;
    p[5] = 0x10;
    p[6] = (uint8_t)(pcr >> 25);
    p[7] = (uint8_t)(pcr >> 17);
    p[8] = (uint8_t)(pcr >> 9);
    p[9] = (uint8_t)(pcr >> 1);
    p[10] = (uint8_t)((pcr & 1) << 7 | 0x7e);
    p[11] = 0;
}

/* 100 packets, a clock in each tenth, 40 ms apart; it wraps at the fourth. */
static void ts_files_have_a_pace(void **state)
{
    char path[] = "/tmp/test_load_srt.XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "wb");
    struct load_srt_file *file = must(calloc(1, sizeof(*file)));
    struct load_srt_source *s = must(calloc(1, sizeof(*s)));
    struct srt_log_entry e = { .size = 0 };
    uint8_t p[TS_PACKET];

    (void)state;
    for (int i = 0; i < 100; i++) {
        int64_t pcr = i % 10 ? -1 : ((((int64_t)1 << 33) - 3 * 3600 + i / 10 * 3600) &
                                     (((int64_t)1 << 33) - 1));

        ts_packet(p, 0x100, (uint8_t)(i & 0xf), pcr);
        assert_int_equal(fwrite(p, 1, sizeof(p), f), sizeof(p));
    }
    (void)fclose(f);
    assert_ok(load_srt_file_load(file, path));
    (void)unlink(path);
    assert_int_equal(file->ts.packets, 100);
    assert_int_equal(file->ts.due[10], CO_MS(40));
    assert_int_equal(file->ts.due[15], CO_MS(60));
    assert_int_equal(file->ts.due[90], CO_MS(360));
    assert_in_range(file->ts.period, CO_MS(362), CO_MS(366));
    load_srt_source_init(s, file, 1316, true);
    for (co_usec now = CO_SECONDS(5); now < CO_SECONDS(5) + CO_MS(600); now += CO_MS(1))
        load_srt_source_run(s, now);
    assert_true(srt_log_get(&s->log, 0, &e) && e.size == 1316);
    assert_int_equal(e.due, CO_SECONDS(5) + CO_MS(24)); /* when the seventh is there */
    assert_true(srt_log_get(&s->log, 14, &e) && e.size == 2 * TS_PACKET);
    assert_true(srt_log_get(&s->log, 15, &e) && e.key);
    assert_int_equal(e.due, CO_SECONDS(5) + file->ts.period + CO_MS(24));
    srt_log_fini(&s->log);
    free(file->ts.bytes);
    free(file->ts.due);
    free(file);
    free(s);
}

/* ------------------------------------------------------------ the players' view */

static void faults_are_seen(void **state)
{
    struct seen *seen = must(calloc(1, sizeof(*seen)));
    uint8_t p[3 * TS_PACKET];
    struct srt_message m = { .data = p, .size = sizeof(p) };

    (void)state;
    seen->c.run = &seen->run;
    for (int i = 0; i < 3; i++)
        ts_packet(p + i * TS_PACKET, 0x100, (uint8_t)(i + 14) & 0xf, -1);
    memcpy(p + 1, "\x41\0", 2); /* audio begins */
    memcpy(p + 4, "\0\0\1\xc0", 4);
    load_poll(&seen->look, &seen->c, &m);
    assert_int_equal(seen->run.stat.srt.ts_faults, 0);
    load_poll(&seen->look, &seen->c, &m); /* 0, then 14 again */
    assert_int_equal(seen->run.stat.srt.ts_faults, 1);
    m.hole = true; /* reported: nothing continues */
    load_poll(&seen->look, &seen->c, &m);
    assert_true(seen->run.stat.srt.ts_faults == 1 && seen->run.stat.srt.holes == 1);
    m.hole = false;
    p[TS_PACKET] = 0x48;
    load_poll(&seen->look, &seen->c, &m);
    assert_int_equal(seen->run.stat.srt.ts_faults, 3); /* that, and the counter */
    free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_good_network), TEST(losses_come_in_runs), TEST(some_come_twice_late_or_never),
        TEST(ts_files_have_a_pace), TEST(faults_are_seen),
        cmocka_unit_test(films_go_round), /* the last: the file's packets stay */
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
