// SPDX-License-Identifier: MIT
// send.js - the part of the console that tells where to publish to, and shows a page for telephones as a QR code.

import { $, text } from "./dom.js";
import { publish } from "./publish.js";
import { qr } from "./qr.js";
import { DEFAULT, portsOf } from "./ways.js";

const LOCAL = /^(localhost|127\..*|\[::1\])$/;

// A telephone reaches the server by its address in the network, not by the machine's name for itself.
const hostOf = ways => LOCAL.test(location.hostname) && ways.address ? ways.address : location.hostname;

// The page that publishes: [address, what is to be known of it], or null when WebRTC is off.
function page(ways, app, name) {
    const way = ways?.vhosts.find(w => w.name === DEFAULT), port = ways?.https || ways?.http;
    if (!way?.rtc || !port)
        return null;
    const query = new URLSearchParams({ app, stream: name });
    return [`http${ways.https ? "s" : ""}://${hostOf(ways)}:${port}/players/whip.html?${query}`, ways.https ? "" :
        "Telephones give a page their camera by https alone: see conf/https.rtc.conf."];
}

export class Send {
    constructor() {
        this.shown = null;
        for (const id of ["send-app", "send-name"])
            $(id).addEventListener("input", () => this.show(this.ways));
    }

    // The usual names, so that the addresses are whole, when nothing is typed.
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
