// SPDX-License-Identifier: MIT
// streams.js - the list of streams, in pages, sorted.

import { $, sync, text } from "./dom.js";
import { count } from "./format.js";
import { Pager } from "./pager.js";
import { Stream } from "./stream.js";

const PAGE = 50;

export class Streams {
    constructor(api, player, again) {
        Object.assign(this, { api, player, again, views: new Map() });
        const first = () => { this.pager.start = 0; again(); };
        this.pager = new Pager(PAGE, again);
        $("filter").after(this.pager.box);
        $("filter").addEventListener("input", () => { this.filter(); first(); });
        $("stream-sort").addEventListener("change", first);
    }

    get wanted() {
        return $("filter").value.trim();
    }

    get query() {
        return `streams/?sort=${$("stream-sort").value}&${this.pager.query}&find=${encodeURIComponent(this.wanted)}`;
    }

    // Filters at once, while the server is being asked.
    filter() {
        for (const e of $("streams").children)
            e.hidden = !e.dataset.name.toLowerCase().includes(this.wanted.toLowerCase());
    }

    async show(listed, vhosts, ways, now) {
        const names = new Map(vhosts.map(v => [v.id, v.name]));
        const list = listed.streams.map(s => ({ ...s, vhostName: names.get(s.vhost) ?? "" }));
        const total = listed.total ?? list.length, opened = [];
        if (!this.pager.show(list.length, total))
            return this.again();
        text($("stream-count"), this.wanted ? `${count(total)} found` : count(total));
        sync($("streams"), list, s => s.id, s => this.make(s), (e, s) => opened.push(this.views.get(s.id).update(s, ways, now)));
        for (const id of [...this.views.keys()])
            if (!list.some(s => s.id === id))
                this.views.delete(id);
        const sum = what => [...this.views.values()].reduce((all, v) => all + v[what], 0);
        this.rates = this.wanted || total > list.length ? null : { in: sum("inRate"), out: sum("outRate") };
        await Promise.all(opened);
    }

    make(s) {
        const view = new Stream(this.api, this.player, this.again);
        this.views.set(s.id, view);
        return view.card;
    }
}
