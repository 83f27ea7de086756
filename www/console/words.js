// SPDX-License-Identifier: MIT
// words.js - texts about streams that do not play, instead of the messages of libraries.

const SHOWN = 5; // names

// Names of codecs in MIME types, in texts of libraries and in the API.
const CODECS = [
    [/hvc1|hev1|hevc|h\.?265/i, "HEVC"], [/avc[13]|h\.?264/i, "H.264"], [/av01|av1\b/i, "AV1"], [/vp0?9/i, "VP9"], [/vp0?8/i, "VP8"],
    [/mp4a\.(69|6b)|\bmp3/i, "MP3"], [/mp4a|\baac/i, "AAC"], [/opus/i, "Opus"], [/ec-?3|eac3/i, "E-AC-3"], [/ac-?3/i, "AC-3"], [/flac/i, "FLAC"],
    [/speex/i, "Speex"], [/g711|pcm[au]/i, "G.711"],
];
const UNSUPPORTED = /not.?support|unsupported|incompatible|addcodec|addSourceBuffer|decode/i;

export const codecName = text => CODECS.find(([shape]) => shape.test(text))?.[1] ?? null;

export const cannotDecode = codec => `This browser cannot decode ${codec}.`;

// Length of the common beginning of two names, to suggest the right name after a typing error.
function alike(a, b) {
    let n = 0;
    while (n < a.length && a[n] === b[n])
        n++;
    return n;
}

// `onAir`: names of published streams; null if unknown.
export function noPublisher(name, onAir = null) {
    const first = `No publisher for ${name}.`;
    if (!onAir)
        return first;
    if (onAir.length === 0)
        return `${first} Nothing is on air.`;
    const near = [...onAir].sort((a, b) => alike(b, name) - alike(a, name) || a.localeCompare(b));
    const more = near.length > SHOWN ? ` and ${near.length - SHOWN} more` : "";
    return `${first} On air: ${near.slice(0, SHOWN).join(", ")}${more}.`;
}

// Replaces a library's message by a plain one if there is one.
export function plainly(said) {
    const codec = UNSUPPORTED.test(said) ? codecName(said) : null;
    return codec ? cannotDecode(codec) : said;
}

// Removes the numbers from an error of the server, such as "code=1012(IO_CONNECT)(Connect to peer failed) : 10.0.0.1:1935 : connect (Connection refused)".
export const inWords = error => error.replace(/code=\d+\(\w+\)\((.*?)\) : /, "$1: ").replaceAll(" : ", ": ");
