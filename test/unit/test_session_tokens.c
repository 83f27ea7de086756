/* SPDX-License-Identifier: MIT */
/* test_session_tokens.c - credentials that a vhost requires, and where clients send them. */
#include "env.h"
#include "proto/token/link.h"
#include "session/guard.h"
#include "session/tokens.h"

#include <time.h>

#define SECRET "0123456789abcdef0123456789abcdef"

static char play_link[160], publish_link[160];

static void make_link(bool publish, char out[160])
{
    char expires[24], sign[TOKEN_SIGN_HEX + 1];
    const struct token_link link = { .expires = expires };
    const struct token_query ask = { .publish = publish, .vhost = "v", .app = "live", .name = "a" };

    (void)snprintf(expires, sizeof(expires), "%lld", (long long)time(NULL) + 60);
    token_link_sign(&link, &ask, SECRET, sign);
    (void)snprintf(out, 160, "?%sexpires=%s&sign=%s", publish ? "x=1&" : "", expires, sign);
}

#define BOTH "token { publish on; play on; secret " SECRET "; jwt_secret " SECRET "; }"

/* A % stands for a link of the right kind. */
static const struct {
    const char *rules, *param, *bearer;
    const char *publish, *play; /* "" is accepted; else the error */
} rows[] = {
    { "", "", NULL, "", "" },
    { "enabled off; " BOTH, "", NULL, "", "" },
    { "enabled on; " BOTH, "", NULL, "no token to publish", "no token to play" },
    { "enabled on; " BOTH, "%", NULL, "", "" },
    { "enabled on; " BOTH, "%&sign=0", NULL, "", "" }, /* the first counts */
    { "enabled on; " BOTH, "?sign=00", NULL, "both", "both" },
    { "enabled on; " BOTH, "?expires=1", NULL, "no token", "no token" },
    { "enabled on; " BOTH, "?token=a.b", NULL, "not a JWT", "not a JWT" },
    { "enabled on; " BOTH, "?jwt=a.b&token=x", NULL, "not a JWT", "not a JWT" },
    { "enabled on; " BOTH, "", "Bearer a.b", "not a JWT", "not a JWT" },
    { "enabled on; " BOTH, "", "bearer  a.b c", "not a JWT", "not a JWT" },
    { "enabled on; " BOTH, "", "Basic YTpi", "no token", "no token" },
    { "enabled on; token { play on; secret " SECRET "; }", "", NULL, "", "no token" },
    { "enabled on; token { play on; jwks none; }", "%", NULL, "", "no token" },
    { "enabled on; token { play on; jwks none; }", "?jwt=e30.e30.", NULL, "", "no alg" },
    /* addresses that need none */
    { "enabled on; token { play on; secret " SECRET "; except play 10.0.0.0/8; }", "", NULL, "",
      "" },
    { "enabled on; token { play on; secret " SECRET "; except publish all; }", "", NULL, "",
      "no token" },
    { "enabled on; token { play on; secret " SECRET "; except play 10.0.0.8; }", "", NULL, "",
      "no token" },
    { "enabled on; token { except publish 10.0.0.7; } key * 12345678;", "", NULL, "", "" },
    /* keys */
    { "enabled on; key live/a 12345678;", "?key=12345678", NULL, "", "" },
    { "enabled on; key live/a 12345678;", "?x=y&secret=12345678", NULL, "", "" },
    { "enabled on; key live/a 12345678;", "?key=1234567", NULL, "wrong stream key", "" },
    { "enabled on; key live/a 12345678;", "?key=123456789", NULL, "wrong stream key", "" },
    { "enabled on; key live/a 12345678;", "?key=", NULL, "no stream key", "" },
    { "enabled on; key live/a 12345678;", "", NULL, "no stream key", "" },
    { "enabled on; key live/a 12345678; key live/a abcdefgh;", "?key=abcdefgh", NULL, "", "" },
    { "enabled on; key live/b 12345678;", "", NULL, "", "" },
    { "enabled on; key live/b 12345678; key live/* abcdefgh;", "?key=12345678", NULL, "wrong",
      "" },
    { "enabled on; key live/* abcdefgh;", "?key=abcdefgh", NULL, "", "" },
    /* a key or a token: either suffices; a key is for publishing */
    { "enabled on; key live/a 12345678; " BOTH, "?key=12345678", NULL, "", "no token" },
    { "enabled on; key live/a 12345678; " BOTH, "%", NULL, "", "" },
    { "enabled on; key live/b 12345678; " BOTH, "?key=12345678", NULL, "no token", "no token" },
};

static void expect(struct session_env *env, const struct conf *c, size_t row, enum conf_action what)
{
    const char *says = what == CONF_PUBLISH ? rows[row].publish : rows[row].play;
    const char *link = what == CONF_PUBLISH ? publish_link : play_link;
    char param[400], text[512] = "";
    const struct session_stream names = { .app = "live", .name = "a", .ip = "10.0.0.7",
                                        .param = param };
    bool percent = rows[row].param[0] == '%';
    err_t err;

    (void)snprintf(param, sizeof(param), "%s%s", percent ? link : "", rows[row].param + percent);
    err = tokens_check(env, &c->vhost.v[0], what, &names, rows[row].bearer, NULL);
    if (err)
        (void)err_text(err, text, sizeof(text));
    if (err_code(err) != (*says ? ERR_TOKEN : ERR_OK) || !strstr(text, says))
        fail_msg("%s, %s: \"%s\" is not \"%s\"", rows[row].rules, param, text, says);
    if (strstr(text, SECRET) || strstr(text, "1234567"))
        fail_msg("it says what was shown: %s", text);
    err_free(&err);
}

static void what_must_be_shown(void **state)
{
    struct session_env *env = env_new("listen 1935;");

    (void)state;
    env->tokens = tokens_new();
    make_link(false, play_link);
    make_link(true, publish_link);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[512];
        struct conf *c;

        (void)snprintf(text, sizeof(text), "listen 1935; vhost v { security { %s } }",
                       rows[i].rules);
        c = mem_conf(text);
        expect(env, c, i, CONF_PUBLISH);
        expect(env, c, i, CONF_PLAY);
        conf_unref(c);
    }
    assert_true(tokens_stat(env->tokens, CONF_PUBLISH)->ok > 5);
    assert_true(tokens_stat(env->tokens, CONF_PUBLISH)->denied > 5);
    assert_true(tokens_stat(env->tokens, CONF_PLAY)->ok >= 3);
    assert_true(tokens_stat(env->tokens, CONF_PLAY)->denied > 5);
    tokens_free(env->tokens);
    env_free(&env);
}

/* A link to play does not allow publishing, nor another stream of the same folder. */
static void not_for_others(void **state)
{
    struct session_env *env = env_new("listen 1935; vhost v { security { enabled on; " BOTH " } }"
                                      "vhost w { security { enabled on; " BOTH " } }");
    const struct conf *c = env->conf;
    struct session_stream names = { .app = "live", .name = "a", .ip = "10.0.0.7",
                                  .param = play_link };

    (void)state;
    make_link(false, play_link);
    assert_ok(tokens_check(env, &c->vhost.v[0], CONF_PLAY, &names, NULL, NULL));
    assert_err(tokens_check(env, &c->vhost.v[0], CONF_PUBLISH, &names, NULL, NULL), ERR_TOKEN);
    assert_err(tokens_check(env, &c->vhost.v[1], CONF_PLAY, &names, NULL, NULL), ERR_TOKEN);
    names.name = "b";
    assert_err(tokens_check(env, &c->vhost.v[0], CONF_PLAY, &names, NULL, NULL), ERR_TOKEN);
    names.name = "a";
    names.app = "live2";
    assert_err(tokens_check(env, &c->vhost.v[0], CONF_PLAY, &names, NULL, NULL), ERR_TOKEN);
    env_free(&env);
}

static bool may_publish(struct session_env *env, const char *stream, const char *param,
                        const char *ip)
{
    const struct session_stream names = { .app = "live", .name = stream, .ip = ip,
                                          .param = param };
    err_t err = tokens_check(env, &env->conf->vhost.v[0], CONF_PUBLISH, &names, NULL, NULL);
    bool may = !err;

    err_free(&err);
    return may;
}

/* An address that sends several wrong keys is rejected with the right one, too; an address that repeats an
 * old key is not, nor one whose tokens are rejected, nor one that needs no key. */
static void guessed_keys(void **state)
{
    struct session_env *env = env_new("listen 1935; limits { wrong_secrets 3; wrong_lock 60; } vhost v { "
                                      "security { enabled on; key live/a 12345678; " BOTH " } } ");
    char key[32];

    (void)state;
    env->guard = guard_new();
    make_link(true, publish_link);
    for (int i = 0; i < 50; i++) {
        assert_false(may_publish(env, "a", "?key=old", "10.0.0.1"));
        assert_false(may_publish(env, "a", "?expires=1&sign=00", "10.0.0.1"));
        assert_false(may_publish(env, "a", "", "10.0.0.1"));
    }
    assert_true(may_publish(env, "a", "?key=12345678", "10.0.0.1"));
    for (int i = 0; i < 3; i++) {
        (void)snprintf(key, sizeof(key), "?key=%d", i);
        assert_false(may_publish(env, "a", key, "10.0.0.2"));
    }
    assert_false(may_publish(env, "a", "?key=12345678", "10.0.0.2"));
    assert_true(may_publish(env, "a", publish_link, "10.0.0.2"));
    assert_true(may_publish(env, "a", "?key=12345678", "10.0.0.3"));
    guard_free(env->guard);
    env_free(&env);
}

/* An admitted client stays, unless at_expiry says otherwise; a credential without expiry ends no client. */
static void when_it_ends(void **state)
{
    static const struct {
        const char *rules, *param;
        bool ends;
    } terms[] = {
        { BOTH, NULL, false }, { "token { publish on; secret " SECRET "; at_expiry keep; }", NULL, false },
        { "token { publish on; secret " SECRET "; at_expiry end; }", NULL, true },
        { "token { publish on; secret " SECRET "; at_expiry end; } key * 12345678;", "?key=12345678",
          false },
        { "token { publish on; secret " SECRET "; at_expiry end; except publish all; }", "?x", false },
        { "token { at_expiry end; secret " SECRET "; }", NULL, false },
    };
    struct session_env *env = env_new("listen 1935;");

    (void)state;
    make_link(true, publish_link);
    for (size_t i = 0; i < COUNT(terms); i++) {
        const struct session_stream names = { .app = "live", .name = "a", .ip = "10.0.0.7",
            .param = terms[i].param ? terms[i].param : publish_link };
        int64_t ends = -1, now = time(NULL);
        char text[512];
        struct conf *c;

        (void)snprintf(text, sizeof(text), "listen 1935; vhost v { security { enabled on; %s } }",
                       terms[i].rules);
        c = mem_conf(text);
        assert_ok(tokens_check(env, &c->vhost.v[0], CONF_PUBLISH, &names, NULL, &ends));
        if (terms[i].ends ? ends < now + 50 || ends > now + 61 : ends != 0)
            fail_msg("%s: ends %lld, now %lld", terms[i].rules, (long long)ends, (long long)now);
        conf_unref(c);
    }
    env_free(&env);
}

static void files_of_keys(void **state)
{
    static const char text[] = "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83OJ3D2x"
        "F1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\",\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
        "\"}]}";
    char path[] = "/tmp/jwks.XXXXXX", file[256];
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    struct conf *c;

    (void)state;
    (void)snprintf(file, sizeof(file), "listen 1935; vhost v { security { enabled on; "
                   "token { play on; jwks %s; } } }", path);
    c = mem_conf(file);
    assert_err_says(jwks_files_test(c), ERR_CONF, "not a JWKS");
    assert_int_equal(fwrite(text, 1, sizeof(text) - 1, f), sizeof(text) - 1);
    assert_int_equal(fclose(f), 0);
    assert_ok(jwks_files_test(c));
    assert_int_equal(remove(path), 0);
    assert_err_says(jwks_files_test(c), ERR_CONF, "No such file");
    conf_unref(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_must_be_shown), TEST(not_for_others), TEST(guessed_keys), TEST(when_it_ends),
        TEST(files_of_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
