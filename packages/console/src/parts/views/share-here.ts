/** What a share link to the page that is open shows. */
import type { RequestFor } from '@firsthand/client';
import { type Preset, range } from '../../reading/range.ts';
import { type ShownReport, shownReports } from '../../reading/report.ts';
import { viewHere } from '../../reading/views.ts';

/** Ranges that begin with a month. The others move on by days, but for one that names its days. */
const byMonth: readonly (Preset | 'custom')[] = ['month', 'last-month', '12m'];

/** Groups that say who somebody is, which no share link shows. */
const isOfContacts = ({ request }: ShownReport): boolean => 'by' in request && /^contact/.test(String(request.by));

/** A funnel whose address names no steps has those of the catalogue, which a share link does not show. */
const withSteps = (viewQuery: string, reports: readonly ShownReport[]): string => {
  const parameters = new URLSearchParams(viewQuery);
  const [steps] = reports.flatMap(({ request }) => ('step' in request ? [request.step] : []));
  if (Array.isArray(steps)) parameters.set('steps', steps.map(({ event }) => [event].flat()[0]).join(','));
  return parameters.toString();
};

interface ShareHere extends Pick<RequestFor<'createShareLink'>, 'viewPage' | 'viewQuery' | 'moving'> {
  readonly shared: readonly ShownReport[];
  readonly leftOut: readonly ShownReport[];
}

export const shareHere = (): ShareHere => {
  const reports = shownReports();
  const { viewPage, viewQuery } = viewHere();
  const { name } = range.peek();
  return {
    viewPage,
    viewQuery: withSteps(viewQuery, reports),
    moving: name === 'custom' ? undefined : byMonth.includes(name) ? 'month' : 'day',
    shared: reports.filter((report) => !isOfContacts(report)),
    leftOut: reports.filter(isOfContacts),
  };
};
