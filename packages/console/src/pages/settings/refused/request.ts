import type { ResponseFor } from '@firsthand/client';

export type RefusedPage = ResponseFor<'listRefused'>;
export type RefusedRequest = RefusedPage['refused'][number];

/** A request's JSON or, if it could not be parsed, the text that was sent. */
export const textOf = ({ request }: RefusedRequest): string =>
  typeof request === 'string' ? request : JSON.stringify(request, null, 2);
