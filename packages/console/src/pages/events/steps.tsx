/** The editor for the steps of a funnel. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { nameOf } from '../../reading/account.ts';
import { EventChoice } from './choices.tsx';

export const minSteps = 2;
export const maxSteps = 8;

interface StepsProps {
  /** eventIDs. */
  readonly steps: readonly string[];
  readonly change: (steps: readonly string[]) => void;
}

export const Steps = ({ steps, change }: StepsProps) => {
  const list = useRef<HTMLOListElement>(null);
  /** The step to focus after a change, because the pressed button may be gone or belong to a different step. */
  const next = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    if (next.current === undefined) return;
    list.current?.querySelectorAll('select')[next.current]?.focus();
    next.current = undefined;
  });
  const changeAndFocus = (changed: readonly string[], step: number) => {
    next.current = step;
    change(changed);
  };
  const moveUp = (index: number) => {
    const [moved] = steps.slice(index, index + 1) as [string];
    changeAndFocus(steps.toSpliced(index, 1).toSpliced(index - 1, 0, moved), index - 1);
  };
  return (
    <>
      <ol class="steps" ref={list}>
        {steps.map((id, index) => (
          <li key={index}>
            <EventChoice
              label={`Step ${index + 1}`}
              value={id}
              choose={(eventID) => change(steps.with(index, eventID))}
            />
            {index > 0 && (
              <button
                type="button"
                class="quiet"
                aria-label={`Move step ${index + 1}, ${nameOf('event', id)}, up`}
                onClick={() => moveUp(index)}
              >
                Up
              </button>
            )}
            {steps.length > minSteps && (
              <button
                type="button"
                class="quiet"
                aria-label={`Remove step ${index + 1}, ${nameOf('event', id)}`}
                onClick={() => changeAndFocus(steps.toSpliced(index, 1), Math.max(0, index - 1))}
              >
                Remove
              </button>
            )}
          </li>
        ))}
      </ol>
      {steps.length < maxSteps && (
        <button type="button" onClick={() => changeAndFocus([...steps, steps.at(-1) as string], steps.length)}>
          Add a step
        </button>
      )}
    </>
  );
};
