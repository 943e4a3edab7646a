/** The triangle of a retention: a row for each cohort, a column for each period after it, shaded by share. */
import type { AnswerFor } from '@firsthand/client';
import { formatShare, formatTime, formatWhole } from '../../reading/format.ts';
import { NumberLink } from './who.tsx';

type Cohort = AnswerFor<'reportRetention'>['cohort'][number];

export const cohortName = (from: string, interval: 'day' | 'week' | 'month'): string =>
  formatTime(from, interval === 'month' ? 'month' : 'day');

const capitalized = (interval: string) => interval.replace(/^./, (letter) => letter.toUpperCase());

/** The head of a column: `Same week`, `Week 1`. */
export const laterHead = (later: number, interval: string): string =>
  later === 0 ? `Same ${interval}` : `${capitalized(interval)} ${later}`;

interface TriangleProps {
  readonly cohorts: readonly Cohort[];
  readonly interval: 'day' | 'week' | 'month';
  /** Whether the range has only a part of the interval of each cohort. */
  readonly isPartial: readonly boolean[];
}

export const Triangle = ({ cohorts, interval, isPartial }: TriangleProps) => {
  const most = Math.max(...cohorts.map(({ back }) => back.length));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll what has the focus.
    <section class="triangle" tabIndex={0} aria-label="Retention, scrollable">
      <table>
        <caption class="unseen">Share of each cohort that came back, by {interval}</caption>
        <thead>
          <tr>
            <th scope="col">{capitalized(interval)} from</th>
            <th scope="col">People</th>
            {Array.from({ length: most }, (_, later) => (
              <th key={later} scope="col">
                {laterHead(later, interval)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cohorts.map(({ from, people, back }, index) => {
            const cohort = cohortName(from, interval);
            return (
              <tr key={from}>
                <th scope="row">
                  {cohort}
                  {isPartial[index] && <small> part</small>}
                </th>
                <td>
                  <NumberLink count={people} chosen={{ cohort: index + 1 }} label={`${cohort}, first event`} />
                </td>
                {back.map((count, later) => {
                  const share = people === 0 ? 0 : count / people;
                  const isPart = isPartial[index] || isPartial[index + later];
                  return (
                    <td
                      key={later}
                      class={isPart ? 'triangle-share triangle-part' : 'triangle-share'}
                      style={{ '--share': share }}
                      title={formatWhole(count)}
                    >
                      {people > 0 && (
                        <NumberLink
                          count={count}
                          chosen={{ cohort: index + 1, later }}
                          label={`${formatWhole(count)} of ${cohort}, ${interval} ${later}`}
                          text={formatShare(share)}
                        />
                      )}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
};
