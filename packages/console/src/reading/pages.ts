/** Lists that are read page by page. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api.ts';
import { type Answer, useAnswer } from './answer.ts';

interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly nextCursor: string;
}

interface Listed<Entry> {
  readonly answer: Answer<readonly Entry[]>;
  /** Reads the next page; undefined: there is none. */
  readonly more: (() => void) | undefined;
}

/** The entries of all pages that were read. `question` differs whenever `ask` would be answered differently. */
export const usePages = <Entry>(
  question: string,
  ask: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Entry>>,
): Listed<Entry> => {
  const [further, setFurther] = useState<readonly Page<Entry>[]>([]);
  const answer = useAnswer(question, (signal) => ask(undefined, signal));
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const reading = useRef<AbortController | undefined>(undefined);
  // Another question has other pages: one that is being read is of no use any more.
  useEffect(() => {
    setFurther([]);
    setProblem(undefined);
    return () => {
      reading.current?.abort();
      reading.current = undefined;
    };
  }, [question, answer.value]);
  const first = answer.value;
  const { nextCursor = '' } = further.at(-1) ?? first ?? {};
  const more = async () => {
    if (reading.current) return;
    const mine = new AbortController();
    reading.current = mine;
    setProblem(undefined);
    try {
      const next = await ask(nextCursor, mine.signal);
      if (!mine.signal.aborted) setFurther((before) => [...before, next]);
    } catch (error) {
      // What was read stays, and the button offers the same again.
      if (!mine.signal.aborted) setProblem(messageOf(error));
    } finally {
      if (reading.current === mine) reading.current = undefined;
    }
  };
  return {
    answer: {
      ...answer,
      ...(problem !== undefined && { problem, again: more }),
      value: first && [first, ...further].flatMap(({ entries }) => entries),
    },
    more: nextCursor === '' ? undefined : more,
  };
};
