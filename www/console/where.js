// SPDX-License-Identifier: MIT
// where.js - what the server of this page tells of itself to pages that do not ask its API; null: it is another server.

let told = null;

export function where() {
    told ??= fetch(new URL("where.json", import.meta.url)).then(r => r.json()).catch(() => null);
    return told;
}
