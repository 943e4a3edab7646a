/** The cohort table of a retention report: a row for each cohort, a column for each later period, shaded by share. */
import type { ResponseFor } from '@firsthand/client';
import { formatShare, formatTime, formatWhole } from '../../reading/format.ts';
import { NumberLink } from './people-dialog.tsx';

type Cohort = ResponseFor<'reportRetention'>['cohort'][number];

export const cohortName = (from: string, interval: 'day' | 'week' | 'month'): string =>
  formatTime(from, interval === 'month' ? 'month' : 'day');

const capitalized = (interval: string) => interval.replace(/^./, (letter) => letter.toUpperCase());

/** A column's header: `Same week`, `Week 1`. */
export const intervalHeader = (later: number, interval: string): string =>
  later === 0 ? `Same ${interval}` : `${capitalized(interval)} ${later}`;

interface CohortTableProps {
  readonly cohorts: readonly Cohort[];
  readonly interval: 'day' | 'week' | 'month';
  /** For each cohort, whether the range covers only part of its interval. */
  readonly isPartial: readonly boolean[];
}

export const CohortTable = ({ cohorts, interval, isPartial }: CohortTableProps) => {
  const maxPeriods = Math.max(...cohorts.map(({ back }) => back.length));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs focus to scroll with the keyboard.
    <section class="triangle" tabIndex={0} aria-label="Retention, scrollable">
      <table>
        <caption class="unseen">Share of each cohort that came back, by {interval}</caption>
        <thead>
          <tr>
            <th scope="col">{capitalized(interval)} from</th>
            <th scope="col">People</th>
            {Array.from({ length: maxPeriods }, (_, later) => (
              <th key={later} scope="col">
                {intervalHeader(later, interval)}
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
                  {isPartial[index] && <small> partial</small>}
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
