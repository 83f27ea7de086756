// SPDX-License-Identifier: MIT
// qr_words.js - the codewords of a QR code: data in byte mode, and their error correction (ISO/IEC 18004, level M).

// For each version from 1: error correction codewords per block, number of blocks.
const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10];

export const sizeOf = version => 17 + 4 * version; // modules per side

// Centres of the alignment patterns, in either direction.
export function alignments(version) {
    if (version === 1)
        return [];
    const n = Math.floor(version / 7) + 2, step = Math.ceil((4 * version + 4) / (2 * n - 2)) * 2;
    return [6, ...Array.from({ length: n - 1 }, (_, i) => sizeOf(version) - 7 - step * (n - 2 - i))];
}

// Number of codewords that fit after placing the patterns.
function capacity(version) {
    const size = sizeOf(version), n = alignments(version).length;
    const finders = 3 * 64, timing = 2 * (size - 16), format = 31, about = version >= 7 ? 36 : 0;
    const aligned = n ? 25 * (n * n - 3) - 10 * (n - 2) : 0; // two rows of them overlap the timing patterns
    return Math.floor((size * size - finders - timing - format - about - aligned) / 8);
}

const dataOf = version => capacity(version) - CORRECTION[version - 1] * BLOCKS[version - 1];

// Arithmetic in GF(256) with the polynomial of the standard.
const EXP = new Uint8Array(510), LOG = new Uint8Array(256);
for (let i = 0, x = 1; i < 255; i++) {
    EXP[i] = EXP[i + 255] = x;
    LOG[x] = i;
    x = x << 1 ^ (x & 128 ? 0x11d : 0);
}
const times = (a, b) => a && b ? EXP[LOG[a] + LOG[b]] : 0;

// The product of (x - 2^i), without its first coefficient, which is 1.
function generator(n) {
    let g = [1];
    for (let i = 0; i < n; i++)
        g = [...g, 0].map((c, k) => c ^ (k ? times(g[k - 1], EXP[i]) : 0));
    return g.slice(1);
}

function correction(data, g) {
    const rest = new Array(g.length).fill(0);
    for (const byte of data) {
        const factor = byte ^ rest.shift();
        rest.push(0);
        g.forEach((c, i) => { rest[i] ^= times(c, factor); });
    }
    return rest;
}

// Mode, length, bytes, end, padding.
function data(bytes, version) {
    const bits = [], put = (value, n) => { while (n--) bits.push(value >> n & 1); };
    const room = dataOf(version);
    put(4, 4);
    put(bytes.length, version < 10 ? 8 : 16);
    for (const b of bytes)
        put(b, 8);
    put(0, Math.min(4, 8 * room - bits.length));
    put(0, (8 - bits.length % 8) % 8);
    for (let pad = 0xec; bits.length < 8 * room; pad ^= 0xec ^ 0x11)
        put(pad, 8);
    return Array.from({ length: room }, (_, i) => parseInt(bits.slice(8 * i, 8 * i + 8).join(""), 2));
}

// Splits the data into blocks, longer ones last, and interleaves their codewords.
function interleave(all, version) {
    const n = BLOCKS[version - 1], g = generator(CORRECTION[version - 1]), short = Math.floor(all.length / n);
    const blocks = [];
    for (let i = 0, at = 0; i < n; i++) {
        const size = short + (i >= n - all.length % n ? 1 : 0);
        blocks.push(all.slice(at, at += size));
    }
    const more = blocks.map(b => correction(b, g)), out = [];
    for (const part of [blocks, more])
        for (let k = 0; k < part[n - 1].length; k++)
            out.push(...part.filter(b => k < b.length).map(b => b[k]));
    return out;
}

// Returns { version, words } of the smallest code that fits the text, or null.
export function words(text) {
    const bytes = new TextEncoder().encode(text);
    for (let version = 1; version <= BLOCKS.length; version++)
        if (12 + (version < 10 ? 0 : 8) + 8 * bytes.length <= 8 * dataOf(version))
            return { version, words: interleave(data(bytes, version), version) };
    return null;
}
