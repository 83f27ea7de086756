// SPDX-License-Identifier: MIT
// publish.js - where to publish to, to be copied.

import { copyButton } from "./copy.js";
import { el, sync, text } from "./dom.js";
import { ffmpeg, rtmp } from "./ways.js";

export function publish(box, port, app = "live", key = "livestream") {
    const server = rtmp(port, app);
    const rows = [
        ["OBS: Settings, Stream, Service Custom, Server", server],
        ["Stream Key", key],
        ["ffmpeg, with a file that comes with the server", ffmpeg(server, key)],
    ];
    sync(box, rows, r => r[0], ([label]) => {
        const value = el("code");
        return el("div", { class: "give" }, el("span", { class: "dim" }, label), value,
            copyButton(() => value.textContent, `Copy: ${label}`));
    }, (e, r) => text(e.children[1], r[1]));
}
