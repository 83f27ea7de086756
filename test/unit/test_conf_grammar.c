/* SPDX-License-Identifier: MIT */
/* test_conf_grammar.c - syntax of configuration files. */
#include "conf/tree.h"
#include "conf_mem.h"

/* Prints the tree in one line: name(arg,arg) or name(arg){...}. */
static void print(const struct conf_node *block, char *buf, size_t size)
{
    for (const struct conf_node *n = block->first; n; n = n->next) {
        size_t used = strlen(buf);

        (void)snprintf(buf + used, size - used, "%s%s(", used && n != block->first ? " " : "",
                       n->name);
        for (size_t i = 0; i < n->args.n; i++) {
            used = strlen(buf);
            (void)snprintf(buf + used, size - used, "%s%s", i ? "," : "", n->args.v[i]);
        }
        used = strlen(buf);
        (void)snprintf(buf + used, size - used, n->block ? "){" : ")");
        if (n->block) {
            print(n, buf, size);
            used = strlen(buf);
            (void)snprintf(buf + used, size - used, "}");
        }
    }
}

static const struct mem_pair files[] = {
    { "one", "a 1;\n" },
    { "two", "b { c 2; include one; }" },
    { "blank", "" },
    { "comment", "# nothing here\n" },
    { "open", "x {\n" },
    { "shut", "}\n" },
    { "words", "half a line" },
    { "loop", "include loop;" },
    { "fan", "include fan2 fan2 fan2 fan2;" },
    { "fan2", "include fan3 fan3 fan3 fan3 fan3 fan3 fan3 fan3;" },
    { "fan3", "include blank blank blank blank blank blank blank blank;" },
    { NULL, NULL },
};

static const struct {
    const char *text, *tree;
} good[] = {
    { "a 1;", "a(1)" },
    { "a;", "a()" },
    { "a  1\t2;b 3;", "a(1,2) b(3)" },
    { "a{}", "a(){}" },
    { "a{b 1;}c 2;", "a(){b(1)} c(2)" },
    { "a x {\n b {\n c 1;\n }\n}\n", "a(x){b(){c(1)}}" },
    { "a 1; # comment; b 2;\nc 3;", "a(1) c(3)" },
    { "#a 1;\n\n\n#\nb 2;#", "b(2)" },
    { "a x#y;", "a(x#y)" },
    { "a 'x y' \"u;v\";", "a(x y,u;v)" },
    { "a 'x\"y' \"it's\";", "a(x\"y,it's)" },
    { "a \"\" '';", "a(,)" },
    { "a 'x';b 'y'{}", "a(x) b(y){}" },
    { "a '#x';", "a(#x)" },
    { "a x\\ny;", "a(x\\ny)" },
    { "a x'y;", "a(x'y)" },
    { "a x}y;", "a(x}y)" },
    { "a 1;\r\nb 2;\r\n", "a(1) b(2)" },
    { "\xef\xbb\xbf" "a 1;", "a(1)" },
    { "a [vhost]/[app];", "a([vhost]/[app])" },
    { "include one;", "a(1)" },
    { "z; include one two; y;", "z() a(1) b(){c(2) a(1)} y()" },
    { "v x { include two; }", "v(x){b(){c(2) a(1)}}" },
    { "a 1; include blank comment;", "a(1)" },
    { "a 1; include 'one';", "a(1) a(1)" },
    /* a line feed ends a known directive if the next line begins with another */
    { "listen 1\nmax_connections 2;", "listen(1) max_connections(2)" },
    { "listen 1 # x\n\nvhost v { hls { enabled on\nhls_fragment 2; } }",
      "listen(1) vhost(v){hls(){enabled(on) hls_fragment(2)}}" },
    { "vhost v { gop_cache off\nmode local\nplay { } }", /* old spellings are known too */
      "vhost(v){gop_cache(off) mode(local) play(){}}" },
    { "pid x\ninclude one;", "pid(x) a(1)" }, /* but a line feed does not end an include */
};

static err_t read_tree(const char *text, struct conf_arena *a, struct conf_node **root)
{
    struct mem m = { .main = text, .files = files };
    const struct conf_source src = mem_source(&m);

    return conf_tree_read(root, a, &src);
}

static void good_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        struct conf_arena *a = conf_arena_new();
        struct conf_node *root = NULL;
        char buf[512] = "";

        assert_ok(read_tree(good[i].text, a, &root));
        print(root, buf, sizeof(buf));
        assert_string_equal(buf, good[i].tree);
        conf_arena_free(a);
    }
}

static const struct {
    const char *text;
    enum err_code code;
    const char *says;
} bad[] = {
    { "a 1", ERR_CONF_SYNTAX, "main:1 : the file ends in \"a\": missing ;" },
    { "a 1\n;", ERR_CONF_SYNTAX, "main:1 : missing ; or {" },
    { "\na\n1;", ERR_CONF_SYNTAX, "main:2 : missing ; or {" },
    { "a x\n{ }", ERR_CONF_SYNTAX, "main:1 : missing ; or {" },
    { "listen 1\nnonsense 2;", ERR_CONF_SYNTAX, "main:1 : missing ; or {" },
    { "listen\nmax_connections 2;", ERR_CONF_SYNTAX, "main:1 : missing ; or {" },
    { "include one\nlisten 1;", ERR_CONF_SYNTAX, "main:1 : missing ; or {" },
    { "listen 1\n\"2\";", ERR_CONF_SYNTAX, "main:1 : missing ; or {" },
    { "vhost v { hls { enabled on\nmax_connections 2; } }", ERR_CONF_SYNTAX, "missing ; or {" },
    { "vhost v { hls { enabled on\n } }", ERR_CONF_SYNTAX, "missing ; or {" },
    { "vhost v { transcode { engine { vparams { g 1\ng 2; } } } }", ERR_CONF_SYNTAX, "missing ; or {" },
    { "a 1 # comment\n;", ERR_CONF_SYNTAX, "main:1 : missing ; or {" },
    { "a {\nb 1;\n", ERR_CONF_SYNTAX, "missing } for \"a\" of line 1" },
    { "a { b { }", ERR_CONF_SYNTAX, "missing } for \"a\"" },
    { "}", ERR_CONF_SYNTAX, "main:1 : } without a block" },
    { "a { } }", ERR_CONF_SYNTAX, "} without a block" },
    { "a { b 1 }", ERR_CONF_SYNTAX, "missing ; after \"b\"" },
    { "{ a 1; }", ERR_CONF_SYNTAX, "main:1 : { without a name" },
    { "\n\n{ }", ERR_CONF_SYNTAX, "main:3 : { without a name" },
    { ";", ERR_CONF_SYNTAX, "; without a name" },
    { "a 1;;", ERR_CONF_SYNTAX, "; without a name" },
    { "'' 1;", ERR_CONF_SYNTAX, "; without a name" },
    { "a 'x", ERR_CONF_SYNTAX, "missing closing '" },
    { "a \"x\n\";", ERR_CONF_SYNTAX, "main:1 : missing closing \"" },
    { "a 'x'y;", ERR_CONF_SYNTAX, "\"y\" directly after a closing quote" },
    { "a { b 'x'}", ERR_CONF_SYNTAX, "\"}\" directly after a closing quote" },
    { "", ERR_CONF, "is empty" },
    { "  \n# a 1;\n", ERR_CONF, "is empty" },
    { "include blank;", ERR_CONF, "is empty" },
    { "include;", ERR_CONF_SYNTAX, "include without a file" },
    { "a 1;\ninclude missing;", ERR_CONF, "main:2 : include missing : read the configuration" },
    { "include open;\n}", ERR_CONF_SYNTAX, "open:2 : missing } for \"x\" of line 1" },
    { "a { include shut;", ERR_CONF_SYNTAX, "shut:1 : } without a block" },
    { "include words; ;", ERR_CONF_SYNTAX, "words:1 : the file ends in" },
    { "include loop;", ERR_CONF_SYNTAX, "more than 16 nested includes" },
    { "include fan;", ERR_CONF_SYNTAX, "more than 256 files" },
    { "a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{}}}}}}}}}}}}}}}}", ERR_CONF_SYNTAX, "more than 16 nested blocks" },
};

static void bad_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct conf_arena *a = conf_arena_new();
        struct conf_node *root = NULL;

        assert_err_says(read_tree(bad[i].text, a, &root), bad[i].code, bad[i].says);
        assert_null(root);
        conf_arena_free(a);
    }
}

static void zero_byte(void **state)
{
    static const char text[] = "listen 19\0" "35;";
    struct mem m = { .main = text, .main_size = sizeof(text) - 1 };
    struct conf *c = NULL;

    (void)state;
    assert_err_says(mem_load(&c, &m), ERR_CONF_SYNTAX, "main:1 : a zero byte");
}

/* A file cut at any byte gives a result, valid or not, without leaks. */
static void cut_at_every_byte(void **state)
{
    static const char text[] =
        "listen 1935 [::1]:1936; # where\nmax_connections 10;\ninclude \"one.conf\";\n"
        "vhost a.b { gop_cache off; forward 127.0.0.1; mr { enabled on; latency 1; }\n"
        " security { allow play all; deny publish 10.0.0.0/8; } exec { publish a 'b c'; }\n"
        " transcode live { engine x { vparams { t 1; } } } }\n";
    static const struct mem_pair one[] = { { "one.conf", "chunk_size 128;" }, { NULL, NULL } };
    size_t good_ones = 0;

    (void)state;
    for (size_t i = 1; i < sizeof(text); i++) {
        struct mem m = { .main = text, .main_size = i, .files = one };
        struct conf *c = NULL;
        err_t err = mem_load(&c, &m);

        assert_true((err == NULL) == (c != NULL));
        good_ones += c != NULL;
        err_free(&err);
        conf_unref(c);
    }
    /* valid cuts: after the two lines before the vhost, after the include, and at the end, with spaces */
    assert_true(good_ones >= 5 && good_ones < 20);
    assert_int_equal(conf_live(), 0);
}

static void too_many_words(void **state)
{
    char text[2048] = "a";
    struct conf_arena *a = conf_arena_new();
    struct conf_node *root = NULL;

    (void)state;
    for (int i = 0; i < 300; i++)
        memcpy(text + 1 + i * 2, " x", 2);
    assert_err_says(read_tree(text, a, &root), ERR_CONF_SYNTAX, "more than 256 words");
    conf_arena_free(a);
}

static err_t huge_read(void *arg, const char *path, char **text, size_t *size)
{
    (void)arg;
    (void)path;
    *size = CONF_TREE_BYTES + 1;
    *text = malloc(*size);
    assert_non_null(*text);
    memset(*text, ' ', *size);
    return NULL;
}

static void too_many_bytes(void **state)
{
    const struct conf_source src = { .path = "main", .read = huge_read };
    struct conf *c = NULL;

    (void)state;
    assert_err_says(conf_load(&c, &src, NULL), ERR_CONF_SYNTAX, "more than 4194304 bytes");
}

static void files_of_the_disk(void **state)
{
    struct conf_source src = { .path = "/nonexistent/x.conf" };
    struct conf *c = NULL;

    (void)state;
    assert_err_says(conf_load(&c, &src, NULL), ERR_CONF, "No such file");
    src.path = "/";
    assert_err_says(conf_load(&c, &src, NULL), ERR_CONF, "is a folder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(good_files),
        TEST(bad_files),
        TEST(zero_byte),
        TEST(cut_at_every_byte),
        TEST(too_many_words),
        TEST(too_many_bytes),
        TEST(files_of_the_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
