/** A card: a titled section of a page. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { FetchState } from '../reading/use-fetch.ts';
import { Problem, Skeleton, SlowLoadingNote } from './small.tsx';

interface CardProps {
  readonly title: ComponentChildren;
  /** Shown next to the title. */
  readonly tools?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export const Card = ({ title, tools, class: name = '', children }: CardProps) => {
  const id = useId();
  return (
    <section class={`card ${name}`} aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id}>{title}</h2>
        {tools}
      </header>
      {children}
    </section>
  );
};

interface ResponseViewProps<Value> {
  readonly response: FetchState<Value>;
  readonly lines?: number;
  /** The text to show if the first response is slow. */
  readonly slow?: string;
  readonly children: (value: Value) => ComponentChildren;
}

/** Shows a response (dimmed while a newer one is loading), a skeleton before the first response, or the error. */
export const ResponseView = <Value,>({ response, lines = 6, slow, children }: ResponseViewProps<Value>) => {
  const { value, problem, isFinal, isOld, reload } = response;
  const isAwaited = problem === undefined && (value === undefined || isOld);
  return (
    <div class={isAwaited && value !== undefined ? 'response response-old' : 'response'} aria-busy={isAwaited}>
      {problem !== undefined && <Problem text={problem} {...(!isFinal && { reload })} />}
      {value !== undefined
        ? children(value)
        : problem === undefined && (
            <>
              {slow && <SlowLoadingNote text={slow} />}
              <Skeleton lines={lines} />
            </>
          )}
    </div>
  );
};
