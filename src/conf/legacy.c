/* SPDX-License-Identifier: MIT */
/* legacy.c - converts old spellings in the tree before it is checked. */
#include "conf/legacy.h"

#include <assert.h>
#include <string.h>

static const char *const aac_words[] = { "transcode", "on", "discard", "off", NULL };
static const char *const bframe_words[] = { "keep", "on", "discard", "off", NULL };

#define INTO_PLAY(name) { .in = "vhost", .from = name, .to = "play." name, .leaf = true }
#define INTO_CLUSTER(name) { .in = "vhost", .from = name, .to = "cluster." name, .leaf = true }

/* Applied in this order; a row may process the result of an earlier one. */
const struct conf_legacy conf_legacy_rows[] = {
    { .in = "", .from = "http_stream", .to = "http_server" },
    { .in = "", .from = "listen", .to = "rtmp.listen", .leaf = true },
    { .in = "", .from = "chunk_size", .to = "rtmp.chunk_size", .leaf = true },
    { .in = "vhost", .from = "http", .to = "http_static" },
    { .in = "vhost", .from = "refer", .to = "refer.all", .leaf = true, .enable = true },
    { .in = "vhost", .from = "refer_play", .to = "refer.play", .leaf = true, .enable = true },
    { .in = "vhost", .from = "refer_publish", .to = "refer.publish", .leaf = true, .enable = true },
    { .in = "vhost", .from = "mr.enabled", .to = "publish.mr" },
    { .in = "vhost", .from = "mr.latency", .to = "publish.mr_latency" },
    { .in = "vhost", .from = "publish_1stpkt_timeout", .to = "publish.firstpkt_timeout" },
    { .in = "vhost", .from = "publish_normal_timeout", .to = "publish.normal_timeout" },
    INTO_PLAY("time_jitter"),
    INTO_PLAY("mix_correct"),
    INTO_PLAY("atc"),
    INTO_PLAY("atc_auto"),
    INTO_PLAY("mw_latency"),
    INTO_PLAY("gop_cache"),
    INTO_PLAY("gop_cache_max_frames"),
    INTO_PLAY("queue_length"),
    INTO_PLAY("send_min_interval"),
    INTO_PLAY("reduce_sequence_header"),
    { .in = "vhost", .from = "forward", .to = "forward.destination", .leaf = true, .enable = true },
    INTO_CLUSTER("mode"),
    INTO_CLUSTER("origin"),
    INTO_CLUSTER("token_traverse"),
    INTO_CLUSTER("vhost"),
    INTO_CLUSTER("debug_srs_upnode"),
    { .in = "vhost", .from = "nack.enabled", .to = "rtc.nack" },
    { .in = "vhost", .from = "nack.no_copy", .to = "rtc.nack_no_copy" },
    { .in = "vhost", .from = "twcc.enabled", .to = "rtc.twcc" },
    { .in = "vhost", .from = "rtc.aac", .to = "rtc.rtmp_to_rtc", .words = aac_words },
    { .in = "vhost", .from = "rtc.bframe", .to = "rtc.keep_bframe", .words = bframe_words },
    { .in = "srt_server", .from = "tlpkdrop", .to = "tlpktdrop" },
    { .in = "stream_caster", .from = "host", .to = "sip.candidate", .leaf = true },
};
const size_t conf_legacy_count = sizeof(conf_legacy_rows) / sizeof(conf_legacy_rows[0]);

bool conf_legacy_knows(const struct conf_node *block, const char *name, size_t size)
{
    if (conf_table_find(block->table, name, size) ||
        (size == strlen("include") && memcmp(name, "include", size) == 0))
        return true;
    for (size_t i = 0; i < conf_legacy_count; i++) {
        const struct conf_legacy *row = &conf_legacy_rows[i];

        if (strcmp(row->in, block->name) == 0 &&
            strcspn(row->from, ".") == size && memcmp(row->from, name, size) == 0)
            return true;
    }
    return false;
}

static struct conf_node *find(const struct conf_node *block, const char *name, size_t size)
{
    struct conf_node *n = block->first;

    while (n && (strlen(n->name) != size || memcmp(n->name, name, size) != 0))
        n = n->next;
    return n;
}

/* Returns the block that contains the last name of a dotted path; *name is set to that name. If a
 * block is missing, creates it in the arena, or returns NULL without an arena. */
static struct conf_node *walk(struct conf_node *block, const char *path, const char **name,
                              struct conf_arena *make, const struct conf_node *where)
{
    const char *dot;

    for (; (dot = strchr(path, '.')); path = dot + 1) {
        struct conf_node *inner = find(block, path, (size_t)(dot - path));

        if (!inner && make) {
            inner = conf_node_new(make, conf_arena_str(make, path, (size_t)(dot - path)), where);
            inner->block = true;
            conf_node_append(block, inner);
        }
        if (!inner)
            return NULL;
        block = inner;
    }
    *name = path;
    return block;
}

static void change_word(struct conf_node *node, const char *const *words, struct conf_arena *a)
{
    const char **v;

    for (; node->args.n && words[0]; words += 2) {
        if (strcmp(node->args.v[0], words[0]) != 0)
            continue;
        v = conf_arena_get(a, sizeof(*v));
        v[0] = words[1];
        node->args = (struct conf_list){ .v = v, .n = 1 };
        return;
    }
}

static void enable(struct conf_node *block, struct conf_arena *a, const struct conf_node *where)
{
    const char **v;
    struct conf_node *on;

    if (conf_node_find(block, "enabled"))
        return;
    on = conf_node_new(a, "enabled", where);
    v = conf_arena_get(a, sizeof(*v));
    v[0] = "on";
    on->args = (struct conf_list){ .v = v, .n = 1 };
    conf_node_append(block, on);
}

/* `from` was removed from its block. If the new spelling exists too, it comes first and wins. */
static void put(const struct conf_legacy *row, struct conf_node *in, struct conf_node *node,
                struct conf_arena *a)
{
    const char *name = NULL;
    struct conf_node *to = walk(in, row->to, &name, a, node);

    assert(to); /* missing blocks are created */
    if (row->words)
        change_word(node, row->words, a);
    node->name = name;
    to->block = true;
    conf_node_append(to, node);
    if (row->enable)
        enable(to, a, node);
}

static void rewrite_row(const struct conf_legacy *row, struct conf_node *in, struct conf_arena *a)
{
    const char *name = NULL;
    struct conf_node *block = walk(in, row->from, &name, NULL, NULL);
    struct conf_node *node = block ? block->first : NULL;
    bool moved = false;

    while (node) {
        struct conf_node *next = node->next;

        if (strcmp(node->name, name) == 0 && !(row->leaf && node->block)) {
            conf_node_remove(block, node);
            put(row, in, node, a);
            moved = true;
        }
        node = next;
    }
    if (moved && block != in && !block->first) /* the block is empty now */
        conf_node_remove(in, block);
}

void conf_legacy_rewrite(struct conf_node *root, struct conf_arena *a)
{
    for (size_t i = 0; i < conf_legacy_count; i++) {
        const struct conf_legacy *row = &conf_legacy_rows[i];

        if (!*row->in)
            rewrite_row(row, root, a);
        for (struct conf_node *n = root->first; n && *row->in; n = n->next) {
            if (strcmp(n->name, row->in) == 0)
                rewrite_row(row, n, a);
        }
    }
}
