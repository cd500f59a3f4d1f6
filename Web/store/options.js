// What can be chosen with an item: the rules, and the groups in its sheet. The server decides; this is so that nobody
// taps what would be refused, and everybody sees the price before.

import { alarm, clockTime, isPast } from "../shared/clock.js";
import { clone, isUsable, refs, setAttribute, setHidden, setText, setUsable } from "../shared/dom.js";
import { money } from "../shared/money.js";
import { reconcile } from "../shared/reconcile.js";

// The most different options of a line.
const MOST_OPTIONS = 20;

/// Whether an item or an option can be had, as far as the time is concerned, too.
export function isAvailable({ available, availableFrom }) {
    return available || isPast(availableFrom);
}

/// The text that stands for chosen options, `[{id, units}]`, in a request: `cheese*2,large`. The same options make the
/// same text, in whatever order they were tapped.
export function optionsText(chosen) {
    return chosen.map(({ id, units }) => (units > 1 ? `${id}*${units}` : id)).sort().join(",");
}

/// What is chosen of an item, as `ITEM.GET` answers it.
export class Choice {
    #item;
    #units = new Map();
    // Groups whose defaults were chosen: the customer may have changed them since.
    #begun = new Set();
    #chosen;

    /// `chosen` are the options of a line, `[{id, name, units}]`; without them, the defaults are chosen.
    constructor(chosen = null) {
        this.#chosen = chosen;
    }

    /// Takes the item, or what has become of it. What can no longer be chosen is taken out: answers the names of that.
    take(item) {
        const before = this.#item ? this.priced.options : this.#chosen ?? [];
        const isFirst = !this.#item;
        this.#item = item;
        if (isFirst && this.#chosen) {
            for (const { id, units } of this.#chosen) this.#units.set(id, units);
            for (const { group } of this.open) this.#begun.add(group.id);
        }
        const known = new Set((item.groups ?? []).flatMap(({ options }) => options.map(({ id }) => id)));
        for (const id of this.#units.keys()) if (!known.has(id)) this.#units.delete(id);
        this.#settle();
        const now = new Map(this.priced.options.map(({ id, units }) => [id, units]));
        return before.filter(({ id, units }) => (now.get(id) ?? 0) < units).map(({ name }) => name);
    }

    /// The groups that are to be chosen from, each once, as `{group, depth}`: behind each those that its options open.
    get open() {
        const groups = new Map((this.#item.groups ?? []).map((group) => [group.id, group]));
        const open = [];
        const visit = (ids, depth) => {
            for (const id of ids) {
                const group = groups.get(id);
                if (!group || open.some((other) => other.group === group)) continue;
                open.push({ group, depth });
                for (const option of group.options) {
                    if (this.unitsOf(option) > 0) visit(option.groups ?? [], depth + 1);
                }
            }
        };
        visit(this.#item.options ?? [], 0);
        return open;
    }

    unitsOf({ id }) {
        return this.#units.get(id) ?? 0;
    }

    unitsIn(group) {
        return group.options.reduce((sum, option) => sum + this.unitsOf(option), 0);
    }

    /// Whether one more unit of the option can be chosen.
    hasRoom(option, group) {
        return isAvailable(option) && this.unitsOf(option) < mostOf(option, group)
            && (isOneOf(group) || this.unitsIn(group) < group.max);
    }

    /// Chooses that many units, if that is allowed.
    set(option, group, units) {
        if (units > this.unitsOf(option) && !this.hasRoom(option, group)) return;
        if (isOneOf(group)) for (const other of group.options) this.#units.delete(other.id);
        this.#put(option, Math.max(units, 0));
        this.#settle();
    }

    /// What one costs, and what of it costs nothing, as `{price, isFrom, options: [{id, name, units, price, free}]}`.
    /// Without a size the price is the lowest of them.
    get priced() {
        const open = this.open.map(({ group }) => group);
        const size = open.filter(({ setsPrice }) => setsPrice).flatMap(({ options }) => options)
            .find((option) => this.unitsOf(option) > 0);
        const isFrom = !size && this.#item.from === true;
        const options = [];
        let price = size?.price ?? this.#item.price;
        for (const group of open) {
            let free = group.free ?? 0;
            const chosen = group.options.filter((option) => this.unitsOf(option) > 0)
                .map((option) => ({ ...option, price: priceOf(option, size) }))
                .sort((a, b) => a.price - b.price || (a.id < b.id ? -1 : 1));
            for (const option of chosen) {
                const units = this.unitsOf(option);
                const freeUnits = Math.min(free, units);
                free -= freeUnits;
                if (!group.setsPrice) price += (units - freeUnits) * option.price;
                options.push({ id: option.id, name: option.name, units, price: option.price, free: freeUnits });
            }
        }
        return { price, isFrom, options: options.sort((a, b) => (a.id < b.id ? -1 : 1)) };
    }

    /// What one unit of the option costs with the size that is chosen.
    priceOf(option) {
        const sizes = this.open.flatMap(({ group }) => (group.setsPrice ? group.options : []));
        return priceOf(option, sizes.find((size) => this.unitsOf(size) > 0));
    }

    /// A sentence that says what is still to be chosen, or an empty text.
    get missing() {
        const short = this.open.map(({ group }) => group).find((group) => this.unitsIn(group) < group.min);
        if (short) {
            const units = this.unitsIn(short);
            return `Choose ${short.min - units}${units > 0 ? " more" : ""}: ${short.title}.`;
        }
        return this.priced.options.length > MOST_OPTIONS ? `Choose at most ${MOST_OPTIONS} different options.` : "";
    }

    /// When the next option comes back by itself, or null.
    get nextTime() {
        const times = (this.#item.groups ?? []).flatMap(({ options }) => options)
            .filter((option) => !isAvailable(option) && option.availableFrom).map(({ availableFrom }) => availableFrom);
        return times.reduce((a, b) => (a !== null && Date.parse(a) < Date.parse(b) ? a : b), null);
    }

    #put(option, units) {
        if (units > 0) this.#units.set(option.id, units);
        else this.#units.delete(option.id);
    }

    // Chooses the defaults of the groups that have opened, which can open others, and takes out what cannot be had.
    #settle() {
        for (let next; (next = this.open.find(({ group }) => !this.#begun.has(group.id)));) {
            const { group } = next;
            this.#begun.add(group.id);
            for (const option of group.options) {
                for (let units = 0; units < (option.default ?? 0) && this.unitsIn(group) < group.max; units++) {
                    if (this.hasRoom(option, group)) this.#put(option, this.unitsOf(option) + 1);
                }
            }
        }
        for (const { group } of this.open) {
            let room = group.max;
            for (const option of group.options) {
                const units = isAvailable(option) ? Math.min(this.unitsOf(option), mostOf(option, group), room) : 0;
                this.#put(option, units);
                room -= units;
            }
        }
    }
}

function priceOf(option, size) {
    return option.prices?.[size?.id] ?? option.price;
}

function isOneOf({ min, max }) {
    return min === 1 && max === 1;
}

function mostOf(option, group) {
    return Math.min(option.max ?? 1, group.max);
}

/// The groups of an item in its sheet.
export class OptionGroups {
    #parent;
    #changed;
    #choice;
    #isThere = false;

    /// `changed()` is called when something else is chosen, or can be; `chosen` are the options of a line.
    constructor(parent, changed, chosen) {
        this.#parent = parent;
        this.#changed = changed;
        this.#choice = new Choice(chosen);
        parent.onclick = (event) => this.#click(event);
        parent.onchange = (event) => this.#change(event.target);
    }

    /// Takes the item, or what has become of it. Answers the names of what had to be taken out.
    take(item) {
        const lost = this.#choice.take(item);
        this.#isThere = true;
        this.#await();
        return lost;
    }

    /// What is chosen; null before the item was read.
    get choice() {
        return this.#isThere ? this.#choice : null;
    }

    /// Stops following the time.
    close() {
        alarm("options", null);
    }

    draw(currency) {
        const open = this.#choice.open;
        setHidden(this.#parent, open.length === 0);
        reconcile(this.#parent, open, {
            id: ({ group }) => group.id,
            make: () => clone("option-group"),
            fill: (node, { group, depth }) => this.#fillGroup(node, group, depth, currency),
        });
    }

    #fillGroup(node, group, depth, currency) {
        const { title, hint, options } = refs(node);
        setAttribute(node, "data-group", group.id);
        node.style.setProperty("--depth", depth);
        setText(title, group.title);
        setText(hint, hintOf(group));
        const entries = group.options.map((option) => ({ option, kind: kindOf(option, group) }));
        reconcile(options, entries, {
            id: ({ option, kind }) => `${kind} ${option.id}`,
            make: ({ kind }) => clone(`option-${kind}`),
            fill: (row, { option, kind }) => this.#fillOption(row, option, kind, group, currency),
        });
    }

    #fillOption(row, option, kind, group, currency) {
        const { name, price, state, input, less, more, quantity } = refs(row);
        const isThere = isAvailable(option);
        const units = this.#choice.unitsOf(option);
        const amount = this.#choice.priceOf(option);
        setAttribute(row, "data-option", option.id);
        setAttribute(row, "data-away", isThere ? null : "");
        setText(name, option.name);
        setText(price, group.setsPrice ? money(amount, currency) : amount > 0 ? `+ ${money(amount, currency)}` : "");
        setText(state, isThere ? ""
            : option.availableFrom ? `Sold out until ${clockTime(option.availableFrom)}` : "Sold out");
        if (kind === "stepper") {
            setText(quantity, String(units));
            setAttribute(less, "aria-label", `One ${option.name} less`);
            setAttribute(more, "aria-label", `One ${option.name} more`);
            setUsable(less, units > 0);
            setUsable(more, this.#choice.hasRoom(option, group));
        } else {
            if (kind === "radio") setAttribute(input, "name", `group-${group.id}`);
            if (input.checked !== units > 0) input.checked = units > 0;
            setUsable(input, units > 0 || this.#choice.hasRoom(option, group));
        }
    }

    #click(event) {
        const control = event.target.closest("input, button");
        if (!control) return;
        // It keeps the focus, and stays as it is.
        if (!isUsable(control)) event.preventDefault();
        else if (control.dataset.focus === "less") this.#set(control, (units) => units - 1);
        else if (control.dataset.focus === "more") this.#set(control, (units) => units + 1);
    }

    #change(input) {
        this.#set(input, () => (input.checked ? 1 : 0));
    }

    #set(control, units) {
        const groupID = control.closest("[data-group]").dataset.group;
        const optionID = control.closest("[data-option]").dataset.option;
        const group = this.#choice.open.map(({ group }) => group).find(({ id }) => id === groupID);
        const option = group?.options.find(({ id }) => id === optionID);
        if (!option) return;
        this.#choice.set(option, group, units(this.#choice.unitsOf(option)));
        this.#changed();
    }

    // An option that comes back by itself can be chosen from then on.
    #await() {
        alarm("options", this.#choice.nextTime, () => {
            this.#changed();
            this.#await();
        });
    }
}

function kindOf(option, group) {
    if (isOneOf(group)) return "radio";
    return mostOf(option, group) > 1 ? "stepper" : "checkbox";
}

function hintOf({ min, max, free }) {
    const units = min === max ? `Choose ${min}` : min > 0 ? `Choose ${min} to ${max}` : `Up to ${max}`;
    return free ? `${units}, ${free} free` : units;
}
