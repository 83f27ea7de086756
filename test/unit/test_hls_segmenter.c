/* SPDX-License-Identifier: MIT */
/* test_hls_segmenter.c - frames in, segments and parts out. */
#include "base/wr.h"
#include "sink/hls/segment/segmenter.h"
#include "unit.h"

#include <string.h>

enum { RUNS = 5, WALL = 1000000 };

#define V AV_VIDEO
#define A AV_AUDIO

/* All times in ms. Frames of one kind, one each `step`; they arrive from `at` on, one each `every`,
 * with timestamp `dts`. */
struct run {
    enum av_kind kind;
    int64_t at, dts;
    int step, every, n, key; /* each n-th frame is a key frame */
};

struct row {
    const char *what;
    struct segmenter_rules rules; /* times in ms */
    /* "BEGIN+DURATION" of each segment: with "!" if it does not continue the last, "@WALL" if that
     * is not BEGIN, "p" if a period begins; "[x y]" its parts, "*" if a player can start there;
     * "..." is the open one at the end, "x" a lost one, "-" a frame outside of segments. */
    const char *made;
    struct run runs[RUNS];
    int64_t full_at;    /* then the segment is full, */
    int64_t restart_at; /* another publisher begins, */
    int64_t lose_at;    /* a segment is lost */
};

#define ROW(w, r, m, ...) .what = (w), .rules = r, .made = (m), .runs = { __VA_ARGS__ }
#define RULES(f, td) .fragment = (f), .audio_ratio = 1.2, .target_ratio = (td)
#define PLAIN(f) { RULES(f, 1.5), .wait_keyframe = true }
#define TIGHT(f) { RULES(f, 1.0), .wait_keyframe = true }
#define ANYWHERE(f) { RULES(f, 1.5), .wait_keyframe = false }
#define FLOOR(f) { RULES(f, 1.5), .wait_keyframe = true, .floor = true }
#define PIECES(f) { RULES(f, 1.5), .wait_keyframe = true, .parts = SEGMENTER_FRAGMENTS }
#define LOW(f, p) { RULES(f, 1.5), .wait_keyframe = true, .parts = SEGMENTER_PARTS, .part = (p) }
#define DASH(f) { RULES(f, 1.0), .wait_keyframe = true, .periods = true }
/* On time; and with another time. */
#define VIDEO(at, n, key) { V, at, at, 40, 40, n, key }
#define AUDIO(at, n) { A, at, at, 20, 20, n, 1 }
#define MOVED(at, dts, n, key) { V, at, dts, 40, 40, n, key }
#define BURST(at, dts, n, key) { V, at, dts, 40, 1, n, key }

static const struct row rows[] = {
    { ROW("it ends at a key frame", PLAIN(2000), "0+2000 2000+2000 4000...",
          VIDEO(0, 150, 25)) },
    { ROW("no key frame in time", PLAIN(2000), "0+3000 3000...", VIDEO(0, 150, 75)) },
    { ROW("a key frame a bit too early is in time", PLAIN(2000), "0+1960 1960+1960 3920...",
          VIDEO(0, 100, 49)) },
    { ROW("and of short fragments a quarter", PLAIN(200), "0+160 160+160 320+160 480+160 640...", VIDEO(0, 20, 4)) },
    { ROW("frames before the first key frame", PLAIN(2000), "--- 120+2000 2120...",
          MOVED(0, 0, 3, 0), VIDEO(120, 60, 50)) },
    { ROW("without waiting it ends anywhere", ANYWHERE(1000), "0+1000 1000+1000 2000...", VIDEO(0, 60, 100)) },
    { ROW("only audio, by hls_aof_ratio", PLAIN(1000), "0+1200 1200+1200 2400...", AUDIO(0, 130)) },
    { ROW("audio does not end a segment with video", PLAIN(1000), "0...",
          VIDEO(0, 100, 100), AUDIO(5, 200)) },
    { ROW("a camera that is turned off leaves audio", PLAIN(1000), "0+2965 2965+1200 4165+1200 5365...",
          VIDEO(0, 25, 25), AUDIO(5, 300)) },
    { ROW("longer than the fragment, all alike", TIGHT(2000), "0+2800 2800+2800 5600+2800 8400+2800 11200...", VIDEO(0, 300, 70)) },
    { ROW("the next key frame would break the target, so it ends early", TIGHT(2000),
          "0+2000 2000+1600 3600+1600 5200+1600 6800+1600 8400...",
          VIDEO(0, 50, 50), VIDEO(2000, 200, 40)) },
    { ROW("the wall clock's fragments", FLOOR(2000), "0+1400@700 1400+2000@2100 3400+2000@4100 5400...@6100", VIDEO(700, 150, 5)) },
    { ROW("time jumps far ahead", PLAIN(2000), "0+2000 2000+2000 4000...",
          VIDEO(0, 50, 25), MOVED(2000, 3602000, 75, 25)) },
    { ROW("and far back", PLAIN(2000), "0+2000@10000 2000+2000@12000 4000...@14000",
          VIDEO(10000, 50, 25), MOVED(12000, 0, 75, 25)) },
    { ROW("disorder is none", PLAIN(2000), "0+1960 1960...", VIDEO(0, 50, 25), MOVED(2000, 1500, 75, 25)) },
    { ROW("a pause shorter than 5 s is one", PLAIN(2000), "0+6000 6000+2000 8000...",
          VIDEO(0, 50, 25), VIDEO(6000, 75, 25)) },
    { ROW("a longer one is cut out", PLAIN(2000), "0+2000 2000+2000@20000 4000...@22000",
          VIDEO(0, 50, 25), VIDEO(20000, 75, 25)) },
    { ROW("another publisher", PLAIN(2000), "0+2000 2000+2000!@3000 4000...@5000",
          VIDEO(0, 50, 25), MOVED(3000, 777, 75, 25)), .restart_at = 3000 },
    { ROW("it is full", PLAIN(4000), "0+1000-----", VIDEO(0, 30, 50)), .full_at = 1000 },
    { ROW("one is lost", PLAIN(1000), "0+1000 x 2000...!", VIDEO(0, 75, 25)), .lose_at = 2000 },
    { ROW("parts", LOW(1000, 200), "0+1000[200* 200 200 200 200] 1000...[200* 200 200 200]", VIDEO(0, 50, 25)) },
    { ROW("parts of what does not divide", LOW(1000, 300), "0+1000[320* 320 320 40] 1000...[320* 320 320]", VIDEO(0, 50, 25)) },
    { ROW("audio parts", LOW(1000, 200), "0+1200[200* 200* 200* 200* 200* 200*] 1200...", AUDIO(0, 70)) },
    { ROW("fragments of a long segment", PIECES(3000), "0+3000[1000* 1000 1000] 3000...", VIDEO(0, 100, 75)) },
    { ROW("one period", DASH(2000), "0+2000p 2000+2000 4000...", VIDEO(0, 150, 25)) },
    { ROW("another publisher, another period", DASH(2000), "0+2000p 2000+2000!@3000p 4000...@5000",
          VIDEO(0, 50, 25), MOVED(3000, 777, 75, 25)), .restart_at = 3000 },
    { ROW("who sends faster than it plays does not overlap with the next", DASH(2000), "0+2000p 2000+2000 4000+1000 5000+2000!p 7000...",
          BURST(0, 0, 125, 25), MOVED(1000, 777, 75, 25)), .restart_at = 1000 },
    { ROW("all at once after a stall is no other period", DASH(2000), "0+2000p 2000+2000 4000+2000 6000+2000 8000+2000 10000...",
          VIDEO(0, 50, 25), BURST(9000, 2000, 225, 25)) },
    { ROW("a stream that stays behind is", DASH(1000), "0+1000p 1000+1000 2000+1000 3000+1000 4000+1000 5000+1000 "
          "6000+1000@13000p 7000+1000@14000 8000+1000@15000 9000+1000@16000 10000+1000@17000 11000...@18000",
          VIDEO(0, 50, 25), MOVED(9000, 2000, 250, 25)) },
};

/* ------------------------------------------------------------ simulation */

struct play {
    const struct row *row;
    struct segmenter g;
    struct wr out, parts;
    int64_t clock; /* ms */
    bool restarted, lost;
};

static int64_t ms(int64_t ticks)
{
    return ticks / 90;
}

static void put_part(struct play *p, int64_t end)
{
    int64_t lasts = segmenter_part(&p->g, end);

    if (p->row->rules.parts != SEGMENTER_WHOLE)
        wr_printf(&p->parts, "%s%lld%s", p->parts.len ? " " : "", (long long)ms(lasts),
                  p->g.part_independent ? "*" : "");
}

/* The open segment, which ends there; < 0: it does not. */
static void put_segment(struct play *p, int64_t end)
{
    const struct segmenter_begin *b = &p->g.now;

    wr_printf(&p->out, "%s%lld", p->out.len ? " " : "", (long long)ms(b->at));
    if (end < 0)
        wr_text(&p->out, "...");
    else
        wr_printf(&p->out, "+%lld", (long long)ms(end - b->at));
    if (b->discontinuity)
        wr_text(&p->out, "!");
    if (b->wall != WALL + ms(b->at))
        wr_printf(&p->out, "@%lld", (long long)(b->wall - WALL));
    if (b->new_period)
        wr_text(&p->out, "p");
    if (p->parts.len > 0)
        wr_printf(&p->out, "[%.*s]", (int)p->parts.len, (const char *)p->parts.buf);
    p->parts.len = 0;
}

static void end(struct play *p, int64_t at)
{
    put_part(p, at);
    if (p->row->lose_at > 0 && p->clock >= p->row->lose_at && !p->lost) {
        p->lost = true;
        wr_text(&p->out, " x");
        p->parts.len = 0;
        segmenter_lose(&p->g, true);
        return;
    }
    put_segment(p, at);
    segmenter_close(&p->g, at);
}

static void restart(struct play *p)
{
    if (p->g.open)
        end(p, segmenter_end(&p->g));
    segmenter_restart(&p->g, true);
    p->restarted = true;
}

static void feed(struct play *p, struct frame *f)
{
    bool full = p->row->full_at > 0 && p->clock >= p->row->full_at;
    enum segmenter_todo todo;

    if (p->row->restart_at > 0 && p->clock >= p->row->restart_at && !p->restarted)
        restart(p);
    segmenter_time(&p->g, f);
    while ((todo = segmenter_next(&p->g, f, full ? SEGMENTER_FULL : 0)) != SEGMENTER_ADD) {
        if (todo == SEGMENTER_SKIP) {
            wr_text(&p->out, "-");
            return;
        }
        if (todo == SEGMENTER_END)
            end(p, f->dts);
        else if (todo == SEGMENTER_BEGIN)
            segmenter_open(&p->g, f->dts, WALL + p->clock, p->clock * 1000);
        else
            put_part(p, f->dts);
    }
}

/* The next frame that arrives; false: none. */
static bool next(const struct row *row, int *done, struct frame *f, int64_t *at)
{
    int first = -1;

    for (int i = 0; i < RUNS; i++) {
        int64_t comes = row->runs[i].at + (int64_t)done[i] * row->runs[i].every;

        if (done[i] < row->runs[i].n && (first < 0 || comes < *at)) {
            first = i;
            *at = comes;
        }
    }
    if (first < 0)
        return false;
    *f = (struct frame){
        .kind = row->runs[first].kind, .key = row->runs[first].key > 0 && done[first] % row->runs[first].key == 0,
        .dts = AV_MS(row->runs[first].dts + (int64_t)done[first] * row->runs[first].step),
    };
    f->pts = f->dts;
    done[first]++;
    return true;
}

static void play(const struct row *row)
{
    struct play p = { .row = row };
    int done[RUNS] = { 0 };
    struct frame f;

    wr_init(&p.out, 1 << 16);
    wr_init(&p.parts, 1 << 16);
    p.g.rules = row->rules;
    p.g.rules.fragment = AV_MS(row->rules.fragment);
    p.g.rules.part = AV_MS(row->rules.part);
    segmenter_restart(&p.g, false);
    while (next(row, done, &f, &p.clock))
        feed(&p, &f);
    if (p.g.open)
        put_segment(&p, -1);
    wr_u8(&p.out, 0);
    print_message("  %s: %s\n", row->what, (const char *)p.out.buf);
    assert_string_equal((const char *)p.out.buf, row->made);
    wr_free(&p.out);
    wr_free(&p.parts);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        play(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_rows) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
