/* SPDX-License-Identifier: MIT */
/* test_rtsp_udp.c - RTSP over UDP: runs of packets, the table of ports. */
#include "rtsp_ports.h"

/* ---- runs */

static struct rtsp_runs runs;

/* Index of that packet in the wire. */
static size_t index_of(const struct iovec *iov)
{
    size_t at = (size_t)((uint8_t *)iov->iov_base - wire_of_test.bytes) - RTP_INTERLEAVED, i = 0;

    while (i < wire_of_test.packets && wire_of_test.at[i] != at)
        i++;
    assert_true(i < wire_of_test.packets);
    return i;
}

/* Checks that the runs have the packets from *next on, those of each channel in order, and that the
 * kernel can cut each run. */
static void check_runs(size_t *next)
{
    size_t newest[256] = { 0 }, from = *next;

    for (int i = 0; i < runs.n; i++) {
        const struct rtsp_run *run = &runs.v[i];
        size_t sum = 0;

        assert_true(run->count > 0 && run->count <= RTSP_RUN_SEGMENTS);
        assert_true(run->size <= RTSP_RUN_BYTES);
        assert_int_equal(run->channel & 1, runs.v[0].channel & 1);
        assert_true(i == 0 || run->begin > runs.v[i - 1].begin);
        for (int k = 0; k < run->count; k++, (*next)++) {
            const struct iovec *iov = &runs.iov[run->first + k];
            size_t is = index_of(iov);

            assert_true(is >= from && is + 1 > newest[run->channel]);
            newest[run->channel] = is + 1;
            assert_true(k > 0 || wire_of_test.at[is] == run->begin);
            assert_int_equal(wire_of_test.bytes[wire_of_test.at[is] + 1], run->channel);
            assert_int_equal(iov->iov_len, packet_size(is));
            assert_true(k + 1 == run->count ? iov->iov_len <= run->segment
                                            : iov->iov_len == run->segment);
            sum += iov->iov_len;
        }
        assert_int_equal(sum, run->size);
    }
    assert_int_equal(runs.end, *next < wire_of_test.packets ? wire_of_test.at[*next] : wire_of_test.size);
}

/* Checks that all packets are found, for any ranges and any limit. */
static void check_all(const struct iovec *iov, int n, size_t limit)
{
    size_t next = 0, at = 0;

    while (at < wire_of_test.size) {
        assert_ok(rtsp_runs_cut(&runs, iov, n, at, limit));
        assert_true(runs.n > 0 && runs.end > at);
        check_runs(&next);
        at = runs.end;
    }
    assert_int_equal(next, wire_of_test.packets);
}

static void test_runs_at_every_cut(void **state)
{
    static const size_t sizes[] = { 1412, 1412, 300, 52, 1412, 1412, 1412, 1412, 9, 180, 181, 28 };
    static const uint8_t channels[] = { 0, 0, 0, 1, 0, 0, 0, 0, 2, 2, 2, 3 };
    enum { N = 12 };

    (void)state;
    wire_begin();
    for (unsigned i = 0; i < N; i++)
        wire_put(channels[i], sizes[i]);
    for (unsigned cuts = 0; cuts < 1u << (N - 1); cuts++) {
        struct iovec iov[N];
        int n = 0;
        size_t from = 0;

        for (unsigned i = 0; i < N; i++) {
            size_t end = i + 1 < N ? wire_of_test.at[i + 1] : wire_of_test.size;

            if (i + 1 < N && !(cuts & 1u << i))
                continue;
            iov[n++] = (struct iovec){ wire_of_test.bytes + from, end - from };
            from = end;
        }
        check_all(iov, n, SIZE_MAX);
        check_all(iov, n, 1 + cuts % 4000);
    }
}

static void test_runs_are_long(void **state)
{
    static const struct {
        const char *name;
        uint8_t channel[8];
        uint16_t size[8], times[8];
        int runs;  /* in the first call */
    } rows[] = {
        { "a frame", { 0, 0 }, { 1412, 300 }, { 20, 1 }, 1 },
        { "two frames", { 0, 0, 0, 0 }, { 1412, 300, 1412, 20 }, { 3, 1, 4, 1 }, 2 },
        { "the next is larger", { 0, 0 }, { 300, 1412 }, { 1, 3 }, 2 },
        { "audio in between", { 0, 2, 0 }, { 1412, 200, 1412 }, { 4, 1, 4 }, 2 },
        { "audio that shrinks", { 2, 0, 2, 2 }, { 210, 1412, 200, 190 }, { 1, 4, 1, 1 }, 3 },
        { "bytes of one", { 0 }, { 1412 }, { 64 }, 2 },
        { "segments of one", { 2 }, { 100 }, { 129 }, 3 },
        { "a report between", { 0, 1, 0 }, { 1412, 52, 1412 }, { 2, 1, 2 }, 1 },
        { "both tracks' reports", { 1, 3, 0 }, { 52, 52, 1412 }, { 1, 1, 2 }, 2 },
        { "small ones of many sizes", { 2, 2, 2 }, { 10, 20, 30 }, { 1, 1, 1 }, 3 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct iovec iov;

        wire_begin();
        for (unsigned k = 0; k < 8; k++)
            for (unsigned t = 0; t < rows[i].times[k]; t++)
                wire_put(rows[i].channel[k], rows[i].size[k]);
        iov = (struct iovec){ wire_of_test.bytes, wire_of_test.size };
        assert_ok(rtsp_runs_cut(&runs, &iov, 1, 0, SIZE_MAX));
        if (runs.n != rows[i].runs)
            fail_msg("%s: %d runs", rows[i].name, runs.n);
        check_all(&iov, 1, SIZE_MAX);
    }
}

static void test_runs_have_limits(void **state)
{
    struct iovec iov;

    (void)state;
    wire_begin();
    for (unsigned i = 0; i < 1200; i++)
        wire_put(i % 2 ? 2 : 0, 40 + i / 2);
    iov = (struct iovec){ wire_of_test.bytes, wire_of_test.size };
    assert_ok(rtsp_runs_cut(&runs, &iov, 1, 0, SIZE_MAX));
    assert_int_equal(runs.n, RTSP_RUNS);
    check_all(&iov, 1, SIZE_MAX);
    wire_begin();
    for (unsigned i = 0; i < 3000; i++)
        wire_put(0, 40);
    iov.iov_len = wire_of_test.size;
    assert_ok(rtsp_runs_cut(&runs, &iov, 1, 0, SIZE_MAX));
    assert_int_equal(runs.packets, RTSP_RUNS);
    assert_int_equal(runs.n, RTSP_RUNS / RTSP_RUN_SEGMENTS);
    check_all(&iov, 1, SIZE_MAX);
    iov.iov_len--; /* the last packet is incomplete */
    assert_err(rtsp_runs_cut(&runs, &iov, 1, wire_of_test.at[2990], SIZE_MAX), ERR_MALFORMED);
    assert_err(rtsp_runs_cut(&runs, &iov, 1, 2, SIZE_MAX), ERR_MALFORMED);
}

/* ---- table of addresses */

static struct rtsp_udp_port port_at(const char *ip, int port)
{
    struct rtsp_udp_port p = { .unconfirmed = true };

    assert_ok(udp_addr_parse(&p.path.peer, ip, port));
    return p;
}

static void test_table(void **state)
{
    enum { N = 1000 };
    struct rtsp_udp_port *v = calloc(N, sizeof(*v)), again;
    struct rtsp_udp_table t;
    struct udp_addr a;

    (void)state;
    assert_non_null(v);
    rtsp_udp_table_init(&t);
    for (int i = 0; i < N; i++) {
        v[i] = port_at(i % 2 ? "192.0.2.1" : "2001:db8::1", 2000 + i);
        assert_true(rtsp_udp_table_add(&t, &v[i]));
    }
    again = port_at("192.0.2.1", 2001);
    assert_false(rtsp_udp_table_add(&t, &again));
    for (int i = 0; i < N; i++)
        assert_ptr_equal(rtsp_udp_table_find(&t, &v[i].path.peer), &v[i]);
    assert_ok(udp_addr_parse(&a, "192.0.2.1", 2000));
    assert_null(rtsp_udp_table_find(&t, &a));
    assert_null(rtsp_udp_table_move(&t, &a)); /* hundreds wait at this address */
    for (int i = 3; i < N; i++)
        rtsp_udp_table_confirm(&v[i]);
    assert_ptr_equal(rtsp_udp_table_move(&t, &a), &v[1]);
    assert_ptr_equal(rtsp_udp_table_find(&t, &a), &v[1]);
    a.port = 1999;
    assert_null(rtsp_udp_table_move(&t, &a)); /* a port moves only once */
    /* the announced port stays valid */
    assert_ptr_equal(rtsp_udp_table_find(&t, &v[1].announced.at), &v[1]);
    rtsp_udp_table_restore(&t, &v[1]);
    assert_int_equal(v[1].path.peer.port, 2001);
    assert_ptr_equal(rtsp_udp_table_find(&t, &v[1].path.peer), &v[1]);
    a.port = 2000;
    assert_null(rtsp_udp_table_find(&t, &a));
    for (int i = 0; i < N; i++)
        rtsp_udp_table_remove(&t, &v[i]);
    assert_int_equal(t.count, 0);
    rtsp_udp_table_fini(&t);
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_runs_at_every_cut), TEST(test_runs_are_long), TEST(test_runs_have_limits),
        TEST(test_table),
    };
    const struct log_setup quiet = { .min = LOG_NONE };
    err_t err = co_init();

    assert(!err);
    log_init(&quiet);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
