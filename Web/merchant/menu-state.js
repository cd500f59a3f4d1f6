// An outlet's menu as it is now, and how it is changed: each change is shown first, and rests on the version that was
// seen.

import { get } from "../shared/api.js";
import { say } from "../shared/dom.js";
import { ask } from "../shared/question.js";
import { Topic } from "../shared/topic.js";
import { differences, editable, isSame, merged } from "./changes.js";
import { outletPath, send } from "./parts.js";

const NOTHING = { version: 0, sections: [], groups: [] };
const WORDS = { item: "item", section: "section", group: "group" };

export class MenuState {
    #outlet;
    #path;
    #topic = new Topic();
    #signal;
    #reading = Promise.resolve();

    constructor(outlet, signal) {
        this.#outlet = outlet;
        this.#path = outletPath(outlet.id);
        this.#signal = signal;
    }

    get outlet() {
        return this.#outlet;
    }

    /// The document; what a change leaves as it is stays the same object.
    get document() {
        return this.#topic.document ?? NOTHING;
    }

    get sections() {
        return this.document.sections;
    }

    get groups() {
        return this.document.groups ?? [];
    }

    /// Reads what has changed, one time after the other; answers whether anything has.
    read() {
        const next = this.#reading.catch(() => {}).then(() => this.#readNow());
        this.#reading = next;
        return next;
    }

    async #readNow() {
        const path = `${this.#path}/menu?since=${this.#topic.revision ?? 0}`;
        // Digests have no order, so a change leads from the document or replaces it.
        const change = await get(path, { signal: this.#signal, patience: 60_000 });
        if (change === null || change.to === this.#topic.revision) return false;
        const whole = new Topic(this.#topic.document, 0);
        if (whole.take({ ...change, from: 0, to: 1 }) !== "changed") {
            this.#topic = new Topic();
            return this.#readNow();
        }
        this.#topic = new Topic(whole.document, change.to);
        return true;
    }

    /// A part as it can be put, with the section of an item; null where there is none.
    find(kind, id) {
        if (kind === "item") {
            for (const section of this.sections) {
                const item = section.items.find((each) => each.id === id);
                if (item) return { ...editable(item), section: section.id };
            }
            return null;
        }
        const found = (kind === "section" ? this.sections : this.groups).find((each) => each.id === id);
        return found ? editable(found) : null;
    }

    /// Where a part is: its neighbours, itself among them, and its place, from 0; -1 where it is not yet.
    placeOf(kind, id, section = null) {
        const list = kind === "section" ? this.sections
            : this.sections.find((each) => (section === null ? each.items.some((item) => item.id === id) : each.id === section))?.items ?? [];
        return { list, place: list.findIndex((each) => each.id === id) };
    }

    /// Makes a change `{kind, id, name, base, mine, place}`, which is shown first. `base` and `mine` are the part before
    /// and after, null for none; `place` is its new place, if it is to have one. Answers whether it was made.
    async change({ kind, id, name, base, mine, place = null }) {
        const { currency } = this.#outlet;
        let texts = differences(kind, base, mine, currency);
        if (place !== null) {
            const { place: before } = this.placeOf(kind, id, mine.section ?? null);
            texts.push(before < 0 ? `Place: ${place + 1}` : `Place: ${before + 1} → ${place + 1}`);
        }
        if (texts.length === 0) {
            say("Nothing was changed.");
            return true;
        }
        const verb = base === null ? "Add" : mine === null ? "Remove" : "Change";
        if (!await ask({ title: `${verb} ${name}?`, texts, yes: verb, no: "Not yet" })) return false;
        for (;;) {
            // The menu is read meanwhile, too.
            const theirs = this.find(kind, id);
            if (isSame(theirs, base)) {
                try {
                    await this.#put({ kind, id, mine, place });
                    break;
                } catch (error) {
                    if (error.code !== "CONFLICT") throw error;
                }
                await this.read();
                continue;
            }
            const others = differences(kind, base, theirs, currency).map((text) => `Meanwhile: ${text}`);
            mine = merged(base, mine, theirs);
            base = theirs;
            texts = differences(kind, base, mine, currency).map((text) => `Yours: ${text}`);
            const title = `Somebody else has changed this ${WORDS[kind]}.`;
            if (!await ask({ title, texts: [...others, ...texts], yes: `${verb} it all the same`, no: "Leave it" })) return false;
        }
        await this.read();
        say(`${name}: ${{ Add: "added", Remove: "removed", Change: "changed" }[verb]}.`);
        return true;
    }

    async #put({ kind, id, mine, place }) {
        const options = { version: this.document.version };
        const name = encodeURIComponent(id);
        if (mine === null) return send("DELETE", `${this.#path}/${kind}s/${name}`, options);
        const { section, ...body } = mine;
        if (kind === "group") return send("PUT", `${this.#path}/groups/${name}`, { ...options, body });
        const target = kind === "section" ? this.#path : `${this.#path}/sections/${encodeURIComponent(section)}`;
        if (place === null) return send("PUT", `${target}/${kind}s/${name}`, { ...options, body });
        const { list, place: before } = this.placeOf(kind, id, section ?? null);
        const others = list.filter((each) => each.id !== id);
        const next = others[place]?.id;
        if (next === undefined && before >= 0) return this.#putLast({ kind, id, section, body }, options);
        const query = next === undefined ? {} : { before: next };
        return send("PUT", `${target}/${kind}s/${name}`, { ...options, body, query });
    }

    // No command says that a part is to be the last of those that it is among already; the whole menu does.
    #putLast({ kind, id, section, body }, options) {
        const last = (list, part) => [...list.filter((each) => each.id !== id), part];
        const sections = kind === "section"
            ? last(this.sections, { ...this.sections.find((each) => each.id === id), ...body })
            : this.sections.map((each) => (each.id === section ? { ...each, items: last(each.items, { id, ...body }) } : each));
        return send("PUT", `${this.#path}/menu`, { ...options, body: { ...this.document, sections } });
    }

    /// Replaces the menu, as one change that rests on what is shown.
    async replace(menu) {
        await send("PUT", `${this.#path}/menu`, { version: this.document.version, body: menu });
        await this.read();
    }
}
