/** Lists that are read page by page. */
import { useEffect, useState } from 'preact/hooks';
import { type Answer, useAnswer } from './answer.ts';

export interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly nextCursor: string;
}

export interface Listed<Entry> {
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
  // Another question has other pages.
  useEffect(() => setFurther([]), [question, answer.value]);
  const first = answer.value;
  const { nextCursor = '' } = further.at(-1) ?? first ?? {};
  const more = async () => {
    const next = await ask(nextCursor, new AbortController().signal);
    setFurther((before) => [...before, next]);
  };
  return {
    answer: { ...answer, value: first && [first, ...further].flatMap(({ entries }) => entries) },
    more: nextCursor === '' ? undefined : () => more().catch(answer.again),
  };
};
