/** Saved views: named pages of reports. */
import type { ResponseFor } from '@firsthand/client';
import { hrefOfQuery, pageName, query } from '../address.ts';

export type View = ResponseFor<'listViews'>['view'][number];

/** Parameters that are not part of a view. */
const transientParameters = ['account', 'who', 'cursor'];

/** The current page, as a view. */
export const readCurrentView = (): Pick<View, 'viewPage' | 'viewQuery'> => {
  const viewParameters = new URLSearchParams([...query.peek()].filter(([name]) => !transientParameters.includes(name)));
  return { viewPage: pageName.peek() === 'events' ? 'events' : 'overview', viewQuery: viewParameters.toString() };
};

/** The URL of a view in the current account. */
export const hrefOfView = ({ viewPage, viewQuery }: Pick<View, 'viewPage' | 'viewQuery'>): string =>
  hrefOfQuery(viewPage === 'overview' ? '' : viewPage, viewQuery);
