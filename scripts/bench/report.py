# SPDX-License-Identifier: MIT
"""The results: a line for each new row, a table, CSV, plots, and the goals."""
import csv, os, platform, shutil, statistics, subprocess, time

COLUMNS = [  # key, title, format
    ("case", "case", "{}"), ("server", "server", "{}"), ("variant", "sends", "{}"),
    ("streams", "streams", "{}"), ("players", "players", "{}"), ("publishers", "publishers", "{}"),
    ("connects", "connects", "{}"), ("kbps", "kbit/s", "{}"), ("cpu", "CPU %", "{:.1f}"),
    ("us", "µs each", "{:.1f}"), ("us_one", "µs each, one", "{:.1f}"), ("ratio", "ratio", "{:.3f}"),
    ("busiest", "busiest thread %", "{:.1f}"), ("cpu_other", "other thread %", "{:.1f}"),
 ("spread", "least - most", "{}"), ("cpu_per_gbit", "%/Gbit/s", "{:.1f}"),
    ("cpu_beyond", "CPU % beyond", "{:.1f}"), ("rss_kb", "RSS kB each", "{:.1f}"),
    ("rss_total_kb", "RSS kB", "{}"), ("rate", "rate %", "{:.1f}"), ("rate_min", "least %", "{:.1f}"),
    ("first_p50", "first ms", "{:.0f}"), ("first_p99", "p99", "{:.0f}"),
    ("gap_p99", "gap p99", "{:.0f}"), ("gap_max", "max", "{:.0f}"),
    ("latency_p50", "latency p50", "{:.1f}"), ("latency_p99", "p99", "{:.1f}"),
    ("latency_max", "max", "{:.1f}"), ("mbps", "Mbit/s", "{:.0f}"), ("stalls", "stalls", "{}"),
    ("edge_p50", "edge p50", "{:.0f}"), ("edge_p99", "p99", "{:.0f}"), ("old", "age ms", "{:.0f}"),
    ("lost", "lost", "{}"), ("wrong", "wrong", "{}"), ("overflow", "overflow", "{}"),
    ("held", "thread stalls", "{}"), ("drops", "drops", "{}"), ("slow_drops", "slow drops", "{}"),
    ("alive", "alive", "{}"), ("failed", "failed", "{}"), ("files", "files", "{}"),
    ("requests", "requests", "{}"), ("page_kb", "page kB", "{:.0f}"), ("page_p50", "page ms", "{:.1f}"),
    ("page_p99", "page p99", "{:.1f}"), ("page_max", "page max", "{:.1f}"),
    ("cpu_ms_each", "CPU ms a page", "{:.1f}"), ("held_p99", "others p99", "{:.1f}"),
    ("held_max", "others max", "{:.1f}"), ("waiting", "hanging", "{}"), ("start_p50", "start ms", "{:.1f}"),
    ("start_p99", "start p99", "{:.1f}"), ("start_max", "start max", "{:.1f}"),
    ("tool_cpu", "tool CPU %", "{:.1f}"), ("waited", "waited %", "{:.0f}"),
]
SHORT = ["streams", "players", "publishers", "connects", "kbps", "cpu", "us", "us_one", "ratio", "busiest", "cpu_beyond", "rss_kb",
         "rss_total_kb", "cpu_per_gbit", "mbps", "stalls", "edge_p99", "old", "lost", "wrong", "overflow", "held", "rate", "rate_min",
         "first_p99", "gap_max", "latency_p50", "latency_p99",
         "drops", "failed", "files", "page_kb", "page_p50", "page_p99", "page_max", "cpu_ms_each", "held_p99",
         "held_max", "waiting", "start_p50", "start_p99", "start_max"]


BEFORE = "srs before"
SAME = ("case", "server", "variant", "streams", "players", "publishers", "kbps")  # equal for repeated measurements

MET = {True: "yes", False: "NO", None: ""}  # None: no goal, only for comparison


def cell(key, row):
    text = {k: f for k, _, f in COLUMNS}[key]
    return text.format(row[key]) if row.get(key) is not None else ""


def line(row):
    titles = {k: t for k, t, _ in COLUMNS}
    facts = ", ".join(f"{'latency p99' if k == 'latency_p99' else titles[k]} {cell(k, row)}"
                      for k in SHORT if row.get(k) not in (None, 0))
    return f"{row['case']}: {row['server']} ({row['variant']}): {facts}"


def grouped(rows):
    """Lists of repeated measurements of the same case, in their order."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row.get(k) for k in SAME), []).append(row)
    return groups


def span(values, how):
    return f"{how} - {how}".format(min(values), max(values)) if len(values) > 1 else ""


def median(group):
    """One row of medians, with the lowest and the highest cost."""
    row = dict(group[0])
    for k in row:
        values = [r[k] for r in group if isinstance(r.get(k), (int, float))]
        if k not in SAME and len(values) > 1:
            row[k] = statistics.median(values)
    row["spread"] = span([r["us"] for r in group if r.get("us")], "{:.1f}") or None
    return row


def merged(rows):
    return [median(group) for group in grouped(rows).values()]


def before_text(rows):
    """Cost of each row with the program to compare with and with this one, and their ratio within each turn:
    machines change from minute to minute."""
    lines = []
    groups = grouped(rows)
    for key, after in groups.items():
        before = groups.get((key[0], BEFORE, *key[2:]), [])
        ratios = [a["us"] / b["us"] for b, a in zip(before, after) if b.get("us") and a.get("us")]
        if key[1] == "srs" and ratios:
            lines.append((median(before), median(after), f"{statistics.median(ratios):.3f}",
                          span(ratios, "{:.3f}")))
    columns = [(lambda p, k=k: cell(k, p[1]), t) for k, t in (("case", "case"), ("variant", "sends"))]
    columns += [(lambda p: str(p[1].get("players") or p[1].get("publishers") or p[1].get("connects")), "clients"),
                (lambda p: cell("kbps", p[1]), "kbit/s")]
    for k, title in (("us", "µs each"), ("rss_kb", "RSS kB each")):
        columns += [(lambda p, k=k, i=i: cell(k, p[i]), f"{title} {when}")
                    for i, when in enumerate(("before", "after"))]
    columns += [(lambda p: p[2], "after / before"), (lambda p: p[3], "least - most")]
    return table(columns, lines) + "\n\n" if lines else ""


def find(rows, case, server, variant="default", **more):
    for row in rows:
        if (row["case"], row["server"], row["variant"]) == (case, server, variant) and \
                all(row.get(k) == v for k, v in more.items()):
            return row
    return None


def goals(rows):
    """(case, goal, measured, met) for each goal whose rows exist."""
    out = []

    def ratio(what, case, variant, key, least, **more):
        ours = find(rows, case, "srs", variant, **more)
        theirs = find(rows, case, "nginx-rtmp", **more)
        if ours and theirs and theirs[key]:
            r = ours[key] / theirs[key]
            out.append((what, f"<= {least:.3g} of nginx-rtmp", f"{r:.3f} ({ours[key]:.1f} / "
                        f"{theirs[key]:.1f} µs)", r <= least))

    def limit(what, row, key, most, unit, least=False):
        if row and row.get(key) is not None:
            ok = row[key] >= most if least else row[key] <= most
            out.append((what, f"{'>=' if least else '<='} {most:g} {unit}",
                        f"{row[key]:.2f} {unit}" if unit == "times" else f"{row[key]:.1f} {unit}", ok))

    def floor(what, call, case, kbps):
        bare = find(rows, "floor", "bare " + call, kbps=kbps)
        theirs = find(rows, case, "nginx-rtmp", kbps=kbps)
        if bare and theirs:
            out.append((f"  bare {what} of the same, without a server", "",
                        f"{bare['us'] / theirs['us']:.3f} ({bare['us']:.1f} / {theirs['us']:.1f} µs)",
                        None))

    for kbps, what, least in ((900, "2,000 players, 900 kbit/s", 1 / 12),
                              (200, "2,000 players, 200 kbit/s", 1 / 10),
                              (8000, "300 players, 8 Mbit/s", 1 / 3)):
        ratio("play, " + what, "play", "default", "us", least, kbps=kbps)
        floor("sends", "send", "play", kbps)
    ratio("play, sent at once", "play", "at once", "us", 0.9, kbps=900)
    limit("  latency p99", find(rows, "play", "srs", "at once"), "latency_p99", 15, "ms")
    ratio("play, mw_latency 30", "play", "mw 30", "us", 0.6, kbps=900)
    limit("  latency p99", find(rows, "play", "srs", "mw 30"), "latency_p99", 45, "ms")
    flv, rtmp = find(rows, "http-flv", "srs", "http"), find(rows, "rtmp", "srs", "http")
    if flv and rtmp:
        row = {"x": flv["us"] / rtmp["us"]}
        limit("2,000 HTTP-FLV players against RTMP, 900 kbit/s", row, "x", 1.1, "times")
    for plain, secure in (("http-flv", "https-flv"), ("rtmp", "rtmps")):
        a, b = ([r for r in rows if r["case"] == c and r["variant"] == "tls"] for c in (plain, secure))
        if a and b:
            row = {k: [sum(r[k] for r in c) / len(c) for c in (a, b)] for k in ("us", "rss_kb")}
            row = {"x": row["us"][1] / row["us"][0], "more": row["rss_kb"][1] - row["rss_kb"][0]}
            limit(f"1,000 {secure.upper()} players against {plain.upper()}", row, "x", 1.8, "times")
            limit("  memory, more than a plain player", row, "more", 12, "kB")
    none, hls = find(rows, "hls", "srs"), find(rows, "hls", "srs", "hls")
    if none and hls:
        limit("HLS of 1,000 streams without players, more than publishing alone", {"x": hls["us"] - none["us"]},
              "x", 150, "µs")
        limit("  stalls of the thread", hls, "held", 0, "")
    theirs, ours = find(rows, "hls-fetch", "nginx"), find(rows, "hls-fetch", "srs", "hls")
    if theirs and ours:
        row = {"x": theirs["cpu_per_gbit"] / ours["cpu_per_gbit"]}
        limit("2,000 HLS players: bytes per CPU second, against nginx", row, "x", 0.8, "times", True)
    for what, variant, most in (("LL-HLS, hls.js", "ll", 2000),
                                ("HLS of 2 s segments, hls.js near the edge", "ts, near", 6000),
                                ("HTTP-FLV, mpegts.js", "http", 600),
                                ("WebRTC, page to page", "rtc, page to page", 250),
                                ("WebRTC, RTMP to page", "rtc, RTMP to page", 400)):
        limit(f"glass to glass: {what}", find(rows, "glass", "srs", variant), "old", most, "ms")
    row = find(rows, "big", "srs")
    limit("15,000 players of 500 kbit/s: CPU", row, "cpu", 60, "%")
    limit("  least rate", row, "rate_min", 97, "%", True)
    limit("  alive", row, "alive", 15000, "", True)
    limit("memory of a player", find(rows, "memory", "srs"), "rss_kb", 8, "kB")
    limit("memory of an idle connection", find(rows, "idle", "srs"), "rss_kb", 6, "kB")
    row = find(rows, "join", "srs")
    limit("5,000 join in 5 s: first byte p99", row, "first_p99", 1000, "ms")
    limit("  gap of earlier players", row, "gap_max", 500, "ms")
    limit("  alive", row, "alive", 5000, "", True)
    ratio("1,000 publishers", "publish", "default", "us", 0.8)
    ratio("1,000 publishers, mr on", "publish", "mr", "us", 0.15)
    floor("reads", "receive", "publish", 900)
    limit("memory of a publisher without its packets", find(rows, "memory", "srs", "no gop"),
          "rss_kb", 24, "kB")
    many = find(rows, "streams", "srs", streams=1000, players=10000)
    one = find(rows, "streams", "srs", streams=1, players=10000)
    if many and one:
        row = {"x": many["cpu_beyond"] / (one["cpu_beyond"] or 1)}
        limit("1,000 streams x 10 players against 1 x 10,000", row, "x", 1.5, "times")
    row = find(rows, "slow", "srs")
    limit("500 slow of 2,000: least rate of the others", row, "rate_min", 97, "%", True)
    limit("  memory", row, "rss_total_kb", 900 * 1000 / 8 * 30 / 1024 * 2 + 16000, "kB")
    row = find(rows, "churn", "srs")
    limit("churn: RSS afterwards, more than before", row, "rss_total_kb", 2048, "kB")
    limit("  descriptors left", row, "files", 0, "")
    limit("a page of 100 of 10,000 clients: p99", find(rows, "api", "srs", "list"), "page_p99", 20, "ms")
    limit("  gap of the players", find(rows, "api", "srs", "players"), "gap_max", 500, "ms")
    row = find(rows, "scrape", "srs", "metrics")
    limit("a scrape of 1,000 streams: CPU", row, "cpu_ms_each", 30, "ms")
    limit("  longest wait of others", row, "held_max", 5, "ms")
    limit("a publisher while a backend hangs: start p99", find(rows, "hooks", "srs", "backend hangs"), "start_p99", 50, "ms")
    for row in rows:
        if row.get("goal") is not None:
            limit(row["variant"], row, "ratio", abs(row["goal"]), row.get("unit", "times"), row["goal"] < 0)
    return out


def table(columns, rows):
    cells = [[t for _, t in columns]] + [[c(r) for c, _ in columns] for r in rows]
    widths = [max(len(r[i]) for r in cells) for i in range(len(columns))]
    return "\n".join("  ".join(v.ljust(w) if i < 3 else v.rjust(w)
                               for i, (v, w) in enumerate(zip(r, widths))).rstrip() for r in cells)


def results_text(rows):
    used = [(k, t) for k, t, _ in COLUMNS if any(r.get(k) is not None for r in rows)]
    return table([((lambda r, k=k: cell(k, r)), t) for k, t in used], rows)


MARKDOWN = ["case", "server", "variant", "streams", "players", "publishers", "kbps", "cpu", "us",
            "rss_kb", "rate", "rate_min", "first_p99", "gap_max", "latency_p50", "latency_p99"]


def markdown(rows):
    """The same for the documentation, with fewer columns."""
    titles = {k: t for k, t, _ in COLUMNS} | {"first_p99": "first p99 ms", "gap_max": "gap max ms",
                                              "latency_p50": "latency p50 ms", "latency_p99": "p99 ms"}
    used = [k for k in MARKDOWN if any(r.get(k) is not None for r in rows)]
    lines = [[titles[k] for k in used], ["---" if k in MARKDOWN[:3] else "---:" for k in used]]
    lines += [[cell(k, r) for k in used] for r in rows]
    lines += [[]] + [["what", "goal", "measured", "met"], ["---"] * 4]
    lines += [[g[0].strip(), g[1], g[2], MET[g[3]].lower()] for g in goals(rows)]
    return "".join("| " + " | ".join(c) + " |\n" if c else "\n" for c in lines)


def goals_text(rows):
    found = goals(rows)
    columns = [(lambda g: g[0], "what"), (lambda g: g[1], "goal"), (lambda g: g[2], "measured"),
               (lambda g: MET[g[3]], "met")]
    return table(columns, found) if found else "no goal was measured"


TITLES = {"srs": "Sluice"}
PLOT = """
set terminal svg size 800,480 font 'sans,13'
set output '{out}'
set key top left
set grid
set xlabel 'players of a 900 kbit/s stream'
set ylabel '{ylabel}'
set yrange [0:*]
plot {curves}
"""


def plot(bench, key, ylabel, name):
    curves = []
    for server in ("nginx-rtmp", "srs"):
        rows = sorted((r["players"], r[key] * (r["players"] / 1024 if key == "rss_kb" else 1))
                      for r in bench.rows
                      if r["case"] == "scale" and r["server"] == server)
        if rows:
            data = bench.out / f"{name}-{server}.dat"
            data.write_text("".join(f"{x} {y}\n" for x, y in rows))
            curves.append(f"'{data}' with linespoints lw 2 title '{TITLES.get(server, server)}'")
    if not curves or not shutil.which("gnuplot"):
        return
    script = PLOT.format(out=bench.out / f"{name}.svg", ylabel=ylabel, curves=", ".join(curves))
    subprocess.run(["gnuplot"], input=script.encode(), check=False, timeout=30)


def plot_workers(bench):
    rows = sorted((r["players"], r["busiest"], r["cpu_other"], r["cpu"]) for r in bench.rows
                  if r["case"] == "growing")
    if not rows or not shutil.which("gnuplot"):
        return
    data = bench.out / "workers.dat"
    data.write_text("".join(f"{x} {a} {b} {c}\n" for x, a, b, c in rows))
    curves = ", ".join(f"'{data}' using 1:{i} with linespoints lw 2 title '{title}'" for i, title in
                       ((4, "both workers"), (2, "owner worker"), (3, "other worker")))
    script = PLOT.replace("900", "500").format(out=bench.out / "workers.svg", ylabel="CPU, % of a core", curves=curves)
    subprocess.run(["gnuplot"], input=script.encode(), check=False, timeout=30)


def plot_rtmfp(bench):
    rows = sorted((r["players"], r["cpu"], r["rss_kb"] * r["players"] / 1024, r["lost"]) for r in bench.rows
                  if r["case"] == "rtmfp-growing")
    if not rows or not shutil.which("gnuplot"):
        return
    data = bench.out / "rtmfp.dat"
    data.write_text("".join(f"{x} {a} {b} {c}\n" for x, a, b, c in rows))
    for i, name, ylabel in ((2, "cpu", "CPU, % of a core"), (3, "memory", "memory of all sessions, MB"),
                            (4, "loss", "pings lost, %")):
        script = PLOT.replace("players of a 900 kbit/s stream", "sessions that ping every 5 s")
        script = script.format(out=bench.out / f"rtmfp-{name}.svg", ylabel=ylabel,
                               curves=f"'{data}' using 1:{i} with linespoints lw 2 title 'Sluice'")
        subprocess.run(["gnuplot"], input=script.encode(), check=False, timeout=30)


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo") as f:
        for text in f:
            if text.startswith("model name"):
                model = text.split(":", 1)[1].strip()
                break
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}"


def write(bench):
    if not bench.rows:
        return
    rows = merged(bench.rows)
    text = (f"{time.strftime('%Y-%m-%d %H:%M')}  {machine()}\n\n{results_text(rows)}\n\n"
            f"{before_text(bench.rows)}{goals_text(rows)}\n")
    (bench.out / "table.txt").write_text(text)
    (bench.out / "table.md").write_text(markdown(rows))
    with open(bench.out / "table.csv", "w", newline="") as f:
        out = csv.DictWriter(f, [k for k, _, _ in COLUMNS], extrasaction="ignore")
        out.writeheader()
        out.writerows(bench.rows)
    plot(bench, "cpu", "CPU, % of a core", "cpu")
    plot_workers(bench)
    plot_rtmfp(bench)
    plot(bench, "rss_kb", "memory of all players, MB", "memory")
    print(f"\n{text}\nwritten to {bench.out}/table.txt, table.md, table.csv, *.svg")
