// The outlet of a kitchen: its name and zone, and whether it takes orders. A busy kitchen pauses it.

import { get, request } from "../shared/api.js";
import { clockTime, isPast, now } from "../shared/clock.js";
import { say, setHidden, setText } from "../shared/dom.js";
import { isOff, opening } from "../shared/hours.js";
import { askForm } from "../shared/forms.js";

export class Place {
    #path;
    #outlet;
    #document = null;
    #parts;

    /// `parts` are the elements that show it: `title`, `status` and `pause`.
    constructor(outlet, parts) {
        this.#outlet = outlet;
        this.#path = `/v1/outlets/${encodeURIComponent(outlet)}`;
        this.#parts = parts;
        parts.pause.onclick = () => this.#pause();
    }

    get zone() {
        return this.#document?.timeZone;
    }

    /// Whether it is another part of the day now; where none is named, it is not.
    isOff(daypart) {
        return this.#document !== null && isOff(daypart, this.#document);
    }

    /// The allergens that the menu names for an item.
    allergens = () => [];
    /// The section of an item; undefined where the menu does not have it.
    section = (_) => undefined;

    /// Reads it anew.
    async look() {
        try {
            this.#document = await get(this.#path);
        } catch {
            // What was known stays.
        }
        this.draw();
    }

    /// Reads what the menu says of its items.
    async readMenu() {
        const menu = await get(`${this.#path}/menu`).catch(() => null);
        const named = new Map((menu?.sections ?? []).flatMap(({ items }) => items)
            .map(({ id, attributes }) => [id, [attributes?.allergens ?? []].flat().map(String)]));
        this.allergens = (item) => named.get(item) ?? [];
        const sections = new Map((menu?.sections ?? []).flatMap(({ id, items }) => items.map((item) => [item.id, id])));
        this.section = (item) => sections.get(item);
    }

    draw() {
        const { title, status, pause } = this.#parts;
        const name = `Kitchen of ${this.#document?.name ?? this.#outlet}`;
        document.title = `${name} · Tiffin`;
        setText(title, name);
        const { pausedUntil, pauseReason } = this.#document ?? {};
        setText(status, this.#isPaused
            ? `Paused until ${clockTime(pausedUntil, this.zone)}${pauseReason ? `: ${pauseReason}` : ""}`
            : this.#document?.status !== "closed" ? ""
            : this.#document.opensAt ? `Closed. It opens ${opening(this.#document)}` : "Closed: no orders come");
        setHidden(status, status.textContent === "");
        setText(pause, this.#isPaused ? "End the pause" : "Pause");
        setHidden(pause, !this.#isPaused && this.#document?.status === "closed");
    }

    get #isPaused() {
        return this.#document?.status === "paused" && !isPast(this.#document.pausedUntil);
    }

    async #pause() {
        try {
            if (this.#isPaused) await request("POST", `${this.#path}/open`, { body: {} });
            else {
                const form = await askForm("pause-form");
                if (!form) return;
                const until = new Date(now() + Number(form.value) * 60_000).toISOString();
                const reason = form.parts.reason.value.trim();
                await request("POST", `${this.#path}/pause`, { body: { until, ...(reason === "" ? {} : { reason }) } });
            }
        } catch (error) {
            say(error.message);
        }
        await this.look();
    }
}
