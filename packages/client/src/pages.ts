/** Operations whose responses are pages. */
import type { OperationName, ResponseOf } from '@firsthand/contract/operations';
import { FirsthandError } from './failure.ts';

/** The operations that return a `nextCursor` and take it as `cursor`. */
export type PagedOperation = {
  [Name in OperationName]: 'nextCursor' extends keyof ResponseOf<Name> ? Name : never;
}[OperationName];

/** Yields pages from `cursor` to the last. */
export async function* readPages<Page>(
  cursor: string | undefined,
  fetchPage: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page, void> {
  for (let next = cursor; ; ) {
    const page = await fetchPage(next);
    yield page;
    const { nextCursor } = page as { nextCursor?: string };
    if (!nextCursor) return;
    // A faulty service, or a cache in front of it, must not cause an endless loop.
    if (nextCursor === next) {
      throw new FirsthandError('the service returned the same cursor again', { status: 200, code: 'unreadable' });
    }
    next = nextCursor;
  }
}
