// SPDX-License-Identifier: MIT
// totals.js - the tiles at the top.

import { $, el, text } from "./dom.js";
import { bytes, count, many, rate } from "./format.js";
import { Spark } from "./spark.js";

const sum = (list, what) => list.reduce((all, x) => all + what(x), 0);

export class Totals {
    constructor() {
        this.tiles = {};
    }

    tile(name, value, more, kind, v) {
        let t = this.tiles[name];
        if (!t) {
            t = this.tiles[name] = {
                value: el("div", { class: "value" }), more: el("div", { class: "more" }),
                spark: kind ? new Spark(kind) : null,
            };
            $("totals").append(el("div", { class: "tile" }, el("div", { class: "name" }, name),
                t.value, t.more, t.spark?.svg));
        }
        text(t.value, value);
        text(t.more, more);
        if (v !== null && v !== undefined)
            t.spark?.push(v, `${name}: ${value}`);
    }

    // `rates`: sums over all streams. `listed`: all streams, or null if the list is incomplete.
    show({ self, system }, vhosts, workers, listed, rates) {
        const received = sum(vhosts, v => v.recv_bytes), sent = sum(vhosts, v => v.send_bytes);
        const clients = sum(vhosts, v => v.clients);
        const publishers = listed ? listed.filter(s => s.publish.active).length : sum(workers, w => w.publishers);
        const inRate = rates?.in ?? sum(vhosts, v => v.kbps.recv_30s);
        const outRate = rates?.out ?? sum(vhosts, v => v.kbps.send_30s);
        const players = Math.max(0, clients - publishers);
        this.tile("In", rate(inRate), bytes(received), "in", inRate);
        this.tile("Out", rate(outRate), bytes(sent), "out", outRate);
        this.tile("Players", count(players), many(publishers, "publisher"), "out", players);
        this.tile("Server", `${(self.cpu_percent * 100).toFixed(1)} %`, `of a core, ${bytes(self.mem_kbyte * 1024)}`,
            "in", self.cpu_percent * 100);
        this.tile("Machine", `${(system.cpu_percent * 100).toFixed(0)} %`,
            `of ${many(system.cpus_online, "core")}, memory ${(system.mem_ram_percent * 100).toFixed(0)} %`,
            "in", system.cpu_percent * 100);
    }
}
