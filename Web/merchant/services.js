// What an outlet's orders cost beside their items, and the ways to have them.

import { h } from "../shared/build.js";
import { setHidden } from "../shared/dom.js";
import { major } from "../shared/money.js";
import { SERVICES } from "../shared/order.js";
import { check, input, labelled, minor, select } from "./parts.js";
import { weekEditor } from "./week.js";

const REQUIREMENTS = { name: "Name", phone: "Phone", address: "Address", table: "Table" };
const FEES = { smallOrder: "Fee of a small order", delivery: "Fee of delivery" };

/// A field for an amount, which may be empty.
export function amountField(value, currency) {
    return input({ inputmode: "decimal", value: value === undefined ? "" : major(value, currency) });
}

/// The amount that was written, in minor units, or undefined for nothing. What is wrong is added to the problems.
export function readAmount(field, currency, label, problems) {
    if (field.value.trim() === "") return undefined;
    try {
        return minor(field.value, currency, label);
    } catch (error) {
        problems.push(error.message);
        return undefined;
    }
}

/// A field for a rate in percent, from one in thousandths.
export function percentField(rate) {
    return input({ inputmode: "decimal", value: rate === undefined ? "" : String(rate / 1000) });
}

/// The rate that was written, in thousandths of a percent, or undefined for nothing.
export function readPercent(field, label, problems) {
    const text = field.value.trim().replace(",", ".");
    if (text === "") return undefined;
    const rate = Math.round(Number(text) * 1000);
    if (/^\d{1,3}(\.\d{1,3})?$/.test(text) && rate <= 100_000) return rate;
    problems.push(`${label}: write a percentage like 12.5.`);
    return undefined;
}

/// A whole number that was written, or undefined for nothing.
export function whole(text, label, least, most, problems) {
    if (text.trim() === "") return undefined;
    const number = Number(text.trim());
    if (/^\d{1,6}$/.test(text.trim()) && number >= least && number <= most) return number;
    problems.push(`${label}: write a whole number from ${least} to ${most}.`);
    return undefined;
}

/// Fields for charges; what is read are those that were written.
export function chargesFields(title, charges, { currency, taxes = [] }) {
    const taxOf = (tax) => select([["", "None"], ...taxes.map(({ id, name }) => [id, name])], tax ?? "");
    const percent = percentField(charges?.service?.rate);
    const percentTax = taxOf(charges?.service?.tax);
    const fees = Object.entries(FEES).map(([key, label]) => {
        const known = charges?.[key];
        return { key, label, fee: amountField(known?.fee, currency), freeFrom: amountField(known?.freeFrom, currency), tax: taxOf(known?.tax) };
    });
    const taxed = (tax) => (tax.value === "" ? {} : { tax: tax.value });

    function read(problems) {
        const result = {};
        const rate = readPercent(percent, `${title}: service`, problems);
        if (rate !== undefined) result.service = { rate, ...taxed(percentTax) };
        for (const { key, label, fee, freeFrom, tax } of fees) {
            const [costs, free] = [[fee, label], [freeFrom, `${label}: free from`]]
                .map(([field, name]) => readAmount(field, currency, `${title}: ${name}`, problems));
            if (costs !== undefined) result[key] = { fee: costs, ...(free === undefined ? {} : { freeFrom: free }), ...taxed(tax) };
            else if (free !== undefined) problems.push(`${title}: ${label}: it needs its fee.`);
        }
        return result;
    }

    const node = h("div", { class: "fields" },
        labelled("Service in percent", percent), labelled("Tax on service", percentTax),
        fees.flatMap(({ label, fee, freeFrom, tax }) => [
            labelled(label, fee), labelled(`${label}: free from`, freeFrom), labelled(`${label}: tax`, tax)]));
    return { node, read };
}

/// The fields of a way to have orders; what is read is undefined where it is not offered.
export function serviceFields(kind, outlet, changed) {
    const { currency } = outlet;
    const title = SERVICES[kind];
    const service = outlet.services?.[kind] ?? {};
    const offered = check("Offered", outlet.services?.[kind] !== undefined);
    const prep = input({ inputmode: "numeric", value: String(service.prepMinutes ?? "") });
    const minimum = amountField(service.minimumOrder, currency);
    const needs = Object.entries(REQUIREMENTS).filter(([need]) => need !== "table" || kind === "table")
        .map(([need, label]) => ({ need, ...check(label, service.requires?.includes(need) === true) }));
    const own = check("Charges of its own, in place of the outlet’s", service.charges !== undefined);
    const timed = check("Hours of its own, for orders for later", service.hours !== undefined);
    const charges = chargesFields(title, service.charges, outlet);
    const week = weekEditor(`Hours of ${title.toLowerCase()}`, service.hours ?? [], changed);
    const body = h("div", { class: "page" },
        h("div", { class: "fields" }, labelled("Minutes until it is ready", prep), labelled("Least order", minimum)),
        h("fieldset", {}, h("legend", {}, "What an order needs"), needs.map(({ node }) => node)),
        own.node, charges.node, timed.node, week.node);

    function read(problems) {
        setHidden(body, !offered.box.checked);
        setHidden(charges.node, !own.box.checked);
        setHidden(week.node, !timed.box.checked);
        if (!offered.box.checked) return undefined;
        const requires = needs.filter(({ box }) => box.checked).map(({ need }) => need);
        const { charges: _, requires: __, hours: ___, ...rest } = service;
        return {
            ...rest, prepMinutes: whole(prep.value, `${title}: minutes`, 0, 1440, problems),
            minimumOrder: readAmount(minimum, currency, `${title}: least order`, problems),
            ...(requires.length > 0 ? { requires } : {}),
            ...(own.box.checked ? { charges: charges.read(problems) } : {}),
            ...(timed.box.checked ? { hours: week.read(problems) } : {}),
        };
    }

    return { node: h("fieldset", {}, h("legend", {}, title), offered.node, body), read };
}
