// A plot of the last minutes: one value a second, and in each column of pixels the least and the greatest of its values,
// so that no peak is lost.

const MOST_POINTS = 3600;

export class Plot {
    #canvas;
    #points = [];

    constructor(canvas) {
        this.#canvas = canvas;
    }

    push(value) {
        this.#points.push(value);
        if (this.#points.length > MOST_POINTS) this.#points.shift();
    }

    draw() {
        const canvas = this.#canvas;
        const ratio = devicePixelRatio;
        const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
        if (canvas.width !== width || canvas.height !== height) {
            canvas.width = width;
            canvas.height = height;
        }
        const context = canvas.getContext("2d");
        context.clearRect(0, 0, width, height);
        context.fillStyle = getComputedStyle(canvas).color;
        const most = Math.max(...this.#points, 1e-9);
        const perColumn = Math.max(this.#points.length, 120) / width;
        const line = Math.max(1, Math.round(1.5 * ratio));
        const y = (value) => (height - line) * (1 - value / most);
        let last = null;
        for (let column = 0; column < width; column++) {
            const from = Math.floor(column * perColumn);
            const values = this.#points.slice(from, Math.max(from + 1, Math.floor((column + 1) * perColumn)));
            if (values.length === 0) break;
            // Columns are joined, so that there are no gaps.
            const joined = last === null ? values : [...values, last];
            const [low, high] = [Math.min(...joined), Math.max(...joined)];
            last = values.at(-1);
            context.fillRect(column, y(high), 1, y(low) - y(high) + line);
        }
    }
}
