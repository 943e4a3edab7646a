/** A hook for API responses, with caching, polling and retries. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { isGone, isUnreachable, messageOf } from '../api.ts';

export interface FetchState<Value> {
  /** The response for the current key or, while that is loading, for the previous key. */
  readonly value: Value | undefined;
  /** The error's text, if loading failed. */
  readonly problem: string | undefined;
  /** Whether a retry would fail in the same way. */
  readonly isFinal?: boolean | undefined;
  /** Whether `value` belongs to a previous key. */
  readonly isOld: boolean;
  readonly reload: () => void;
}

const pauseMs = 2_000;
const maxCached = 60;

/** The latest responses by key (LRU), so that going back shows them immediately. */
const cache = new Map<string, unknown>();

const cacheValue = (key: string, value: unknown): void => {
  cache.delete(key);
  cache.set(key, value);
  const [oldest] = cache.keys();
  if (cache.size > maxCached && oldest !== undefined) cache.delete(oldest);
};

/** Clears the cache, after changes or when the account changes. */
export const clearFetchCache = (): void => cache.clear();

interface Settings {
  /** The polling interval in milliseconds. Polling pauses while the page is hidden. */
  readonly everyMs?: number;
}

/**
 * Fetches a response, again whenever `key` changes. The key must differ whenever `fetchValue` would return a different
 * response. Retries every two seconds while the server is unreachable.
 */
export const useFetch = <Value>(
  key: string,
  fetchValue: (signal: AbortSignal) => Promise<Value>,
  { everyMs }: Settings = {},
): FetchState<Value> => {
  /** `valueKey` is the key that `value` belongs to. */
  const [state, setState] = useState<{
    key: string;
    valueKey: string;
    value?: Value | undefined;
    problem?: string;
    isFinal?: boolean;
  }>({
    key: '',
    valueKey: '',
  });
  const [round, setRound] = useState(0);
  const latestFetch = useRef(fetchValue);
  latestFetch.current = fetchValue;

  // `round` triggers a reload with the same key.
  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const next = (ms: number): void => {
      timer = setTimeout(() => (document.hidden ? next(ms) : run()), ms);
    };
    const run = async (): Promise<void> => {
      try {
        const value = await latestFetch.current(controller.signal);
        if (controller.signal.aborted) return;
        cacheValue(key, value);
        setState({ key, valueKey: key, value });
        if (everyMs !== undefined) next(everyMs);
      } catch (error) {
        if (controller.signal.aborted) return;
        setState(({ valueKey, value }) => ({
          key,
          valueKey,
          value,
          problem: messageOf(error),
          isFinal: isGone(error),
        }));
        if (everyMs !== undefined || isUnreachable(error)) next(everyMs ?? pauseMs);
      }
    };
    if (cache.has(key)) setState({ key, valueKey: key, value: cache.get(key) as Value });
    run();
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key, round, everyMs]);

  const isCached = state.key !== key && cache.has(key);
  const problem = state.key === key ? state.problem : undefined;
  // Don't show the response for another key together with an error for this key.
  const isOther = state.valueKey !== key;
  return {
    value: isCached ? (cache.get(key) as Value) : isOther && problem !== undefined ? undefined : state.value,
    problem,
    isFinal: problem !== undefined && state.isFinal,
    isOld: isOther && !isCached,
    reload: () => setRound((before) => before + 1),
  };
};
