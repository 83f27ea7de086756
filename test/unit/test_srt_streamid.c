/* SPDX-License-Identifier: MIT */
/* test_srt_streamid.c - SRT stream ids in all forms that clients use, as rows. */
#include "proto/srt/streamid.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct srt_streamid_defaults defaults = { "live", "#!::r=live/default", false };
static const struct srt_streamid_defaults publishing = { "live", "first", true };

/* want: "publish|play vhost app stream param user", where - is nothing. */
static const struct {
    const char *text, *want;
} rows[] = {
    /* those of the reference */
    { "#!::r=live/livestream,m=publish", "publish - live livestream - -" },
    { "#!::h=a.com,r=live/x,key=1", "play a.com live x ?vhost=a.com&key=1 -" },
    { "#!::h=live/x?secret=1,m=publish", "publish - live x ?secret=1 -" },
    { "live/x", "play - live x - -" },
    /* none */
    { "", "play - live default - -" },
    /* fields */
    { "#!::r=x", "play - live x - -" },
    { "#!::r=x,m=request", "play - live x - -" },
    { "#!::m=PUBLISH,r=x", "publish - live x - -" },
    { "#!::m=Request,r=x", "play - live x - -" },
    { "#!::r=/live/x", "play - live x - -" },
    { "#!::r=//live/x", "play - live x - -" },
    { "#!::r=app/a/b", "play - app a/b - -" },
    { "#!::r=app/a//b", "play - app a//b - -" },
    { "#!::u=john,r=live/x,s=77,t=stream", "play - live x ?u=john&s=77&t=stream john" },
    { "#!::r=live/x,t=STREAM", "play - live x ?t=STREAM -" },
    { "#!::key=1,h=a.com,r=x", "play a.com live x ?vhost=a.com&key=1 -" },
    { "#!::r=live/x?token=1", "play - live x ?token=1 -" },
    { "#!::r=live/x?a=1&b=2,c=3", "play - live x ?a=1&b=2&c=3 -" },
    { "#!::r=live/x,,,a=1,", "play - live x ?a=1 -" },
    { "#!::r=live/x,flag", "play - live x ?flag -" },
    { "#!::r=live/x,a=b=c", "play - live x ?a=b=c -" },
    { "#!::r=a,r=b", "play - live b - -" },
    { "#!::hh=a,r=b,rr=c,mm=publish", "play - live b ?hh=a&rr=c&mm=publish -" },
    { "#!::r=live/\xc3\xa4", "play - live \xc3\xa4 - -" },
    { "#!::r=x,a=1,vhost=a.com", "play a.com live x ?a=1&vhost=a.com -" },
    { "#!::h=b.com,r=x,vhost=a.com", "play b.com live x ?vhost=b.com&vhost=a.com -" },
    /* the form before r */
    { "#!::h=live/x", "play - live x - -" },
    { "#!::h=a.com/live/x", "play a.com live x ?vhost=a.com -" },
    { "#!::h=a.com/live/x/y?k=1,m=publish", "publish a.com live x/y ?vhost=a.com&k=1 -" },
    /* percent, once */
    { "%23!::r=live/x,m=publish", "publish - live x - -" },
    { "%23%21::r=live%2Fx%2Cm%3dpublish", "publish - live x - -" },
    { "%23!::r=live/%2541", "play - live %41 - -" },
    { "%23!::r=live/x%zz%4", "play - live x%zz%4 - -" },
    { "%23x", "play - live %23x - -" },
    { "#!::r=live%2Fx", "play - live live%2Fx - -" },
    /* plain */
    { "x", "play - live x - -" },
    { "/live/x", "play - live x - -" },
    { "app/a/b", "play - app a/b - -" },
    { "publish:live/x", "publish - live x - -" },
    { "read:live/x", "play - live x - -" },
    { "read:live/x:me:pw?k=1", "play - live x ?user=me&pass=pw&k=1 me" },
    { "publish:x?k=1&vhost=a.com", "publish a.com live x ?k=1&vhost=a.com -" },
    { "live/x?vhost=a.com&k=1", "play a.com live x ?vhost=a.com&k=1 -" },
    { "live/x?", "play - live x - -" },
    { "live/x?a?b", "play - live x ?a?b -" },
    { "live/a,b", "play - live a,b - -" },
    { "#live", "play - live #live - -" },
};

static void assert_parses(const char *text, const struct srt_streamid_defaults *d,
                          const char *want)
{
    struct srt_streamid s;
    char got[2048];
    enum srt_refusal why = srt_streamid_parse(&s, text, strlen(text), d);

    if (why != SRT_WELCOME)
        fail_msg("%s: refused, %d", text, why);
#define OR_NONE(x) ((x)[0] ? (x) : "-")
    (void)snprintf(got, sizeof(got), "%s %s %s %s %s %s", s.publish ? "publish" : "play",
                   OR_NONE(s.vhost), OR_NONE(s.app), OR_NONE(s.stream), OR_NONE(s.param),
                   OR_NONE(s.user));
    assert_string_equal(got, want);
}

static void forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_parses(rows[i].text, &defaults, rows[i].want);
}

/* Their form in the log. */
static void shown(void **state)
{
    static const struct {
        const char *text, *want;
    } said[] = {
        { "", "" },
        { "live/x", "live/x" },
        { "live/x?token=1", "live/x?***" },
        { "publish:live/x?a=1&b=2", "publish:live/x?***" },
        { "#!::r=live/x,m=publish", "#!::r=live/x,m=publish" },
        { "#!::h=a.com,r=live/x,key=1,u=me", "#!::h=a.com,r=live/x,key=***,u=me" },
        { "#!::h=live/x?secret=1,m=publish", "#!::h=live/x?secret=***,m=publish" },
        { "%23!::r=live/x,s=1", "%23!::r=live/x,s=***" },
        { "%23%21::key=1", "%23%21::key=***" },
        { "#!::,,=,", "#!::,,=***," },
        { "#!:{r=live/x,token=1}", "#!:{r=live/x,token=***}" },
        { "#!:{token:1&k=2;k=3}", "#!:{token:***&k=***;k=***}" },
        { "%23!::r=live/x%2Ckey%3D12%2Cm=p", "%23!::r=live/x,key=***,m=p" },
        { "live/x&token=1", "live/x&token=***" },
        { "live/x%3Ftoken=1", "live/x?***" },
        { "publish:live/x:me:secret", "publish:live/x:***" },
    };
    char out[40];

    (void)state;
    for (size_t i = 0; i < COUNT(said); i++) {
        srt_streamid_redact(said[i].text, out, sizeof(out));
        assert_string_equal(out, said[i].want);
        for (size_t room = 1; room < sizeof(out); room++) {
            srt_streamid_redact(said[i].text, out, room);
            assert_true(strlen(out) < room && strncmp(out, said[i].want, strlen(out)) == 0);
        }
    }
}

static void defaults_publish(void **state)
{
    struct srt_streamid s;

    (void)state;
    assert_int_equal(srt_streamid_parse(&s, NULL, 0, &publishing), SRT_WELCOME);
    assert_true(s.publish && strcmp(s.stream, "first") == 0);
    assert_parses("live/x", &publishing, "publish - live x - -");
    assert_parses("read:live/x", &publishing, "play - live x - -");
    assert_parses("#!::r=live/x", &publishing, "play - live x - -");
}

static void refused(void **state)
{
    static const struct {
        const char *text;
        enum srt_refusal why;
    } bad[] = {
        { "#!:{r=live/x}", SRT_REFUSED_BAD_REQUEST },
        { "#!:", SRT_REFUSED_BAD_REQUEST },
        { "#!::", SRT_REFUSED_BAD_REQUEST },
        { "#!::m=publish", SRT_REFUSED_BAD_REQUEST },
        { "#!::h=a.com", SRT_REFUSED_BAD_REQUEST },
        { "#!::u=john", SRT_REFUSED_BAD_REQUEST },
        { "#!::h=", SRT_REFUSED_BAD_REQUEST },
        { "#!::h=/", SRT_REFUSED_BAD_REQUEST },
        { "#!::h=live/", SRT_REFUSED_BAD_REQUEST },
        { "#!::r=", SRT_REFUSED_BAD_REQUEST },
        { "#!::r=/", SRT_REFUSED_BAD_REQUEST },
        { "#!::r=live/", SRT_REFUSED_BAD_REQUEST },
        { "#!::r", SRT_REFUSED_BAD_REQUEST },
        { "#!::h=a.com/x,r=live/x", SRT_REFUSED_BAD_REQUEST },
        { "#!::r=live/x,m=bidirectional", SRT_REFUSED_BAD_MODE },
        { "#!::r=live/x,m=", SRT_REFUSED_BAD_MODE },
        { "#!::r=live/x,m=play", SRT_REFUSED_BAD_MODE },
        { "#!::r=live/x,t=file", SRT_REFUSED_MEDIA_TYPE },
        { "#!::r=live/x,t=", SRT_REFUSED_MEDIA_TYPE },
        { "#!::r=live/x\n", SRT_REFUSED_BAD_REQUEST },
        { "%23!::r=live/x%0a", SRT_REFUSED_BAD_REQUEST },
        { "%23!::r=live/x%00", SRT_REFUSED_BAD_REQUEST },
        { "#!::r=live/\xff", SRT_REFUSED_BAD_REQUEST },
        { "live/\xc3", SRT_REFUSED_BAD_REQUEST },
        { "live/", SRT_REFUSED_BAD_REQUEST },
        { "/", SRT_REFUSED_BAD_REQUEST },
        { "?k=v", SRT_REFUSED_BAD_REQUEST },
        { "publish:", SRT_REFUSED_BAD_REQUEST },
    };
    struct srt_streamid s;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        enum srt_refusal why = srt_streamid_parse(&s, bad[i].text, strlen(bad[i].text), &defaults);

        if (why != bad[i].why)
            fail_msg("%s: %d, not %d", bad[i].text, why, bad[i].why);
    }
}

/* Each length, of names and of parameters, cut at every byte, in memory of exactly that size. */
static void long_ones(void **state)
{
    static const char *const heads[] = { "live/", "#!::r=live/", "#!::h=a.com,r=x,k=", "%23!::r=",
                                         "#!::r=x,u=", "#!::r=x,h=", "x?" };

    (void)state;
    for (size_t k = 0; k < COUNT(heads); k++) {
        for (size_t size = 0; size <= SRT_STREAMID_MAX + 1; size++) {
            struct srt_streamid s;
            char *text = malloc(size + !size);
            size_t head = strlen(heads[k]) < size ? strlen(heads[k]) : size;
            enum srt_refusal why;

            memset(text, 'a', size);
            memcpy(text, heads[k], head);
            why = srt_streamid_parse(&s, text, size, &defaults);
            if (size > SRT_STREAMID_MAX)
                assert_int_equal(why, SRT_REFUSED_BAD_REQUEST);
            if (why == SRT_WELCOME)
                assert_true(s.stream[0] && s.app[0]);
            free(text);
        }
    }
}

/* No part of the parameters is lost, and a vhost that fits is used. */
static void all_parameters_fit(void **state)
{
    char text[SRT_STREAMID_MAX + 1];
    struct srt_streamid s;

    (void)state;
    memset(text, 'v', sizeof(text));
    memcpy(text, "#!::h=", 6);
    memcpy(text + 6 + 255, ",r=x,k=", 7);
    assert_int_equal(srt_streamid_parse(&s, text, SRT_STREAMID_MAX, &defaults), SRT_WELCOME);
    assert_int_equal(strlen(s.vhost), 255);
    assert_int_equal(strlen(s.param), 7 + 255 + 3 + SRT_STREAMID_MAX - 6 - 255 - 7);
    memcpy(text + 6 + 256, ",r=x,k=", 7);
    text[6 + 255] = 'v';
    assert_int_equal(srt_streamid_parse(&s, text, SRT_STREAMID_MAX, &defaults),
                     SRT_REFUSED_BAD_REQUEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(forms), TEST(shown), TEST(defaults_publish), TEST(refused), TEST(long_ones),
        TEST(all_parameters_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
