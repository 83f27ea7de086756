/* SPDX-License-Identifier: MIT */
/* test_sink_list.c - sinks as rows over one list of published streams: two rows record their calls
 * while streams come and go and the configuration changes. */
#include "env.h"

#include "base/container_of.h"
#include "sink/list.h"

struct fake {
    struct sink sink;
    char word;
};

static char said[1024]; /* "+x a": the sink x begins with the stream a */

static void say(const struct sink *sink, char what, const char *of)
{
    size_t used = strlen(said);

    (void)snprintf(said + used, sizeof(said) - used, "%c%c%s ", what,
                   container_of(sink, struct fake, sink)->word, of);
}

static void said_is(const char *text)
{
    assert_string_equal(said, text);
    said[0] = '\0';
}

static void init_x(struct sink *sink, const struct sink_setup *setup)
{
    assert_non_null(setup->env);
    assert_ptr_equal(sink->env, setup->env);
    container_of(sink, struct fake, sink)->word = 'x';
}

static void init_y(struct sink *sink, const struct sink_setup *setup)
{
    (void)setup;
    container_of(sink, struct fake, sink)->word = 'y';
}

/* Keeps the name of the stream, to identify it later. */
static void begin(struct sink *sink, struct sink_stream *stream, const struct conf_vhost *vhost)
{
    void **at = sink_of(sink, stream);

    assert_non_null(vhost);
    say(sink, *at ? '=' : '+', stream->names.name);
    if (*at)
        assert_string_equal(*at, stream->names.name);
    else
        *at = strdup(stream->names.name);
}

static void end(struct sink *sink, struct sink_stream *stream)
{
    void **at = sink_of(sink, stream);

    say(sink, '-', *at ? *at : "");
    free(*at);
    *at = NULL;
}

static void reload(struct sink *sink)
{
    say(sink, '!', "");
}

static void start(struct sink *sink)
{
    say(sink, 's', "");
}

static void stop(struct sink *sink)
{
    say(sink, 'e', "");
}

static void free_fake(struct sink *sink)
{
    say(sink, 'f', "");
}

static const struct sink_ops full = {
    .name = "x", .size = sizeof(struct fake), .init = init_x, .start = start, .begin = begin,
    .end = end, .reload = reload, .drain = start, .interrupt = start, .stop = stop,
    .free = free_fake,
};
/* The minimum. */
static const struct sink_ops least = {
    .name = "y", .size = sizeof(struct fake), .init = init_y, .begin = begin, .end = end,
    .free = free_fake,
};
static const struct sink_ops unused = { .name = "z" };
static const struct sink_ops *const rows[] = { &full, &least };

struct scene {
    struct session_env *env;
    struct sink_list *list;
    struct live_source *a, *b;
};

static struct session_stream names_of(const char *vhost, const char *name)
{
    return (struct session_stream){ .vhost = vhost, .app = "live", .name = name, .param = "",
                                    .tc_url = "", .page_url = "", .ip = "" };
}

static void open_scene(struct scene *x, const char *conf)
{
    const struct live_settings set = { 0 };

    *x = (struct scene){ .env = env_new(conf), .a = live_source_new("v/live/a", &set),
                         .b = live_source_new("w/live/b", &set) };
    x->list = sink_list_new(rows, COUNT(rows), &(struct sink_setup){ .env = x->env });
    said[0] = '\0';
}

static void publish(struct scene *x, const char *vhost, const char *name, struct live_source *src)
{
    char own[8] = "";
    struct session_stream names = names_of(vhost, own);

    (void)snprintf(own, sizeof(own), "%s", name);
    sink_list_begin(x->list, conf_vhost_find(x->env->conf, vhost), &names, src);
    memset(own, '?', sizeof(own)); /* the list has copies */
}

static void close_scene(struct scene *x)
{
    sink_list_free(x->list);
    assert_non_null(strstr(said, "fx fy "));
    (void)live_source_unref(x->a);
    (void)live_source_unref(x->b);
    env_free(&x->env);
}

static const char both[] = "listen 1935; vhost v { } vhost w { }";

static void streams_come_and_go(void **state)
{
    struct scene x;

    (void)state;
    open_scene(&x, both);
    assert_null(sink_list_next(x.list, NULL));
    publish(&x, "v", "a", x.a);
    publish(&x, "w", "b", x.b);
    said_is("+xa +ya +xb +yb ");
    assert_ptr_equal(sink_list_next(x.list, NULL)->src, x.b);
    assert_ptr_equal(sink_list_next(x.list, sink_list_next(x.list, NULL))->src, x.a);
    sink_list_end(x.list, x.a);
    sink_list_end(x.list, x.a); /* it is no longer there */
    said_is("-xa -ya ");
    publish(&x, "v", "a", x.a); /* the next publisher */
    said_is("+xa +ya ");
    publish(&x, "v", "c", x.a); /* one whose end was not reported */
    said_is("-xa -ya +xc +yc ");
    sink_list_stop(x.list);
    said_is("-xc -yc -xb -yb ex ");
    assert_null(sink_list_next(x.list, NULL));
    close_scene(&x);
}

static void use(struct scene *x, const char *conf)
{
    env_reload(x->env, conf);
    sink_list_reload(x->list);
}

/* A removed vhost ends its streams' sinks, but not the streams. */
static void a_reload_begins_what_is_wanted_now(void **state)
{
    struct scene x;

    (void)state;
    open_scene(&x, both);
    sink_list_reload(x.list);
    said_is("!x ");
    publish(&x, "v", "a", x.a);
    publish(&x, "w", "b", x.b);
    said_is("+xa +ya +xb +yb ");
    use(&x, both);
    said_is("!x =xb =xa =yb =ya ");
    use(&x, "listen 1935; vhost v { }");
    said_is("!x -xb =xa -yb =ya ");
    use(&x, "listen 1935; vhost v { }");
    said_is("!x -x =xa -y =ya "); /* again, of nothing */
    use(&x, both);
    said_is("!x +xb =xa +yb =ya ");
    use(&x, "listen 1935; vhost v { }");
    said_is("!x -xb =xa -yb =ya ");
    sink_list_end(x.list, x.b);
    said_is("-x -y ");
    sink_list_stop(x.list);
    close_scene(&x);
}

/* A row may leave functions out: they are not called. */
static void rows_may_leave_out(void **state)
{
    struct scene x;

    (void)state;
    open_scene(&x, both);
    assert_ptr_equal(sink_list_find(x.list, &full)->ops, &full);
    assert_ptr_equal(sink_list_find(x.list, &least)->ops, &least);
    assert_null(sink_list_find(x.list, &unused));
    sink_list_start(x.list);
    sink_list_drain(x.list);
    sink_list_interrupt(x.list);
    said_is("sx sx sx ");
    sink_list_stop(x.list);
    said_is("ex ");
    close_scene(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(streams_come_and_go),
        TEST(a_reload_begins_what_is_wanted_now),
        TEST(rows_may_leave_out),
    };

    return cmocka_run_group_tests_name("sink_list", tests, NULL, NULL);
}
