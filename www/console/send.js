// SPDX-License-Identifier: MIT
// send.js - the console's section with addresses to publish to, and a QR code of the page for phones.

import { $, text } from "./dom.js";
import { publish } from "./publish.js";
import { qr } from "./qr.js";
import { DEFAULT, portsOf } from "./ways.js";

const LOCAL = /^(localhost|127\..*|\[::1\])$/;

// A phone reaches the server at its network address, not at the machine's local name.
const hostOf = ways => LOCAL.test(location.hostname) && ways.address ? ways.address : location.hostname;

// Returns [address, note] of the page that publishes, or null if WebRTC is off.
function page(ways, app, name) {
    const way = ways?.vhosts.find(w => w.name === DEFAULT), port = ways?.https || ways?.http;
    if (!way?.rtc || !port)
        return null;
    const query = new URLSearchParams({ app, stream: name });
    return [`http${ways.https ? "s" : ""}://${hostOf(ways)}:${port}/players/whip.html?${query}`, ways.https ? "" :
        "Phones give their camera only to https pages: see conf/https.rtc.conf."];
}

export class Send {
    constructor() {
        this.shown = null;
        for (const id of ["send-app", "send-name"])
            $(id).addEventListener("input", () => this.show(this.ways));
    }

    // Default names complete the addresses while the fields are empty.
    show(ways, first = false) {
        const app = $("send-app").value.trim() || "live", name = $("send-name").value.trim() || "livestream";
        this.ways = ways;
        if (first && !this.touched) {
            $("send-part").open = true;
            this.touched = true;
        }
        publish($("publish"), portsOf(ways, DEFAULT), app, name);
        this.code(page(ways, app, name));
    }

    code(found) {
        const [url, note] = found ?? [];
        $("phone").hidden = !found;
        if (url === this.shown || !found)
            return;
        this.shown = url;
        $("phone-code").replaceChildren(...[qr(url)].filter(Boolean));
        $("phone-link").href = url;
        text($("phone-link"), url);
        text($("phone-note"), note);
    }
}
