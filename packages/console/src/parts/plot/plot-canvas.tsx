/** A plot on a canvas. Hovering or the arrow keys show the values of an interval. */
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { download } from '../csv.ts';
import { draw, intervalAt, type Line, type Lines } from './draw.ts';

interface PlotCanvasProps extends Lines {
  readonly title: string;
  /** The start of each interval, in words. */
  readonly labels: readonly string[];
}

/** The notes of an interval in the readout; the list below the plot has all of them. */
const maxShownNotes = 3;

export const PlotCanvas = ({ title, labels, ...drawn }: PlotCanvasProps) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const [, drawAgain] = useReducer((count: number) => count + 1, 0);
  // Clamped, because the range may have become shorter.
  const marked = hovered === null ? null : Math.min(hovered, labels.length - 1);

  useEffect(() => {
    if (canvas.current) draw(canvas.current, drawn, marked);
  });
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const observer = new ResizeObserver(() => drawAgain(undefined));
    scheme.addEventListener('change', drawAgain);
    observer.observe(canvas.current as HTMLCanvasElement);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', drawAgain);
    };
  }, []);

  const point = ({ offsetX, currentTarget }: PointerEvent): void =>
    setHovered(intervalAt(offsetX, labels.length, (currentTarget as HTMLElement).clientWidth));
  const moves: Readonly<Record<string, number>> = {
    ArrowLeft: (marked ?? labels.length) - 1,
    ArrowRight: (marked ?? -1) + 1,
    Home: 0,
    End: labels.length - 1,
  };
  const move = (event: KeyboardEvent): void => {
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setHovered(Math.min(Math.max(to, 0), labels.length - 1));
  };
  const save = (): void => canvas.current?.toBlob((image) => image && download(`${title}.png`, image));

  const wordsFor = ({ label, labels: own, values: all }: Line): string => {
    const when = own?.[marked ?? 0];
    return `${label}${when === undefined ? '' : ` (${when})`} ${drawn.forms.short(all[marked ?? 0] ?? 0)}`;
  };
  // The comparison is drawn first, but listed last.
  const values = drawn.lines
    .toSorted((a, b) => Number(a.isEarlier ?? false) - Number(b.isEarlier ?? false))
    .map(wordsFor);
  const readout =
    marked === null
      ? ''
      : [labels[marked], ...values, ...(drawn.notes[marked] ?? []).slice(0, maxShownNotes)].join(' · ');
  return (
    <>
      <div class="plot-head">
        <output class="plot-readout" aria-hidden="true">
          {readout}
        </output>
        <button type="button" class="quiet save" onClick={save}>
          PNG
        </button>
      </div>
      <canvas
        ref={canvas}
        role="slider"
        tabIndex={0}
        aria-label={title}
        aria-valuemin={0}
        aria-valuemax={labels.length - 1}
        aria-valuenow={marked ?? labels.length - 1}
        aria-valuetext={readout}
        onPointerMove={point}
        onPointerLeave={() => setHovered(null)}
        onKeyDown={move}
        onBlur={() => setHovered(null)}
      />
    </>
  );
};
