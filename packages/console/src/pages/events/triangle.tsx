/** The triangle of a retention: a row for each cohort, a column for each period after it, shaded by share. */
import type { AnswerFor } from '@firsthand/client';
import { formatShare, formatTime, formatWhole } from '../../reading/format.ts';
import { NumberLink } from './who.tsx';

type Cohort = AnswerFor<'reportRetention'>['cohort'][number];

export const cohortName = (from: string, interval: 'day' | 'week' | 'month'): string =>
  formatTime(from, interval === 'month' ? 'month' : 'day');

interface TriangleProps {
  readonly cohorts: readonly Cohort[];
  readonly interval: 'day' | 'week' | 'month';
}

export const Triangle = ({ cohorts, interval }: TriangleProps) => {
  const most = Math.max(...cohorts.map(({ back }) => back.length));
  const name = interval.replace(/^./, (letter) => letter.toUpperCase());
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll what has the focus.
    <section class="triangle" tabIndex={0} aria-label="Retention, scrollable">
      <table>
        <caption class="unseen">Share of each cohort that came back, by {interval}</caption>
        <thead>
          <tr>
            <th scope="col">{name} from</th>
            <th scope="col">People</th>
            {Array.from({ length: most }, (_, later) => (
              <th key={later} scope="col">
                {later === 0 ? (
                  `Same ${interval}`
                ) : (
                  <>
                    <span class="unseen">{name} </span>
                    {later}
                  </>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cohorts.map(({ from, people, back }, index) => {
            const cohort = cohortName(from, interval);
            return (
              <tr key={from}>
                <th scope="row">{cohort}</th>
                <td>
                  <NumberLink count={people} chosen={{ cohort: index + 1 }} label={`${cohort}, first event`} />
                </td>
                {back.map((count, later) => {
                  const share = people === 0 ? 0 : count / people;
                  return (
                    <td key={later} class="triangle-share" style={{ '--share': share }} title={formatWhole(count)}>
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
