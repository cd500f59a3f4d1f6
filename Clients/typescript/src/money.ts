/// Where there are not two decimals, by ISO 4217. Those of Intl follow local custom.
const unusualDecimals: Record<string, number> = {
    BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0, UGX: 0, UYI: 0, VND: 0, VUV: 0,
    XAF: 0, XOF: 0, XPF: 0, BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3, CLF: 4, UYW: 4,
};

/** Minor units, such as pence, of a currency. Amounts of two currencies are never mixed: that is a RangeError. */
export class Money {
    constructor(readonly minor: number, readonly currency: string) {
        if (!Number.isSafeInteger(minor)) throw new RangeError(`${minor} is no whole number of minor units`);
    }

    plus(other: Money): Money {
        return new Money(this.minor + this.same(other), this.currency);
    }

    minus(other: Money): Money {
        return new Money(this.minor - this.same(other), this.currency);
    }

    times(count: number): Money {
        return new Money(this.minor * count, this.currency);
    }

    /** Below 0 if this is less than the other, 0 if it is the same, and above 0 if it is more. */
    compare(other: Money): number {
        return this.minor - this.same(other);
    }

    /** The amount in major units, as a plain decimal number: `16.50`. */
    get major(): string {
        const decimals = this.decimals;
        const digits = String(Math.abs(this.minor)).padStart(decimals + 1, "0");
        const sign = this.minor < 0 ? "-" : "";
        return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
    }

    /** The amount as people write it in a place, such as `£16.50`. */
    format(locales?: string | string[]): string {
        const decimals = this.decimals;
        const format = new Intl.NumberFormat(locales, {
            style: "currency", currency: this.currency, minimumFractionDigits: decimals,
            maximumFractionDigits: decimals,
        });
        // A decimal text keeps every digit, and its type does not know that yet.
        return format.format(this.major as unknown as number);
    }

    toString(): string {
        return `${this.major} ${this.currency}`;
    }

    private get decimals(): number {
        return unusualDecimals[this.currency] ?? 2;
    }

    private same(other: Money): number {
        if (other.currency === this.currency) return other.minor;
        throw new RangeError(`${this.currency} and ${other.currency} cannot be mixed`);
    }
}
