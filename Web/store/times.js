// When an order is wanted: as soon as possible, or at a time of the next days, by the clock of its place.

import { get } from "../shared/api.js";
import { dayIn, dayName, daysFrom, hourIn, momentIn, now } from "../shared/clock.js";
import { setHidden, setText } from "../shared/dom.js";
import { isOpen } from "../shared/hours.js";

const FIRST_SERVICES = ["pickup", "delivery", "table"];
const MINUTE = 60_000;

export class Times {
    #parts;
    #choose;
    #changed;
    #place = null;
    #service = null;
    // The time of the cart, null for none; undefined before it was drawn.
    #wanted;
    #day = "";
    // The times of the day, null while they are being read, and what was asked for them.
    #slots = null;
    #asked = "";

    /// `parts` has the fields. `choose(time)` is called with what was chosen, null for as soon as possible, and
    /// `changed()` when there is something else to choose from.
    constructor(parts, { choose, changed }) {
        this.#parts = parts;
        this.#choose = choose;
        this.#changed = changed;
        parts.day.onchange = () => {
            this.#day = parts.day.value;
            if (this.#day === "" && this.#wanted) choose(null);
            else changed();
        };
        parts.slot.onchange = () => parts.slot.value && choose(parts.slot.value);
        parts.time.onchange = () => parts.time.value && choose(momentIn(this.#place.timeZone, this.#day, parts.time.value));
    }

    /// Forgets a day without a time.
    reset() {
        this.#wanted = undefined;
        this.#asked = "";
    }

    /// Draws the fields for a place, which is null while nobody knows, a way to have the order, and the time of the cart.
    draw(place, service, wanted = null) {
        this.#place = place;
        this.#service = service;
        const { times, day, slotField, slot, timeField, time, none } = this.#parts;
        setHidden(times, !this.#isShown);
        if (!this.#isShown) return;
        const zone = place.timeZone;
        if (wanted !== this.#wanted) {
            this.#wanted = wanted;
            this.#day = wanted === null ? "" : dayIn(zone, wanted);
        }
        drawChoices(day, [
            ["", isOpen(place) ? "As soon as possible" : "Choose a day"],
            ...daysFrom(zone, place.orderAheadDays + 1).map((each) => [each, capital(dayName(each, zone))]),
        ], this.#day);
        const hasSlots = place.slots !== undefined;
        setHidden(slotField, this.#day === "" || !hasSlots);
        setHidden(timeField, this.#day === "" || hasSlots);
        if (this.#day !== "" && hasSlots) this.#read();
        const isHere = wanted !== null && dayIn(zone, wanted) === this.#day;
        const slots = this.#slots ?? [];
        const same = isHere && (slots.find(({ at }) => Date.parse(at) === Date.parse(wanted))?.at ?? wanted);
        const known = isHere && !slots.some(({ at }) => at === same) ? [{ at: same }, ...slots] : slots;
        drawChoices(slot, [
            ["", this.#slots === null ? "…" : "Choose a time"],
            ...known.map(({ at, left }) => [at, `${hourIn(zone, at)}${left === 0 ? ", full" : ""}`, left === 0]),
        ], same || "");
        // Whoever is typing goes on.
        if (time !== document.activeElement) time.value = isHere ? hourIn(zone, wanted) : "";
        setText(none, this.#day !== "" && hasSlots && this.#slots?.every(({ left }) => left === 0) ? "There is no time left on this day." : "");
    }

    /// What is still to be chosen, as a sentence, or an empty text.
    get missing() {
        if (!this.#isShown) return "";
        const isChosen = this.#wanted ? dayIn(this.#place.timeZone, this.#wanted) === this.#day : this.#day === "" && isOpen(this.#place);
        const isFull = (this.#slots ?? []).some(({ at, left }) => left === 0 && Date.parse(at) === Date.parse(this.#wanted));
        if (isChosen && this.#day !== "" && isFull) return "This time is full now: choose another one.";
        return isChosen ? "" : `Choose a time for your order.${isOpen(this.#place) ? "" : " The place is closed now."}`;
    }

    get #isShown() {
        return Boolean(this.#place?.orderAheadDays);
    }

    async #read() {
        const asked = [this.#place.id, this.#service, this.#day].join(" ");
        if (this.#asked === asked) return;
        this.#asked = asked;
        this.#slots = null;
        const slots = await slotsOf(this.#place, this.#day, this.#service).catch(() => []);
        if (this.#asked !== asked) return;
        this.#slots = slots;
        this.#changed();
    }
}

async function slotsOf({ id }, date, service = null) {
    const query = new URLSearchParams({ date, ...(service ? { service } : {}) });
    return (await get(`/v1/outlets/${encodeURIComponent(id)}/slots?${query}`)).slots;
}

function prepTime({ services, prepMinutes }) {
    const first = FIRST_SERVICES.find((name) => services?.[name]);
    return (services?.[first]?.prepMinutes ?? prepMinutes ?? 0) * MINUTE;
}

/// The first time for which a place that is closed or paused takes orders, as `{time, until}`: `until` is how long it can
/// be chosen. Null where it takes none.
export async function firstTime(place) {
    const from = place.opensAt ?? place.pausedUntil;
    if (!place.orderAheadDays || !from || isOpen(place)) return null;
    const soonest = Math.max(Date.parse(from), now() + prepTime(place));
    const days = daysFrom(place.timeZone, place.orderAheadDays + 1).filter((day) => day >= dayIn(place.timeZone, soonest));
    let time;
    if (!place.slots) time = days.length > 0 ? new Date(Math.ceil(soonest / (5 * MINUTE)) * 5 * MINUTE).toISOString() : undefined;
    else for (const day of days) if ((time = (await slotsOf(place, day)).find(({ left }) => left !== 0)?.at)) break;
    return time === undefined ? null : { time, until: new Date(Date.parse(time) - prepTime(place)).toISOString() };
}

function drawChoices(select, choices, value) {
    const said = JSON.stringify(choices);
    if (select.dataset.said !== said) {
        select.dataset.said = said;
        select.replaceChildren(...choices.map(([key, text, isFull = false]) => {
            const option = new Option(text, key);
            option.disabled = isFull;
            return option;
        }));
    }
    select.value = value;
}

function capital(text) {
    return text[0].toUpperCase() + text.slice(1);
}
