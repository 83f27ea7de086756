/* SPDX-License-Identifier: MIT */
/* test_app_options.c - the command line. */
#include "app/options.h"
#include "unit.h"

#include <string.h>

#define H .help = true
#define N .nothing = true

static const struct {
    const char *line; /* words are split at spaces */
    enum err_code code;
    struct options want;
} rows[] = {
    { "", ERR_OK, { N } },
    { "-h", ERR_OK, { H } },
    { "-?", ERR_OK, { H } },
    { "--help", ERR_OK, { H } },
    { "conf/srs.conf", ERR_OK, { H } },
    { "-c a.conf", ERR_OK, { .conf = "a.conf" } },
    { "-ca.conf", ERR_OK, { .conf = "a.conf" } },
    { "-c -t", ERR_OK, { .conf = "-t" } },
    { "-c a -c b", ERR_OK, { .conf = "b" } },
    { "-t -c a.conf", ERR_OK, { .conf = "a.conf", .test = true } },
    { "-c a.conf -t", ERR_OK, { .conf = "a.conf", .test = true } },
    { "-tc a.conf", ERR_OK, { .conf = "a.conf", .test = true } },
    { "-tca.conf", ERR_OK, { .conf = "a.conf", .test = true } },
    { "-e", ERR_OK, { .env_only = true } },
    { "-et", ERR_OK, { .env_only = true, .test = true } },
    { "-c a.conf --doctor", ERR_OK, { .conf = "a.conf", .doctor = true } },
    { "--doctor -e", ERR_OK, { .env_only = true, .doctor = true } },
    { "--doctors", ERR_CONF, { 0 } },
    { "-v", ERR_OK, { .version = true } },
    { "-V", ERR_OK, { .version = true } },
    { "--version", ERR_OK, { .version = true } },
    { "-v -x", ERR_OK, { .version = true } },
    { "-vx", ERR_OK, { .version = true } },
    { "-g", ERR_OK, { .signature = true } },
    { "-G", ERR_OK, { .signature = true } },
    { "-c a b", ERR_OK, { H, .conf = "a" } },
    { "-c", ERR_CONF, { 0 } },
    { "-tc", ERR_CONF, { .test = true } },
    { "-x", ERR_CONF, { 0 } },
    { "-tx", ERR_CONF, { .test = true } },
    { "-", ERR_CONF, { 0 } },
    { "--", ERR_CONF, { 0 } },
    { "--versions", ERR_CONF, { 0 } },
};

static void same(const struct options *got, const struct options *want)
{
    assert_int_equal(got->nothing, want->nothing);
    assert_int_equal(got->help, want->help);
    assert_int_equal(got->version, want->version);
    assert_int_equal(got->signature, want->signature);
    assert_int_equal(got->test, want->test);
    assert_int_equal(got->doctor, want->doctor);
    assert_int_equal(got->env_only, want->env_only);
    assert_int_equal(got->conf != NULL, want->conf != NULL);
    if (want->conf)
        assert_string_equal(got->conf, want->conf);
}

static void test_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[64], *argv[16] = { "srs" };
        struct options got;
        int argc = 1;

        print_message("  srs %s\n", rows[i].line);
        strcpy(line, rows[i].line);
        for (char *p = strtok(line, " "); p; p = strtok(NULL, " "))
            argv[argc++] = p;
        assert_err(options_parse(&got, argc, argv), rows[i].code);
        if (rows[i].code == ERR_OK)
            same(&got, &rows[i].want);
    }
}

static const char *file_env, *only_env;

static const char *get(const char *name)
{
    if (strcmp(name, "SRS_CONFIG_FILE") == 0)
        return file_env;
    assert_string_equal(name, "SRS_ENV_ONLY");
    return only_env;
}

static const struct {
    const char *name, *file, *only;
    struct options start, want;
} env_rows[] = {
    { "nothing", NULL, NULL, { N }, { N, H } },
    { "empty is not set", "", "", { N }, { N, H } },
    { "help was asked for", "e.conf", "on", { H }, { H, .conf = "e.conf", .env_only = true } },
    { "the file wins over -c", "e.conf", NULL, { .conf = "a.conf" }, { .conf = "e.conf" } },
    { "the file needs no -c", "e.conf", NULL, { N }, { N, .conf = "e.conf" } },
    { "env only", NULL, "on", { N }, { N, .env_only = true } },
    { "true will do", NULL, "true", { N }, { N, .env_only = true } },
    { "env only is off", NULL, "off", { N }, { N, H } },
};

static void test_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(env_rows); i++) {
        struct options got = env_rows[i].start;

        print_message("  %s\n", env_rows[i].name);
        file_env = env_rows[i].file;
        only_env = env_rows[i].only;
        options_from_env(&got, get);
        same(&got, &env_rows[i].want);
    }
}

static void test_help_names_every_option(void **state)
{
    static const char *const words[] = { "-c FILE", "-t", "-e", "--version", "-g", "--help",
                                         "--doctor" };
    char text[4096] = { 0 };
    FILE *f = fmemopen(text, sizeof(text) - 1, "w");

    (void)state;
    options_help(f, "./objs/srs");
    (void)fclose(f);
    for (size_t i = 0; i < COUNT(words); i++)
        assert_non_null(strstr(text, words[i]));
    assert_non_null(strstr(text, "./objs/srs -c conf/srs.conf"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines),
        TEST(test_environment),
        TEST(test_help_names_every_option),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
