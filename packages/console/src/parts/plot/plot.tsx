/** Lines over time, and a table that says the same to a screen reader. */
import { PlotCanvas, type PlotCanvasProps } from './plot-canvas.tsx';

export const Plot = (props: PlotCanvasProps) => {
  const { labels, lines, title, forms } = props;
  const cellOf = (value: number | null | undefined): string => (value == null ? '' : forms.decimal(value));
  return (
    <figure class="plot">
      <PlotCanvas {...props} />
      {/* A table is never lower than its rows: what hides it is around it. */}
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
