/** Operations whose response is a page, with the cursor of the next one. */
import type { OperationName, ResponseOf } from '@firsthand/contract/operations';
import { FirsthandError } from './failure.ts';

/** The operations that answer a `nextCursor`, and take it as `cursor`. */
export type PagedOperation = {
  [Name in OperationName]: 'nextCursor' extends keyof ResponseOf<Name> ? Name : never;
}[OperationName];

/** Yields the pages that `ask` returns, from that of `cursor` to the last. */
export async function* pagesOf<Page>(
  cursor: string | undefined,
  ask: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page, void> {
  for (let next = cursor; ; ) {
    const page = await ask(next);
    yield page;
    const { nextCursor } = page as { nextCursor?: string };
    if (!nextCursor) return;
    // Else a mistaken service, or a cache before it, would be asked for ever.
    if (nextCursor === next) {
      throw new FirsthandError('the service answered the cursor that it was sent', { status: 200, code: 'unreadable' });
    }
    next = nextCursor;
  }
}
