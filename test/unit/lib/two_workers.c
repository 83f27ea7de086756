/* SPDX-License-Identifier: MIT */
/* two_workers.c - two workers in one test: the first is the test's thread, the second has a
 * scheduler and a thread of its own. They have mailboxes, streams and clients, and nothing else.
 */
#include "two_workers.h"

struct workers two;
struct session_env two_env[2];

static struct co_group two_mail[2];
static struct co_notify two_ready, two_ended;
static pthread_t two_thread;

static void two_open(unsigned i)
{
    struct session_env *env = &two_env[i];

    env->workers = &two;
    env->worker = i;
    env->generation = 1;
    env->signature = "us";
    env->version = "1";
    env->server_id = "vid-1";
    env->service_id = "run";
    env->streams = live_registry_new();
    env->clients = clients_new(env->streams, "vid-1");
    two.v[i].env = env;
    co_group_init(&two.v[i].calls);
    co_group_init(&two_mail[i]);
    assert(!co_mailbox_open(&two.v[i].mail));
    assert(!co_go(&two_mail[i], "mail", co_mailbox_run, &two.v[i].mail));
}

static void two_close(unsigned i)
{
    err_t err = co_group_wait(&two_mail[i]);

    err_free(&err);
    err = co_group_wait(&two.v[i].calls);
    err_free(&err);
    co_mailbox_close(&two.v[i].mail);
    clients_free(two_env[i].clients);
    live_registry_free(two_env[i].streams);
}

static void *two_second(void *unused)
{
    (void)unused;
    assert(!co_init());
    two_open(1);
    co_notify_raise(&two_ready);
    two_close(1);
    co_fini();
    co_notify_raise(&two_ended);
    return NULL;
}

static void two_stop(struct session_env *env, void *unused)
{
    (void)unused;
    co_group_interrupt(&two_mail[env->worker]);
}

static void two_close_replicas(struct session_env *env, void *unused)
{
    (void)unused;
    replicas_close_all(env);
}

void two_begin(const char *conf)
{
    two.n = 2;
    two.stream_owners = stream_owners_new();
    two_env[0].conf = mem_conf(conf);
    two_env[1].conf = mem_conf(conf);
    assert_ok(co_notify_open(&two_ready));
    assert_ok(co_notify_open(&two_ended));
    assert_int_equal(pthread_create(&two_thread, NULL, two_second, NULL), 0);
    assert_int_equal(co_notify_wait(&two_ready, CO_SECONDS(20)), CO_WOKEN);
    two_open(0);
}

void two_end(void)
{
    workers_all(&two_env[0], two_close_replicas, NULL);
    workers_call(&two_env[0], 1, two_stop, NULL);
    assert_int_equal(co_notify_wait(&two_ended, CO_SECONDS(20)), CO_WOKEN);
    assert_int_equal(pthread_join(two_thread, NULL), 0);
    co_group_interrupt(&two_mail[0]);
    two_close(0);
    co_notify_close(&two_ready);
    co_notify_close(&two_ended);
    stream_owners_free(two.stream_owners);
    two_env[0].conf = conf_unref(two_env[0].conf);
    two_env[1].conf = conf_unref(two_env[1].conf);
}

static void two_describe(struct client *c, struct clients_info *out)
{
    (void)c;
    *out = (struct clients_info){ .ip = "192.0.2.1", .tc_url = "rtmp://h/live", .page_url = "",
                                  .swf_url = "", .out = 100, .in = 10 };
}

static void two_kick(struct client *c)
{
    ((struct two_guest *)(void *)c)->kicked++;
}

void two_enter(struct session_env *env, void *guest)
{
    static const struct clients_kind kind = { two_describe, two_kick };
    static const struct live_settings set = { .queue_length = 1000000, .max_bytes = 1 << 20 };
    struct two_guest *g = guest;
    const struct session_stream names = { .vhost = "__defaultVhost__", .app = "live",
        .name = g->stream, .param = "", .tc_url = "", .page_url = "", .ip = "" };
    char path[96];

    (void)snprintf(path, sizeof(path), "__defaultVhost__/live/%s", g->stream);
    g->src = live_registry_get(env->streams, path, &set);
    replicas_own(env, g->src);
    clients_wait(env->clients, &g->client, &kind, g->type, g->id, &names, g->src);
    clients_admit(&g->client, &names);
}

void two_leave(struct session_env *env, void *guest)
{
    struct two_guest *g = guest;

    (void)env;
    clients_leave(&g->client, 10, 100, NULL);
    g->src = live_source_unref(g->src);
}
