/** The contents of a share link to the current page. */
import type { RequestFor } from '@firsthand/client';
import { type Preset, range } from '../../reading/range.ts';
import { listReports, type PageReport } from '../../reading/report.ts';
import { readCurrentView } from '../../reading/views.ts';

/** Ranges that move with the month. Other ranges move with the day, except a custom range, which is fixed. */
const byMonth: readonly (Preset | 'custom')[] = ['month', 'last-month', '12m'];

/** Whether a report is broken down by contact data, which share links never show. */
const isOfContacts = ({ request }: PageReport): boolean => 'by' in request && /^contact/.test(String(request.by));

/** Adds a funnel's steps to the query: the default steps come from the catalogue, which a share link can't read. */
const withSteps = (viewQuery: string, reports: readonly PageReport[]): string => {
  const parameters = new URLSearchParams(viewQuery);
  const [steps] = reports.flatMap(({ request }) => ('step' in request ? [request.step] : []));
  if (Array.isArray(steps)) parameters.set('steps', steps.map(({ event }) => [event].flat()[0]).join(','));
  return parameters.toString();
};

interface CurrentShare extends Pick<RequestFor<'createShareLink'>, 'viewPage' | 'viewQuery' | 'moving'> {
  readonly included: readonly PageReport[];
  readonly excluded: readonly PageReport[];
}

export const readCurrentShare = (): CurrentShare => {
  const reports = listReports();
  const { viewPage, viewQuery } = readCurrentView();
  const { name } = range.peek();
  return {
    viewPage,
    viewQuery: withSteps(viewQuery, reports),
    moving: name === 'custom' ? undefined : byMonth.includes(name) ? 'month' : 'day',
    included: reports.filter((report) => !isOfContacts(report)),
    excluded: reports.filter(isOfContacts),
  };
};
