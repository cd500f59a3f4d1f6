// Amounts are whole numbers of minor units. Intl knows how a currency is written, but its decimals follow local
// custom: it writes Pakistani rupees without paise. So they are those of the server, which are those of ISO 4217.

const UNUSUAL_DECIMALS = {
    BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0,
    UGX: 0, UYI: 0, VND: 0, VUV: 0, XAF: 0, XOF: 0, XPF: 0,
    BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3,
    CLF: 4, UYW: 4,
};

const formats = new Map();

export function decimals(currency) {
    return UNUSUAL_DECIMALS[currency] ?? 2;
}

/// The amount in major units, as a plain decimal number: 1650 GBP is "16.50".
export function major(minor, currency) {
    const digits = decimals(currency);
    if (digits === 0) return String(minor);
    const text = String(Math.abs(minor)).padStart(digits + 1, "0");
    return `${minor < 0 ? "-" : ""}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/// The amount for people, such as £16.50.
export function money(minor, currency) {
    let format = formats.get(currency);
    if (!format) {
        const digits = decimals(currency);
        format = new Intl.NumberFormat(undefined, {
            style: "currency", currency, minimumFractionDigits: digits, maximumFractionDigits: digits,
        });
        formats.set(currency, format);
    }
    // A decimal text keeps every digit; a number of major units would not.
    return format.format(major(minor, currency));
}
