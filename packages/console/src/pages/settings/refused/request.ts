import type { AnswerFor } from '@firsthand/client';

export type RefusedPage = AnswerFor<'listRefused'>;
export type RefusedRequest = RefusedPage['refused'][number];

/** A request as text: the JSON of its fields or, if it could not be parsed, what was sent. */
export const textOf = ({ request }: RefusedRequest): string =>
  typeof request === 'string' ? request : JSON.stringify(request, null, 2);
