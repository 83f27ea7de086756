// SPDX-License-Identifier: MIT
// publish.js - where to publish to, to be copied.

import { copyButton } from "./copy.js";
import { el, sync, text } from "./dom.js";
import { DEFAULT, publishing } from "./ways.js";

// `ports`: those that are on, as publishing() wants them.
export function publish(box, ports, app = "live", name = "livestream", vhost = DEFAULT) {
    sync(box, publishing(ports ?? {}, app, name, vhost), r => r[0], ([label]) => {
        const value = el("code");
        return el("div", { class: "give" }, el("span", { class: "dim" }, label), value,
            copyButton(() => value.textContent, `Copy: ${label}`));
    }, (e, r) => text(e.children[1], r[1]));
}
