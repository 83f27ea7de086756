/* SPDX-License-Identifier: MIT */
/* test_amf0.c - AMF0 and AMF3 values, valid and invalid, as rows; round trips; limits. */
#include "proto/rtmp/amf0.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES(s) (s), sizeof(s) - 1

#define ONE "\x3f\xf0\x00\x00\x00\x00\x00\x00"
#define END "\x00\x00\x09"

/* One value each; reading and writing it gives `bytes` again unless `again` says otherwise. */
static const struct {
    const char *name, *bytes;
    size_t size;
    enum amf_type type;
    const char *again;
    size_t again_size;
} rows[] = {
    { "number", BYTES("\x00" ONE), AMF_NUMBER, NULL, 0 },
    { "true", BYTES("\x01\x01"), AMF_BOOLEAN, NULL, 0 },
    { "false", BYTES("\x01\x00"), AMF_BOOLEAN, NULL, 0 },
    { "true as 7", BYTES("\x01\x07"), AMF_BOOLEAN, BYTES("\x01\x01") },
    { "string", BYTES("\x02\x00\x03" "abc"), AMF_STRING, NULL, 0 },
    { "empty string", BYTES("\x02\x00\x00"), AMF_STRING, NULL, 0 },
    { "string with a zero", BYTES("\x02\x00\x03" "a\x00" "c"), AMF_STRING, NULL, 0 },
    { "object", BYTES("\x03\x00\x01" "a\x00" ONE "\x00\x01" "b\x05" END), AMF_OBJECT, NULL, 0 },
    { "empty object", BYTES("\x03" END), AMF_OBJECT, NULL, 0 },
    { "empty key", BYTES("\x03\x00\x00\x05" END), AMF_OBJECT, NULL, 0 },
    { "object in object", BYTES("\x03\x00\x01" "a\x03\x00\x01" "b\x01\x01" END END), AMF_OBJECT,
      NULL, 0 },
    { "a key twice", BYTES("\x03\x00\x01" "a\x05\x00\x01" "b\x06\x00\x01" "a\x01\x01" END),
      AMF_OBJECT, BYTES("\x03\x00\x01" "a\x01\x01\x00\x01" "b\x06" END) },
    { "null", BYTES("\x05"), AMF_NULL, NULL, 0 },
    { "undefined", BYTES("\x06"), AMF_UNDEFINED, NULL, 0 },
    { "reference", BYTES("\x07\x00\x05"), AMF_REFERENCE, NULL, 0 },
    { "ecma array", BYTES("\x08\x00\x00\x00\x01\x00\x01" "a\x05" END), AMF_ECMA_ARRAY, NULL, 0 },
    { "ecma array, wrong count", BYTES("\x08\x00\x00\x00\x09\x00\x01" "a\x05" END),
      AMF_ECMA_ARRAY, BYTES("\x08\x00\x00\x00\x01\x00\x01" "a\x05" END) },
    { "strict array", BYTES("\x0a\x00\x00\x00\x02\x05\x06"), AMF_STRICT_ARRAY, NULL, 0 },
    { "empty strict array", BYTES("\x0a\x00\x00\x00\x00"), AMF_STRICT_ARRAY, NULL, 0 },
    { "date", BYTES("\x0b" ONE "\xff\xc4"), AMF_DATE, NULL, 0 },
    { "long string", BYTES("\x0c\x00\x00\x00\x02" "ab"), AMF_STRING, BYTES("\x02\x00\x02" "ab") },
    { "unsupported", BYTES("\x0d"), AMF_UNSUPPORTED, NULL, 0 },
    { "xml", BYTES("\x0f\x00\x00\x00\x04<a/>"), AMF_XML, NULL, 0 },
    { "typed object", BYTES("\x10\x00\x01" "T\x00\x01" "a\x05" END), AMF_TYPED_OBJECT, NULL, 0 },
    /* AMF3 after the switch */
    { "3 undefined", BYTES("\x11\x00"), AMF_UNDEFINED, BYTES("\x06") },
    { "3 null", BYTES("\x11\x01"), AMF_NULL, BYTES("\x05") },
    { "3 true", BYTES("\x11\x03"), AMF_BOOLEAN, BYTES("\x01\x01") },
    { "3 integer", BYTES("\x11\x04\x01"), AMF_NUMBER, BYTES("\x00" ONE) },
    { "3 integer of 4 bytes", BYTES("\x11\x04\xff\xff\xff\xff"), AMF_NUMBER,
      BYTES("\x00\xbf\xf0\x00\x00\x00\x00\x00\x00") },
    { "3 double", BYTES("\x11\x05" ONE), AMF_NUMBER, BYTES("\x00" ONE) },
    { "3 string", BYTES("\x11\x06\x07" "abc"), AMF_STRING, BYTES("\x02\x00\x03" "abc") },
    { "3 xml", BYTES("\x11\x0b\x09<a/>"), AMF_XML, BYTES("\x0f\x00\x00\x00\x04<a/>") },
    { "3 bytes", BYTES("\x11\x0c\x05" "ab"), AMF_STRING, BYTES("\x02\x00\x02" "ab") },
    { "3 date", BYTES("\x11\x08\x01" ONE), AMF_DATE, BYTES("\x0b" ONE "\x00\x00") },
    { "3 dense array", BYTES("\x11\x09\x05\x01\x01\x02"), AMF_STRICT_ARRAY,
      BYTES("\x0a\x00\x00\x00\x02\x05\x01\x00") },
    { "3 mixed array", BYTES("\x11\x09\x03\x03" "k\x01\x01\x03"), AMF_ECMA_ARRAY,
      BYTES("\x08\x00\x00\x00\x02\x00\x01" "k\x05\x00\x01" "0\x01\x01" END) },
    { "3 dynamic object", BYTES("\x11\x0a\x0b\x01\x03" "k\x02\x01"), AMF_OBJECT,
      BYTES("\x03\x00\x01" "k\x01\x00" END) },
    { "3 sealed object", BYTES("\x11\x0a\x13\x03" "T\x03" "k\x06\x02"), AMF_TYPED_OBJECT,
      BYTES("\x10\x00\x01" "T\x00\x01" "k\x02\x00\x01" "k" END) },
    { "3 traits again", BYTES("\x11\x09\x05\x01\x0a\x13\x03" "T\x03" "k\x01\x0a\x01\x03"),
      AMF_STRICT_ARRAY, BYTES("\x0a\x00\x00\x00\x02"
      "\x10\x00\x01" "T\x00\x01" "k\x05" END "\x10\x00\x01" "T\x00\x01" "k\x01\x01" END) },
    { "3 object again", BYTES("\x11\x0a\x00"), AMF_UNDEFINED, BYTES("\x06") },
};

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rd r = rd_init(rows[i].bytes, rows[i].size);
        struct amf_value v;
        struct amf a;
        struct wr w;

        amf_init(&a, 0);
        wr_init(&w, 1024);
        assert_ok(amf0_read(&a, &r, &v));
        if (rd_left(&r) != 0 || v.type != rows[i].type)
            fail_msg("%s: type %d, %zu bytes left", rows[i].name, v.type, rd_left(&r));
        amf0_write(&w, &v);
        assert_ok(wr_err(&w, rows[i].name));
        if (rows[i].again) {
            assert_int_equal(w.len, rows[i].again_size);
            assert_memory_equal(w.buf, rows[i].again, w.len);
        } else {
            assert_int_equal(w.len, rows[i].size);
            assert_memory_equal(w.buf, rows[i].bytes, w.len);
        }
        wr_free(&w);
        amf_free(&a);
    }
}

static void test_every_cut_is_an_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t cut = 0; cut < rows[i].size; cut++) {
            uint8_t *exact = malloc(cut ? cut : 1);
            struct rd r = rd_init(exact, cut);
            struct amf_value v;
            struct amf a;

            memcpy(exact, rows[i].bytes, cut);
            amf_init(&a, 0);
            assert_err(amf0_read(&a, &r, &v), ERR_TRUNCATED);
            amf_free(&a);
            free(exact);
        }
    }
}

static const struct {
    const char *name, *bytes;
    size_t size;
    enum err_code code;
} bad_rows[] = {
    { "movie clip", BYTES("\x04"), ERR_AMF0 },
    { "record set", BYTES("\x0e"), ERR_AMF0 },
    { "end of nothing", BYTES("\x09"), ERR_AMF0 },
    { "no such marker", BYTES("\x12"), ERR_AMF0 },
    { "array of 4 billion", BYTES("\x0a\xff\xff\xff\xff\x05"), ERR_TRUNCATED },
    { "string of 4 GB", BYTES("\x0c\xff\xff\xff\xff" "a"), ERR_TRUNCATED },
    { "3 string reference to nothing", BYTES("\x11\x06\x00"), ERR_AMF0 },
    { "3 traits reference to nothing", BYTES("\x11\x0a\x01"), ERR_AMF0 },
    { "3 externalizable", BYTES("\x11\x0a\x07\x03" "T"), ERR_UNSUPPORTED },
    { "3 class of many", BYTES("\x11\x0a\xa2\x03\x01"), ERR_TOO_MANY },
    { "3 vector", BYTES("\x11\x0d\x01\x00"), ERR_UNSUPPORTED },
    { "3 array of many", BYTES("\x11\x09\xff\xff\xff\xff\x01"), ERR_TRUNCATED },
};

static void test_bad_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad_rows); i++) {
        struct rd r = rd_init(bad_rows[i].bytes, bad_rows[i].size);
        struct amf_value v;
        struct amf a;

        amf_init(&a, 0);
        assert_err(amf0_read(&a, &r, &v), bad_rows[i].code);
        amf_free(&a);
    }
}

/* `levels` nested objects, closed. */
static err_t read_nested(const char *open, size_t open_size, size_t levels)
{
    struct amf_value v;
    struct amf a;
    struct wr w;
    struct rd r;
    err_t err;

    wr_init(&w, 1 << 20);
    amf_init(&a, 0);
    if (open[0] == 9) /* AMF3 */
        wr_u8(&w, 0x11);
    for (size_t i = 1; i < levels; i++)
        wr_bytes(&w, open, open_size);
    wr_u8(&w, open[0] == 9 ? 1 : 5); /* null in either */
    for (size_t i = 1; i < levels && open[0] == 3; i++)
        amf0_end(&w);
    r = rd_init(w.buf, w.len);
    err = amf0_read(&a, &r, &v);
    amf_free(&a);
    wr_free(&w);
    return err;
}

static void test_nesting_is_bounded(void **state)
{
    (void)state;
    assert_ok(read_nested(BYTES("\x03\x00\x01" "a"), AMF_DEPTH));
    assert_err(read_nested(BYTES("\x03\x00\x01" "a"), AMF_DEPTH + 1), ERR_AMF0);
    assert_err(read_nested(BYTES("\x03\x00\x01" "a"), 100000), ERR_AMF0);
    assert_ok(read_nested(BYTES("\x0a\x00\x00\x00\x01"), AMF_DEPTH));
    assert_err(read_nested(BYTES("\x0a\x00\x00\x00\x01"), 1000), ERR_AMF0);
    assert_ok(read_nested(BYTES("\x09\x03\x01"), AMF_DEPTH));
    assert_err(read_nested(BYTES("\x09\x03\x01"), AMF_DEPTH + 1), ERR_AMF0);
}

static void test_keys_are_bounded(void **state)
{
    struct amf_value v;
    struct amf a;
    struct wr w;
    struct rd r;

    (void)state;
    for (int keys = AMF_KEYS; keys <= AMF_KEYS + 1; keys++) {
        wr_init(&w, 1 << 20);
        amf_init(&a, 0);
        amf0_object_begin(&w);
        for (int i = 0; i < keys; i++) {
            wr_u16(&w, 2);
            wr_u16(&w, (uint16_t)i);
            amf0_null(&w);
        }
        amf0_end(&w);
        r = rd_init(w.buf, w.len);
        assert_err(amf0_read(&a, &r, &v), keys > AMF_KEYS ? ERR_TOO_MANY : ERR_OK);
        amf_free(&a);
        wr_free(&w);
    }
}

static void test_memory_is_bounded(void **state)
{
    enum { VALUES = 1 << 20 };
    uint8_t *bytes = calloc(1, 5 + VALUES);
    struct rd r = rd_init(bytes, 5 + VALUES);
    struct amf_value v;
    struct amf a;

    (void)state;
    memset(bytes, 5, 5 + VALUES); /* a million nulls of one byte each */
    memcpy(bytes, "\x0a\x00\x10\x00\x00", 5);
    amf_init(&a, 1 << 18);
    assert_err(amf0_read(&a, &r, &v), ERR_TOO_LARGE);
    assert_true(a.used <= 1 << 18);
    amf_free(&a);

    memcpy(bytes, "\x0c\x00\x10\x00\x00", 5); /* one string of 1 MB */
    amf_init(&a, 1000);
    r = rd_init(bytes, 5 + VALUES);
    assert_err(amf0_read(&a, &r, &v), ERR_TOO_LARGE);
    assert_int_equal(a.used, 0);
    amf_free(&a);
    free(bytes);
}

/* Objects with long and similar keys, each repeated: an attacker sends them to make the server compare
 * them with each other for minutes. */
enum { ALIKE = 250, KEY = 1500, AGAIN = 1000 * 1000 };

static void put_alike0(struct wr *w, const char *key, int i)
{
    wr_u16(w, KEY);
    wr_bytes(w, key, KEY - 2);
    wr_u16(w, (uint16_t)i);
    amf0_null(w);
}

static void put_alike3(struct wr *w, const char *key, int i)
{
    wr_u16(w, 0x8000 | (KEY << 1 | 1) >> 7 << 8 | ((KEY << 1 | 1) & 0x7f));
    wr_bytes(w, key, KEY - 2);
    wr_u16(w, (uint16_t)i);
    wr_u8(w, 1); /* null */
}

static void put_many(struct wr *w, const char *what)
{
    char key[KEY];

    memset(key, 'k', sizeof(key));
    if (strcmp(what, "0 keys") == 0) {
        amf0_object_begin(w);
        for (int i = 0; i < ALIKE * 10; i++)
            put_alike0(w, key, i % ALIKE);
        return;
    }
    if (strcmp(what, "0 empty keys") == 0) {
        amf0_object_begin(w);
        for (int i = 0; i < AGAIN; i++)
            wr_be(w, 5, 3);
        return;
    }
    if (strcmp(what, "0 nested") == 0) { /* many objects, each ended at once */
        wr_be(w, 0x0a00100000, 5);
        for (int i = 0; i < AGAIN; i++)
            wr_be(w, 0x03000009, 4);
        return;
    }
    wr_bytes(w, "\x11\x0a\x0b\x01", 4);
    for (int i = 0; i < ALIKE; i++)
        put_alike3(w, key, i);
    for (int i = 0; i < AGAIN; i++) {
        int k = ALIKE - 1 - i % 8;

        wr_u16(w, (uint16_t)(0x8000 | k << 1 >> 7 << 8 | (k << 1 & 0x7f)));
        if (strcmp(what, "3 objects by reference") == 0)
            wr_be(w, 0x0a0101, 3); /* an empty object with the class of the first */
        else
            wr_u8(w, 1);
    }
}

static void test_work_is_bounded(void **state)
{
    static const char *const rows_of_work[] = { "0 keys", "0 empty keys", "0 nested",
                                                "3 keys by reference", "3 objects by reference" };

    (void)state;
    for (size_t i = 0; i < COUNT(rows_of_work); i++) {
        struct amf_value v;
        struct amf a;
        struct wr w;
        struct rd r;
        clock_t began;
        err_t err;

        wr_init(&w, 64 << 20);
        put_many(&w, rows_of_work[i]);
        assert_ok(wr_err(&w, rows_of_work[i]));
        amf_init(&a, 64 << 20); /* the limit is on work, not on memory */
        r = rd_init(w.buf, w.len);
        began = clock();
        err = amf0_read(&a, &r, &v);
        if (clock() - began > CLOCKS_PER_SEC / 20)
            fail_msg("%s: %ld us", rows_of_work[i], (long)(clock() - began));
        if (err_code(err) != ERR_TOO_MANY)
            fail_msg("%s: %d", rows_of_work[i], (int)err_code(err));
        assert_true(a.spent <= AMF_BUDGET + KEY);
        err_free(&err);
        amf_free(&a);
        wr_free(&w);
    }
}

/* Keys in one bucket of the index are still found, each once. */
static void test_large_objects_keep_their_keys(void **state)
{
    struct amf_value v = amf_object(), n;
    struct amf a;
    char key[16];

    (void)state;
    amf_init(&a, 0);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < AMF_KEYS; i++) {
            n = amf_number(i + round);
            assert_ok(amf_set(&a, &v, key, (size_t)snprintf(key, sizeof(key), "key%d", i), &n));
        }
    }
    assert_int_equal(v.size, AMF_KEYS);
    for (int i = 0; i < AMF_KEYS; i++) {
        (void)snprintf(key, sizeof(key), "key%d", i);
        assert_true(amf_get_number(&v, key, -1) == i + 1);
    }
    assert_null(amf_get(&v, "key"));
    assert_string_equal(v.first->key, "key0");
    assert_string_equal(v.last->key, "key511");
    amf_free(&a);
}

static void test_look_up_and_set(void **state)
{
    struct amf_value v = amf_object(), n = amf_number(2), t = amf_text("two");
    struct amf_value b = amf_boolean(true);
    struct amf a;

    (void)state;
    amf_init(&a, 0);
    assert_null(amf_get(NULL, "a"));
    assert_null(amf_get(&n, "a"));
    assert_null(amf_get(&v, "a"));
    assert_ok(amf_set(&a, &v, "a", 1, &n));
    assert_ok(amf_set(&a, &v, "b", 1, &b));
    assert_ok(amf_set(&a, &v, "ab", 2, &n));
    assert_ok(amf_set(&a, &v, "a", 1, &t));
    assert_int_equal(v.size, 3);
    assert_string_equal(v.first->key, "a");
    assert_string_equal(amf_get_string(&v, "a", "-"), "two");
    assert_string_equal(amf_get_string(&v, "ab", "-"), "-");
    assert_true(amf_get_number(&v, "ab", -1) == 2);
    assert_true(amf_get_number(&v, "a", -1) == -1);
    assert_true(amf_is(amf_get(&v, "b"), AMF_BOOLEAN));
    amf_free(&a);
}

static void test_writer_calls(void **state)
{
    char *text = malloc(70001);
    struct amf_value v;
    struct amf a;
    struct wr w;
    struct rd r;

    (void)state;
    memset(text, 'x', 70000);
    text[70000] = '\0';
    wr_init(&w, 1 << 20);
    amf0_ecma_begin(&w, 6);
    amf0_set_string(&w, "s", "abc");
    amf0_set_number(&w, "n", -0.5);
    amf0_set_boolean(&w, "b", true);
    amf0_set_string(&w, "long", text);
    amf0_key(&w, "array");
    amf0_strict_begin(&w, 2);
    amf0_undefined(&w);
    amf0_null(&w);
    amf0_key(&w, "nan");
    amf0_number(&w, NAN);
    amf0_end(&w);
    r = rd_init(w.buf, w.len);
    amf_init(&a, 0);
    assert_ok(amf0_read(&a, &r, &v));
    assert_int_equal(rd_left(&r), 0);
    assert_int_equal(v.size, 6);
    assert_string_equal(amf_get_string(&v, "s", ""), "abc");
    assert_true(amf_get_number(&v, "n", 0) == -0.5);
    assert_string_equal(amf_get_string(&v, "long", ""), text);
    assert_int_equal(amf_get(&v, "array")->size, 2);
    assert_true(isnan(amf_get_number(&v, "nan", 0)));
    amf_free(&a);
    wr_free(&w);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_values), TEST(test_every_cut_is_an_error), TEST(test_bad_values),
        TEST(test_nesting_is_bounded), TEST(test_keys_are_bounded), TEST(test_memory_is_bounded),
        TEST(test_work_is_bounded), TEST(test_large_objects_keep_their_keys),
        TEST(test_look_up_and_set), TEST(test_writer_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
