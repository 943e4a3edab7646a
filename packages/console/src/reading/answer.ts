/** Answers of the API in pages: asked again when the question changes, the last one shown meanwhile. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { isGone, isUnreachable, messageOf } from '../api.ts';

export interface Answer<Value> {
  /** The answer to this question or, while it is asked, to the one before. */
  readonly value: Value | undefined;
  /** Why there is none. */
  readonly problem: string | undefined;
  /** Whether another attempt would fail in the same way. */
  readonly isFinal?: boolean | undefined;
  /** Whether `value` answers an earlier question. */
  readonly isOld: boolean;
  /** Asks again. */
  readonly again: () => void;
}

const pauseMs = 2_000;
const maxCached = 60;

/** The last answers by their questions, so that going back shows at once what was there. */
const remembered = new Map<string, unknown>();

const remember = (question: string, value: unknown): void => {
  remembered.delete(question);
  remembered.set(question, value);
  const [oldest] = remembered.keys();
  if (remembered.size > maxCached && oldest !== undefined) remembered.delete(oldest);
};

/** Forgets all answers: what they say may have changed, or they are another account's. */
export const forgetAnswers = (): void => remembered.clear();

interface Settings {
  /** Asks again after so many milliseconds, while the page is visible. */
  readonly everyMs?: number;
}

/**
 * The answer to a question, which is asked anew when `question` changes: text that differs whenever `ask` would be answered
 * differently. While the server can't be reached it is asked again every two seconds.
 */
export const useAnswer = <Value>(
  question: string,
  ask: (signal: AbortSignal) => Promise<Value>,
  { everyMs }: Settings = {},
): Answer<Value> => {
  /** `of` is the question that `value` answers. */
  const [state, setState] = useState<{
    question: string;
    of: string;
    value?: Value | undefined;
    problem?: string;
    isFinal?: boolean;
  }>({
    question: '',
    of: '',
  });
  const [round, setRound] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;

  // `round` asks the same again.
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const next = (ms: number): void => {
      timer = setTimeout(() => (document.hidden ? next(ms) : run()), ms);
    };
    const run = async (): Promise<void> => {
      try {
        const value = await asking.current(ending.signal);
        if (ending.signal.aborted) return;
        remember(question, value);
        setState({ question, of: question, value });
        if (everyMs !== undefined) next(everyMs);
      } catch (error) {
        if (ending.signal.aborted) return;
        setState(({ of, value }) => ({ question, of, value, problem: messageOf(error), isFinal: isGone(error) }));
        if (everyMs !== undefined || isUnreachable(error)) next(everyMs ?? pauseMs);
      }
    };
    if (remembered.has(question)) setState({ question, of: question, value: remembered.get(question) as Value });
    run();
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [question, round, everyMs]);

  const isKnown = state.question !== question && remembered.has(question);
  const problem = state.question === question ? state.problem : undefined;
  // An answer to another question must not stand beside the reason why this one has none.
  const isOther = state.of !== question;
  return {
    value: isKnown ? (remembered.get(question) as Value) : isOther && problem !== undefined ? undefined : state.value,
    problem,
    isFinal: problem !== undefined && state.isFinal,
    isOld: isOther && !isKnown,
    again: () => setRound((before) => before + 1),
  };
};
