// SPDX-License-Identifier: MIT
// format.js - numbers for people.

export function rate(kbps) {
    if (kbps === null || kbps === undefined)
        return "–";
    if (kbps < 1000)
        return `${Math.round(kbps)} kbit/s`;
    if (kbps < 1e6)
        return `${(kbps / 1000).toFixed(kbps < 1e4 ? 2 : 1)} Mbit/s`;
    return `${(kbps / 1e6).toFixed(2)} Gbit/s`;
}

export function bytes(n) {
    const units = ["B", "KB", "MB", "GB", "TB", "PB"];
    let i = 0;
    for (; n >= 1000 && i < units.length - 1; i++)
        n /= 1024;
    return `${i && n < 100 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}

export function time(seconds) {
    const s = Math.max(0, Math.floor(seconds));
    if (s < 60)
        return `${s} s`;
    if (s < 3600)
        return `${Math.floor(s / 60)} min ${s % 60} s`;
    if (s < 86400)
        return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
    return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
}

const two = n => String(n).padStart(2, "0");

// A position in a file: "1:02:03", "2:03".
export function clock(seconds) {
    const s = Math.max(0, Math.round(seconds)), h = Math.floor(s / 3600);
    return (h ? `${h}:${two(Math.floor(s / 60) % 60)}` : String(Math.floor(s / 60))) + `:${two(s % 60)}`;
}

export const many = (n, one, more = one + "s") => `${count(n)} ${n === 1 ? one : more}`;

// 3000 is "3,000".
export const count = n => n.toLocaleString("en");
