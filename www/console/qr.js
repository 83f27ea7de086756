// SPDX-License-Identifier: MIT
// qr.js - renders a QR code as an SVG image (ISO/IEC 18004).

import { alignments, sizeOf, words } from "./qr_words.js";

const SVG = "http://www.w3.org/2000/svg", MARGIN = 4;
const MASKS = [
    (x, y) => (x + y) % 2, (x, y) => y % 2, x => x % 3, (x, y) => (x + y) % 3, (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
    (x, y) => x * y % 2 + x * y % 3, (x, y) => (x * y % 2 + x * y % 3) % 2, (x, y) => ((x + y) % 2 + x * y % 3) % 2,
];

// A grid of [row][column]: true is dark, undefined not set yet.
const grid = size => Array.from({ length: size }, () => new Array(size));

function finder(g, cx, cy) {
    for (let y = -4; y <= 4; y++)
        for (let x = -4; x <= 4; x++) {
            const ring = Math.max(Math.abs(x), Math.abs(y));
            if (g[cy + y] && cx + x >= 0 && cx + x < g.length)
                g[cy + y][cx + x] = ring !== 2 && ring !== 4;
        }
}

function alignment(g, cx, cy) {
    for (let y = -2; y <= 2; y++)
        for (let x = -2; x <= 2; x++)
            g[cy + y][cx + x] = Math.max(Math.abs(x), Math.abs(y)) !== 1;
}

// Appends the remainder of a BCH code over GF(2) to the value.
function protect(value, bits, polynomial) {
    let rest = value << bits;
    for (let i = 31 - Math.clz32(rest); i >= bits; i--)
        if (rest >> i & 1)
            rest ^= polynomial << i - bits;
    return value << bits | rest;
}

// Writes the format information twice: next to the first finder, and split between the two others. Level M is 00.
function format(g, mask) {
    const bits = protect(mask, 10, 0x537) ^ 0x5412, n = g.length, at = i => (bits >> i & 1) === 1;
    for (let i = 0; i < 15; i++) {
        g[i < 6 ? i : i < 8 ? i + 1 : n - 15 + i][8] = at(i);
        g[8][i < 8 ? n - 1 - i : i < 9 ? 7 : 14 - i] = at(i);
    }
    g[n - 8][8] = true;
}

function about(g, version) {
    const bits = protect(version, 12, 0x1f25), n = g.length;
    for (let i = 0; i < 18; i++) {
        const a = n - 11 + i % 3, b = Math.floor(i / 3), dark = (bits >> i & 1) === 1;
        g[a][b] = g[b][a] = dark;
    }
}

function patterns(version) {
    const n = sizeOf(version), g = grid(n), centres = alignments(version), last = centres.length - 1;
    for (let i = 0; i < n; i++)
        g[6][i] = g[i][6] = i % 2 === 0;
    centres.forEach((y, i) => centres.forEach((x, k) => {
        if (!(i === 0 && (k === 0 || k === last) || i === last && k === 0)) // occupied by a finder
            alignment(g, x, y);
    }));
    for (const [x, y] of [[3, 3], [n - 4, 3], [3, n - 4]])
        finder(g, x, y);
    format(g, 0);
    if (version >= 7)
        about(g, version);
    return g;
}

// Yields the free modules in codeword order: pairs of columns from the right, alternately up and down.
function* free(g) {
    const n = g.length;
    for (let right = n - 1, up = true; right > 0; right -= right === 8 ? 3 : 2, up = !up)
        for (let i = 0; i < n; i++)
            for (const x of [right, right - 1]) {
                const y = up ? n - 1 - i : i;
                if (g[y][x] === undefined)
                    yield [x, y];
            }
}

function filled(fixed, places, bytes, mask) {
    const g = fixed.map(row => [...row]);
    places.forEach(([x, y], i) => {
        const bit = bytes[i >> 3] >> 7 - i % 8 & 1;
        g[y][x] = (bit === 1) !== (MASKS[mask](x, y) === 0);
    });
    format(g, mask);
    return g;
}

const FINDERS = /(?=10111010000|00001011101)/g;

// Penalty of a mask: long runs, 2x2 squares, patterns that resemble a finder, imbalance of dark and light.
function penalty(g) {
    const n = g.length, rows = g.map(r => r.map(Number).join(""));
    const columns = rows.map((_, x) => rows.map(r => r[x]).join(""));
    let bad = 0, dark = 0;
    for (const line of [...rows, ...columns]) {
        for (const run of line.match(/0{5,}|1{5,}/g) ?? [])
            bad += run.length - 2;
        bad += 40 * (line.match(FINDERS) ?? []).length;
    }
    for (let y = 0; y + 1 < n; y++)
        for (let x = 0; x + 1 < n; x++)
            bad += g[y][x] === g[y][x + 1] && g[y][x] === g[y + 1][x] && g[y][x] === g[y + 1][x + 1] ? 3 : 0;
    for (const row of rows)
        dark += row.split("1").length - 1;
    return bad + 10 * Math.floor(Math.abs(20 * dark / (n * n) - 10));
}

// Returns rows of modules, true for dark; null if the text is too long.
export function modules(text) {
    const found = words(text);
    if (!found)
        return null;
    const fixed = patterns(found.version), places = [...free(fixed)];
    const all = MASKS.map((_, mask) => filled(fixed, places, found.words, mask));
    return all.map(g => [penalty(g), g]).reduce((a, b) => b[0] < a[0] ? b : a)[1];
}

// Always dark on light, because cameras do not read inverted codes.
export function qr(text) {
    const rows = modules(text);
    if (!rows)
        return null;
    const size = rows.length + 2 * MARGIN, svg = document.createElementNS(SVG, "svg");
    const part = (name, attrs) => {
        const e = svg.appendChild(document.createElementNS(SVG, name));
        for (const [k, v] of Object.entries(attrs))
            e.setAttribute(k, v);
    };
    svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
    svg.setAttribute("class", "qr");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `QR code of ${text}`);
    svg.setAttribute("shape-rendering", "crispEdges");
    part("rect", { width: size, height: size, fill: "#fff" });
    part("path", {
        fill: "#000",
        d: rows.flatMap((row, y) => row.map((dark, x) => dark ? `M${x + MARGIN} ${y + MARGIN}h1v1h-1z` : "")).join(""),
    });
    return svg;
}
