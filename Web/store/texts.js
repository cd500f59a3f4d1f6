/// The server's texts begin like parts of a sentence.
export function sentence(text) {
    return text === "" ? "" : `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

export function plural(count, one, many) {
    return `${new Intl.NumberFormat().format(count)} ${count === 1 ? one : many}`;
}
