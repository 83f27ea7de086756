// SPDX-License-Identifier: MIT
// publish.js - addresses to publish to, with copy buttons.

import { copyButton } from "./copy.js";
import { el, sync, text } from "./dom.js";
import { DEFAULT, publishing } from "./ways.js";

// `ports`: the open ports, in the form of publishing().
export function publish(box, ports, app = "live", name = "livestream", vhost = DEFAULT) {
    sync(box, publishing(ports ?? {}, app, name, vhost), r => r[0], ([label]) => {
        const value = el("code");
        return el("div", { class: "give" }, el("span", { class: "dim" }, label), value,
            copyButton(() => value.textContent, `Copy: ${label}`));
    }, (e, r) => text(e.children[1], r[1]));
}
