/** A line chart with an equivalent table for screen readers. */
import { PlotCanvas, type PlotCanvasProps } from './plot-canvas.tsx';

export const Plot = (props: PlotCanvasProps) => {
  const { labels, lines, title, forms } = props;
  const cellOf = (value: number | null | undefined): string => (value == null ? '' : forms.decimal(value));
  return (
    <figure class="plot">
      <PlotCanvas {...props} />
      {/* A table can't be clipped below the height of its rows, so the hidden element is a wrapper. */}
      <div class="unseen">
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
                  <td key={line}>{cellOf(values[index])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
};
