/* SPDX-License-Identifier: MIT */
/* test_app_api_workers.c - the API and the metrics over two workers, each with its own thread. */
#include "app/api/api.h"
#include "app/api/metrics.h"
#include "app/reload.h"
#include "io_mem.h"
#include "serve/http/mux.h"
#include "two_workers.h"

#include <jansson.h>

#define CONF "listen 1935; http_api { enabled on; open on; } exporter { enabled on; } " \
    "vhost __defaultVhost__ { } vhost other { }"

enum { CROWD = 700 };

static struct machine machine;

static unsigned connections(void *arg)
{
    (void)arg;
    return 7;
}

static struct api_parts parts_of(struct http_mux *mux)
{
    static struct reload_report reload = { .state = RELOAD_NEVER };

    return (struct api_parts){ .env = &two_env[0], .mux = mux, .machine = &machine,
                               .reload = &reload, .connections = connections };
}

/* Response to a request to worker 0. */
static json_t *ask(const char *line)
{
    struct http_service service = { .env = &two_env[0], .mux = http_mux_new() };
    struct api_parts parts = parts_of(service.mux);
    struct api *api = api_new(&parts);
    char request[256], *body;
    struct io_mem m;
    json_t *v;
    err_t err;

    (void)snprintf(request, sizeof(request), "%s HTTP/1.0\r\n\r\n", line);
    io_mem_init(&m, request, strlen(request));
    m.out_cap = 4 << 20;
    m.out = calloc(1, m.out_cap + 1);
    assert_non_null(m.out);
    err = http_session_run(&service, &m.io, "127.0.0.1");
    err_free(&err);
    body = strstr((char *)m.out, "\r\n\r\n");
    assert_non_null(body);
    v = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
    if (!v)
        fail_msg("%s", (char *)m.out);
    api_free(api);
    http_mux_free(service.mux);
    free(m.out);
    return v;
}

/* The number at "a.b.0.c" of it. */
static json_int_t number(json_t *v, const char *path)
{
    char copy[64], *save = NULL;

    (void)snprintf(copy, sizeof(copy), "%s", path);
    for (char *p = strtok_r(copy, ".", &save); p; p = strtok_r(NULL, ".", &save))
        v = json_is_array(v) ? json_array_get(v, strtoul(p, NULL, 10)) : json_object_get(v, p);
    assert_true(json_is_integer(v));
    return json_integer_value(v);
}

static const char *text(json_t *v, const char *key)
{
    assert_true(json_is_string(json_object_get(v, key)));
    return json_string_value(json_object_get(v, key));
}

/* ---- clients: streams a, c and e on both workers, b and d on one; the first client's worker is the owner
 */

static struct two_guest guests[] = {
    { .id = "pub0000a", .stream = "a", .type = CLIENTS_FMLE_PUBLISH },
    { .id = "ply0000a", .stream = "a", .type = CLIENTS_RTMP_PLAY },
    { .id = "ply0001a", .stream = "a", .type = CLIENTS_FLV_PLAY },
    { .id = "ply0000d", .stream = "d", .type = CLIENTS_RTMP_PLAY },
    { .id = "pub1000b", .stream = "b", .type = CLIENTS_FMLE_PUBLISH },
    { .id = "ply1000a", .stream = "a", .type = CLIENTS_RTMP_PLAY },
    { .id = "pub1000c", .stream = "c", .type = CLIENTS_FLASH_PUBLISH },
    { .id = "ply1000c", .stream = "c", .type = CLIENTS_RTMP_PLAY },
    { .id = "ply1000e", .stream = "e", .type = CLIENTS_RTMP_PLAY },
    { .id = "ply0000c", .stream = "c", .type = CLIENTS_RTMP_PLAY },
    { .id = "ply0000e", .stream = "e", .type = CLIENTS_RTMP_PLAY },
};

/* The first digit of an id is the worker. */
static unsigned worker_of(const struct two_guest *g)
{
    return g->id[3] == '1';
}

static void sample(struct session_env *env, void *unused)
{
    const struct worker_counters_of of = { .env = env, .connections = 5 };

    (void)unused;
    worker_counters_sample(&of);
}

static void enter_all(void)
{
    for (size_t i = 0; i < COUNT(guests); i++)
        workers_call(&two_env[0], worker_of(&guests[i]), two_enter, &guests[i]);
    workers_each(&two_env[0], sample, NULL);
}

static void leave_all(void)
{
    for (size_t i = 0; i < COUNT(guests); i++)
        workers_call(&two_env[0], worker_of(&guests[i]), two_leave, &guests[i]);
    workers_each(&two_env[0], sample, NULL);
}

static json_t *find(json_t *list, const char *name)
{
    json_t *found = NULL, *v;
    size_t i;

    json_array_foreach(list, i, v) {
        if (strcmp(text(v, "name"), name) == 0) {
            assert_null(found); /* each of them once */
            found = v;
        }
    }
    assert_non_null(found);
    return found;
}

static const struct {
    const char *name;
    unsigned clients;
    const char *publisher; /* "": none */
} streams[] = {
    { "a", 4, "pub0000a" }, { "b", 1, "pub1000b" }, { "c", 3, "pub1000c" }, { "d", 1, "" },
    { "e", 2, "" },
};

static void check_stream(json_t *v, size_t i)
{
    json_t *publish = json_object_get(v, "publish");

    assert_int_equal(number(v, "clients"), streams[i].clients);
    assert_int_equal(json_is_true(json_object_get(publish, "active")), *streams[i].publisher != 0);
    if (*streams[i].publisher)
        assert_string_equal(text(publish, "cid"), streams[i].publisher);
}

static void test_a_stream_is_one(void **state)
{
    json_t *all;

    (void)state;
    enter_all();
    all = ask("GET /api/v1/streams");
    assert_int_equal(number(all, "total"), COUNT(streams));
    assert_int_equal(json_array_size(json_object_get(all, "streams")), COUNT(streams));
    for (size_t i = 0; i < COUNT(streams); i++) {
        json_t *v = find(json_object_get(all, "streams"), streams[i].name), *own;
        char line[64];

        check_stream(v, i);
        (void)snprintf(line, sizeof(line), "GET /api/v1/streams/%s", text(v, "id"));
        own = ask(line);
        check_stream(json_object_get(own, "stream"), i);
        json_decref(own);
        (void)snprintf(line, sizeof(line), "GET /api/v1/clients?stream=%s", text(v, "id"));
        own = ask(line);
        assert_int_equal(number(own, "total"), streams[i].clients);
        assert_int_equal(json_array_size(json_object_get(own, "clients")), streams[i].clients);
        json_decref(own);
    }
    json_decref(all);
    all = ask("GET /api/v1/vhosts");
    assert_int_equal(number(all, "vhosts.0.clients"), COUNT(guests));
    assert_int_equal(number(all, "vhosts.0.streams"), COUNT(streams));
    assert_int_equal(number(all, "vhosts.1.streams"), 0);
    json_decref(all);
    leave_all();
    all = ask("GET /api/v1/streams");
    assert_int_equal(number(all, "total"), 0);
    json_decref(all);
}

/* Pages of any size show each client once. */
static void page_through(const char *what, const char *name_key, size_t total)
{
    for (unsigned count = 1; count <= total + 1; count++) {
        char seen[1024] = " ", word[40], line[80];
        size_t n = 0;

        for (unsigned start = 0; start < total + count; start += count) {
            json_t *page, *v, *list;
            size_t i;

            (void)snprintf(line, sizeof(line), "GET /api/v1/%s?start=%u&count=%u", what, start,
                           count);
            page = ask(line);
            list = json_object_get(page, what);
            assert_int_equal(number(page, "total"), total);
            assert_true(json_array_size(list) <= count);
            json_array_foreach(list, i, v) {
                (void)snprintf(word, sizeof(word), " %s ", text(v, name_key));
                assert_null(strstr(seen, word));
                (void)strncat(seen, word, sizeof(seen) - strlen(seen) - 1);
                n++;
            }
            json_decref(page);
        }
        assert_int_equal(n, total);
    }
}

static void test_pages(void **state)
{
    (void)state;
    enter_all();
    page_through("clients", "id", COUNT(guests));
    page_through("streams", "name", COUNT(streams));
    leave_all();
}

/* A list that is sent in many pieces. */
static void test_many(void **state)
{
    static struct two_guest crowd[2][CROWD];
    json_t *v;

    (void)state;
    for (unsigned w = 0; w < 2; w++) {
        for (unsigned i = 0; i < CROWD; i++) {
            struct two_guest *g = &crowd[w][i];

            *g = (struct two_guest){ .type = CLIENTS_RTMP_PLAY };
            (void)snprintf(g->id, sizeof(g->id), "m%u%06u", w, i);
            (void)snprintf(g->stream, sizeof(g->stream), "s%u", i % (CROWD / 2) + w * CROWD / 4);
            workers_call(&two_env[0], w, two_enter, g);
        }
    }
    v = ask("GET /api/v1/clients?count=100000");
    assert_int_equal(number(v, "total"), 2 * CROWD);
    assert_int_equal(json_array_size(json_object_get(v, "clients")), 2 * CROWD);
    json_decref(v);
    v = ask("GET /api/v1/clients?start=650&count=100");
    assert_int_equal(json_array_size(json_object_get(v, "clients")), 100);
    json_decref(v);
    v = ask("GET /api/v1/streams?count=100000");
    assert_int_equal(number(v, "total"), CROWD * 3 / 4);
    assert_int_equal(json_array_size(json_object_get(v, "streams")), CROWD * 3 / 4);
    json_decref(v);
    for (unsigned w = 0; w < 2; w++) {
        for (unsigned i = 0; i < CROWD; i++)
            workers_call(&two_env[0], w, two_leave, &crowd[w][i]);
    }
}

static void test_one_client(void **state)
{
    static const struct {
        const char *line;
        int code;
        size_t kicks; /* index of the connection */
    } rows[] = {
        { "GET /api/v1/clients/ply0000a", 0, COUNT(guests) },
        { "GET /api/v1/clients/ply1000a", 0, COUNT(guests) },
        { "GET /api/v1/clients/ply2000a", 2049, COUNT(guests) },
        { "DELETE /api/v1/clients/ply2000a", 2049, COUNT(guests) },
        { "DELETE /api/v1/clients/", 2049, COUNT(guests) },
        { "DELETE /api/v1/clients/ply0001a", 0, 2 },
        { "DELETE /api/v1/clients/pub1000c", 0, 6 },
    };

    (void)state;
    enter_all();
    for (size_t i = 0; i < COUNT(rows); i++) {
        json_t *v = ask(rows[i].line);

        print_message("  %s\n", rows[i].line);
        assert_int_equal(number(v, "code"), rows[i].code);
        json_decref(v);
        for (size_t k = 0; k < COUNT(guests); k++) {
            assert_int_equal(guests[k].kicked, k == rows[i].kicks);
            guests[k].kicked = 0;
        }
    }
    leave_all();
}

static void check_metrics(const char *const *wanted, size_t n)
{
    struct api_parts of = parts_of(NULL);
    struct wr w;

    wr_init(&w, 1 << 24);
    metrics_put(&w, &of);
    wr_u8(&w, 0);
    for (size_t i = 0; i < n; i++) {
        if (!strstr((char *)w.buf, wanted[i]))
            fail_msg("no %s in\n%s", wanted[i], (char *)w.buf);
    }
    wr_free(&w);
}

static void test_sums(void **state)
{
    static const char *const wanted[] = {
        "\nsrs_streams 5\n", "\nsrs_clients 11\n", "\nsrs_connections 12\n",
        "srs_protocol_clients{protocol=\"fmle-publish\"} 2\n",
        "srs_stream_clients{vhost=\"__defaultVhost__\",app=\"live\",stream=\"a\"} 4\n",
        "srs_stream_clients{vhost=\"__defaultVhost__\",app=\"live\",stream=\"c\"} 3\n",
        "srs_worker_streams{worker=\"0\"} 4\nsrs_worker_streams{worker=\"1\"} 4\n",
        "srs_worker_replicas{worker=\"0\"} 2\nsrs_worker_replicas{worker=\"1\"} 1\n",
    };
    json_t *v;

    (void)state;
    enter_all();
    v = ask("GET /api/v1/summaries");
    assert_int_equal(number(v, "data.system.conn_srs"), 12 + 1); /* including the requester */
    json_decref(v);
    check_metrics(wanted, COUNT(wanted));
    v = ask("GET /api/v1/workers");
    assert_int_equal(json_array_size(json_object_get(v, "workers")), 2);
    assert_int_equal(number(v, "workers.0.worker"), 0);
    assert_int_equal(number(v, "workers.1.worker"), 1);
    assert_int_equal(number(v, "workers.1.connections"), 5);
    assert_int_equal(number(v, "workers.1.streams"), 4);
    assert_true(number(v, "workers.0.thread") > 0);
    assert_true(number(v, "workers.1.thread") > 0);
    assert_int_not_equal(number(v, "workers.0.thread"), number(v, "workers.1.thread"));
    json_decref(v);
    leave_all();
}

/* ---- a blocked worker, as in a debugger */

struct hold {
    sem_t *held, *go;
};

static void hold_up(struct session_env *env, void *arg)
{
    const struct hold *h = arg;

    (void)env;
    (void)sem_post(h->held);
    (void)sem_wait(h->go);
}

static void test_held_up(void **state)
{
    static const char *const wanted[] = { "\nsrs_clients 11\n", "\nsrs_connections 12\n" };
    sem_t held, go;
    struct hold *h = malloc(sizeof(*h));
    co_usec began;
    json_t *v;

    (void)state;
    assert_non_null(h);
    enter_all();
    (void)sem_init(&held, 0, 0);
    (void)sem_init(&go, 0, 0);
    *h = (struct hold){ &held, &go };
    assert_false(workers_ask(&two_env[0], 1, hold_up, h, free, 0));
    (void)sem_wait(&held);
    began = co_clock();
    v = ask("GET /api/v1/summaries");
    assert_int_equal(number(v, "data.system.conn_srs"), 12 + 1); /* including the requester */
    json_decref(v);
    check_metrics(wanted, COUNT(wanted));
    v = ask("GET /api/v1/workers");
    assert_true(number(v, "workers.1.silent_ms") >= 500);
    assert_true(number(v, "workers.1.mailbox_ms") >= 500);
    json_decref(v);
    assert_true(co_clock() - began < CO_SECONDS(10));
    (void)sem_post(&go);
    leave_all(); /* it continues, and handles and discards the requests of the meantime */
    (void)sem_destroy(&held);
    (void)sem_destroy(&go);
}

static int begin(void **state)
{
    (void)state;
    two_begin(CONF);
    atomic_store(&two.ending, true); /* sources exist only with clients: none may follow */
    atomic_store(&two.connections, 12);
    machine_init(&machine);
    return 0;
}

static int end(void **state)
{
    (void)state;
    two_end();
    assert_int_equal(live_source_live(), 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_stream_is_one), TEST(test_pages), TEST(test_many), TEST(test_one_client),
        TEST(test_sums), TEST(test_held_up),
    };

    assert_ok(co_init());
    return cmocka_run_group_tests(tests, begin, end);
}
