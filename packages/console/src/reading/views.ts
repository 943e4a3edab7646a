/** Saved views: pages of reports under names. */
import type { AnswerFor } from '@firsthand/client';
import { hrefOfQuery, pageName, query } from '../address.ts';

export type View = AnswerFor<'listViews'>['view'][number];

/** What belongs to a moment, or to the reader, and not to a view. */
const passing = ['account', 'who', 'cursor'];

/** The page that is open, as a view has it. */
export const viewHere = (): Pick<View, 'viewPage' | 'viewQuery'> => {
  const kept = new URLSearchParams([...query.peek()].filter(([name]) => !passing.includes(name)));
  return { viewPage: pageName.peek() === 'events' ? 'events' : 'overview', viewQuery: kept.toString() };
};

/** The address of a view in the account that is open. */
export const hrefOfView = ({ viewPage, viewQuery }: Pick<View, 'viewPage' | 'viewQuery'>): string =>
  hrefOfQuery(viewPage === 'overview' ? '' : viewPage, viewQuery);
