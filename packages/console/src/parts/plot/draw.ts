/** Draws lines over time on a canvas. */
import { type NumberForms, plainNumbers } from '../../reading/format.ts';
import { timeStep, valueStep } from './ticks.ts';

export interface Line {
  readonly label: string;
  /** One label for each interval, instead of `label`. */
  readonly labels?: readonly string[];
  /** One value for each interval; null if there is none. */
  readonly values: readonly (number | null)[];
  /** Whether this is the comparison line, which is drawn fainter. */
  readonly isEarlier?: boolean;
  /** The CSS custom property with the color, if there are several lines. */
  readonly color?: string;
}

export interface Lines {
  /** The start of each interval, abbreviated, for the axis. */
  readonly ticks: readonly string[];
  readonly lines: readonly Line[];
  /** The notes in each interval. */
  readonly notes: readonly (readonly string[])[];
  /** Whether the last interval is not over yet. The line to it is dashed. */
  readonly isOpen?: boolean;
  readonly forms: NumberForms;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const height = 260;
const left = 52;
const right = 16;
const top = 10;
const bottom = 24;
/** The space for one label on an axis. */
const labelWidth = 80;
const labelHeight = 34;

const placeOf = (index: number, count: number, width: number): number =>
  left + (count < 2 ? 0.5 : index / (count - 1)) * (width - left - right);

/** The interval closest to an x coordinate on the canvas. */
export const intervalAt = (x: number, count: number, width: number): number => {
  const share = (x - left) / (width - left - right);
  return Math.min(Math.max(Math.round(share * (count - 1)), 0), count - 1);
};

/** The segments of a line between gaps. */
const runsOf = (values: Line['values'], toPoint: (value: number, index: number) => Point): Point[][] => {
  const runs: Point[][] = [[]];
  for (const [index, value] of values.entries()) {
    if (value === null) runs.push([]);
    else runs.at(-1)?.push(toPoint(value, index));
  }
  return runs.filter(({ length }) => length > 0);
};

const trace = (context: CanvasRenderingContext2D, points: readonly Point[]): void => {
  context.beginPath();
  for (const { x, y } of points) context.lineTo(x, y);
};

const strokeBetween = (context: CanvasRenderingContext2D, from: Point, to: Point): void => {
  trace(context, [from, to]);
  context.stroke();
};

const dot = (context: CanvasRenderingContext2D, { x, y }: Point): void => {
  context.beginPath();
  context.arc(x, y, 4, 0, 2 * Math.PI);
  context.fill();
};

/** Redraws everything. `marked` is the highlighted interval. */
export const draw = (
  canvas: HTMLCanvasElement,
  { ticks, lines, notes, isOpen, forms }: Lines,
  marked: number | null,
): void => {
  const context = canvas.getContext('2d');
  const width = canvas.clientWidth;
  if (!context || width === 0) return;
  const style = getComputedStyle(canvas);
  const [paper, soft, grid, leaf, amber] = ['--paper', '--soft', '--line', '--leaf', '--amber'].map((name) =>
    style.getPropertyValue(name),
  ) as [string, string, string, string, string];
  canvas.width = width * devicePixelRatio;
  canvas.height = height * devicePixelRatio;
  context.scale(devicePixelRatio, devicePixelRatio);
  context.fillStyle = paper;
  context.fillRect(0, 0, width, height);

  const values = lines.flatMap((line) => line.values.filter((value) => value !== null));
  const low = Math.min(...values, 0);
  const high = Math.max(...values, low + 1);
  const step = valueStep(high - low, (height - top - bottom) / labelHeight, values.every(Number.isInteger));
  const yOf = (value: number): number => height - bottom - ((value - low) / (high - low)) * (height - top - bottom);
  const xOf = (index: number): number => placeOf(index, ticks.length, width);

  context.font = `12px ${style.fontFamily}`;
  context.lineWidth = 1;
  context.strokeStyle = grid;
  context.fillStyle = soft;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  const marks: number[] = [];
  for (let mark = Math.ceil(low / step); mark * step <= high; mark += 1) marks.push(mark * step);
  const isWide = marks.some((value) => context.measureText(forms.short(value)).width > left - 8);
  const { short } = isWide ? plainNumbers : forms;
  for (const value of marks) {
    const y = Math.round(yOf(value)) + 0.5;
    strokeBetween(context, { x: left, y }, { x: width - right, y });
    context.fillText(short(value), left - 8, y);
  }
  context.textAlign = 'center';
  context.textBaseline = 'bottom';
  const each = timeStep(ticks.length, Math.max((width - left - right) / labelWidth, 1));
  for (let index = 0; index < ticks.length; index += each) {
    const label = ticks[index] as string;
    const half = context.measureText(label).width / 2;
    context.fillText(label, Math.min(xOf(index), width - half), height - 2);
  }
  context.strokeStyle = amber;
  context.fillStyle = amber;
  context.setLineDash([2, 3]);
  for (const [index, { length }] of notes.entries()) {
    if (length === 0) continue;
    const x = xOf(index);
    strokeBetween(context, { x, y: top }, { x, y: height - bottom });
    dot(context, { x, y: top });
  }
  context.setLineDash([]);
  if (marked !== null) {
    const x = xOf(marked);
    context.strokeStyle = soft;
    strokeBetween(context, { x, y: top }, { x, y: height - bottom });
  }

  for (const { values, isEarlier, color: named } of lines) {
    const color = isEarlier ? soft : named ? style.getPropertyValue(named) : leaf;
    context.strokeStyle = color;
    context.fillStyle = color;
    context.lineWidth = isEarlier ? 1.5 : 2;
    context.lineJoin = 'round';
    const runs = runsOf(values, (value, index) => ({ x: xOf(index), y: yOf(value) }));
    for (const run of runs) {
      const first = run[0] as Point;
      if (run.length === 1) dot(context, first);
      const isUnfinished = isOpen && !isEarlier && run === runs.at(-1) && values.at(-1) !== null;
      if (!isEarlier && !named) {
        context.globalAlpha = 0.12;
        // No area for an unfinished interval: it would look like a drop.
        const whole = isUnfinished ? run.slice(0, -1) : run;
        trace(context, [{ x: first.x, y: yOf(0) }, ...whole, { x: whole.at(-1)?.x ?? first.x, y: yOf(0) }]);
        context.fill();
        context.globalAlpha = 1;
      }
      context.setLineDash(isEarlier ? [4, 4] : []);
      trace(context, isUnfinished ? run.slice(0, -1) : run);
      context.stroke();
      if (!isUnfinished) continue;
      context.setLineDash([4, 4]);
      context.globalAlpha = 0.6;
      trace(context, run.slice(-2));
      context.stroke();
      context.globalAlpha = 1;
    }
    context.setLineDash([]);
    const value = marked === null ? null : values[marked];
    if (marked !== null && value != null) dot(context, { x: xOf(marked), y: yOf(value) });
  }
};
