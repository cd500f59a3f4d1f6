/// What stands in a line of INFO, `name=value,name=value`, as an object.
export function parts(text) {
    return Object.fromEntries((text ?? "").split(",").filter(Boolean).map((part) => part.split("=")));
}
