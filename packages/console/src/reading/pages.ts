/** A hook for paginated lists. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api.ts';
import { type FetchState, useFetch } from './use-fetch.ts';

interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly nextCursor: string;
}

interface Pagination<Entry> {
  readonly response: FetchState<readonly Entry[]>;
  /** Loads the next page. Undefined after the last page. */
  readonly more: (() => void) | undefined;
}

/** All loaded pages' entries. `key` is the cache key, as in `useFetch`. */
export const usePagination = <Entry>(
  key: string,
  fetchPage: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Entry>>,
): Pagination<Entry> => {
  const [laterPages, setLaterPages] = useState<readonly Page<Entry>[]>([]);
  const response = useFetch(key, (signal) => fetchPage(undefined, signal));
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const controller = useRef<AbortController | undefined>(undefined);
  // A new key or first page invalidates the later pages, including one that is still loading.
  useEffect(() => {
    setLaterPages([]);
    setProblem(undefined);
    return () => {
      controller.current?.abort();
      controller.current = undefined;
    };
  }, [key, response.value]);
  const first = response.value;
  const { nextCursor = '' } = laterPages.at(-1) ?? first ?? {};
  const more = async () => {
    if (controller.current) return;
    const current = new AbortController();
    controller.current = current;
    setProblem(undefined);
    try {
      const next = await fetchPage(nextCursor, current.signal);
      if (!current.signal.aborted) setLaterPages((before) => [...before, next]);
    } catch (error) {
      // Keep the loaded pages; the button retries.
      if (!current.signal.aborted) setProblem(messageOf(error));
    } finally {
      if (controller.current === current) controller.current = undefined;
    }
  };
  return {
    response: {
      ...response,
      ...(problem !== undefined && { problem, reload: more }),
      value: first && [first, ...laterPages].flatMap(({ entries }) => entries),
    },
    more: nextCursor === '' ? undefined : more,
  };
};
