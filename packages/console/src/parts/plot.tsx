/**
 * Lines over time. The library that draws them is loaded with the first plot. A table says the same to a screen reader, and to everybody
 * if the library does not run.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { formatShort } from '../reading/format.ts';
import { download } from './csv.ts';

export interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Drawn fainter: what the other line is compared with. */
  readonly isEarlier?: boolean;
}

interface PlotProps {
  /** The beginning of each interval, in words, and in short for the axis. */
  readonly labels: readonly string[];
  readonly ticks: readonly string[];
  readonly lines: readonly Line[];
  readonly title: string;
  /** The last interval is not over yet: the way to it is dashed. */
  readonly isOpen?: boolean;
}

const height = 260;
const loadPlot = () => import('uplot').then(({ default: plot }) => plot);

/** The values of the lines. With an open last interval the way to it is a line of its own. */
const dataOf = ({ labels, lines, isOpen }: PlotProps): uPlot.AlignedData => {
  const places = labels.map((_, index) => index);
  const values = lines.map((line) => [...line.values]);
  const last = places.length - 1;
  const current = values.at(-1);
  if (!isOpen || current === undefined || last < 1) return [places, ...values] as uPlot.AlignedData;
  const [done, open] = [current.with(last, null), current.map((value, index) => (index < last - 1 ? null : value))];
  return [places, ...values.slice(0, -1), done, open] as uPlot.AlignedData;
};

const colorOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const optionsFor = (
  { labels, ticks, lines, isOpen }: PlotProps,
  width: number,
  tell: (index: number | null) => void,
): uPlot.Options => {
  const [ink, line, leaf] = ['--soft', '--line', '--leaf'].map(colorOf) as [string, string, string];
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: ink, font, ticks: { show: false }, grid: { stroke: line, width: 1 } };
  const isSingle = labels.length === 1;
  return {
    width,
    height,
    scales: { x: { time: false }, y: { range: (_, _low, high) => [0, Math.max(high ?? 0, 1) * 1.08] } },
    legend: { show: false },
    cursor: { y: false, points: { size: 8 }, drag: { x: false, y: false } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        space: 80,
        incrs: [1, 2, 3, 5, 7, 10, 14, 21, 30, 60, 90, 180],
        values: (_, places) => places.map((place) => ticks[place] ?? ''),
      },
      {
        ...axis,
        size: 52,
        space: 48,
        values: (_, values) => values.map((value) => (Number.isInteger(value) || value > 10 ? formatShort(value) : '')),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, isEarlier }) => ({
        label,
        stroke: isEarlier ? ink : leaf,
        width: isEarlier ? 1.5 : 2,
        ...(isEarlier ? { dash: [4, 4] } : { fill: `${leaf}1f` }),
        points: { show: isSingle },
      })),
      ...(isOpen ? [{ stroke: leaf, width: 2, dash: [4, 4], fill: `${leaf}1f`, points: { show: false } }] : []),
    ],
    hooks: { setCursor: [({ cursor }) => tell(cursor.idx ?? null)] },
  };
};

export const Plot = (props: PlotProps) => {
  const { labels, lines, title } = props;
  const place = useRef<HTMLDivElement>(null);
  const told = useRef<HTMLOutputElement>(null);
  const drawn = useRef<uPlot | undefined>(undefined);
  const [isFailed, setFailed] = useState(false);

  useEffect(() => {
    let isGone = false;
    let stop = () => {};
    const tell = (index: number | null): void => {
      const output = told.current;
      if (!output) return;
      const values = lines.map(({ label, values: all }) => `${label} ${formatShort(all[index ?? 0] ?? 0)}`);
      output.textContent = index === null ? '' : `${labels[index] ?? ''} · ${values.join(' · ')}`;
    };
    const drawAll = (Drawing: typeof uPlot) => {
      const element = place.current;
      if (isGone || !element) return;
      const draw = () => {
        drawn.current?.destroy();
        drawn.current = new Drawing(optionsFor(props, element.clientWidth, tell), dataOf(props), element);
      };
      draw();
      const scheme = matchMedia('(prefers-color-scheme: dark)');
      scheme.addEventListener('change', draw);
      const observer = new ResizeObserver(() => drawn.current?.setSize({ width: element.clientWidth, height }));
      observer.observe(element);
      stop = () => {
        observer.disconnect();
        scheme.removeEventListener('change', draw);
      };
    };
    // uPlot fails where the browser's language is no language, as in WebKitGTK in the locale `C`.
    loadPlot()
      .then(drawAll)
      .catch(() => setFailed(true));
    return () => {
      isGone = true;
      stop();
      drawn.current?.destroy();
      drawn.current = undefined;
    };
  }, [JSON.stringify(props)]);

  const save = () => drawn.current?.ctx.canvas.toBlob((image) => image && download(`${title}.png`, image));
  return (
    <figure class="plot">
      <div class="plot-head">
        <output ref={told} class="plot-told" aria-hidden="true" />
        <button type="button" class="quiet" onClick={save}>
          PNG
        </button>
      </div>
      <div ref={place} class="plot-place" aria-hidden="true" />
      {/* A table is never lower than its rows: what hides it is around it. */}
      <div class={isFailed ? undefined : 'unseen'}>
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {lines.map(({ label }) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {labels.map((label, index) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                {lines.map(({ label: line, values }) => (
                  <td key={line}>{values[index]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
};
