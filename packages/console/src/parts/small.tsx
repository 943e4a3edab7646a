/** The small parts of every page: times, IDs to copy, faces, marks. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isOnThisMachine } from '../address.ts';
import { isOwner } from '../reading/account.ts';
import { formatAgo, formatTime } from '../reading/format.ts';
import { hueOf } from '../reading/person.ts';
import { useCopying } from './copying.ts';

/** How long ago something was; the exact time in a tooltip. */
export const Ago = ({ time }: { readonly time: string }) => (
  <time dateTime={time} title={formatTime(time, 'full')}>
    {formatAgo(time, Date.now())}
  </time>
);

/** To ask the browser takes longer than to show an event. */
const readersZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A time of day in the account's zone; with the whole time in a tooltip, there also in the reader's zone. */
export const At = ({ time, form = 'time' }: { readonly time: string; readonly form?: 'time' | 'long' }) => {
  const here = formatTime(time, 'full', readersZone);
  const there = formatTime(time, 'full');
  return (
    <time dateTime={time} title={here === there ? there : `${there}\nWhere you are: ${here}`}>
      {formatTime(time, form)}
    </time>
  );
};

/** An ID or a text that a click copies. */
export const Copyable = ({ text, label = text }: { readonly text: string; readonly label?: string }) => {
  const { isCopied, copy } = useCopying(text);
  return (
    <button type="button" class="copyable" onClick={copy} title={`Copy ${text}`}>
      <code>{label}</code>
      <span class="copyable-mark" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  );
};

/** A colored disc with initials, so that the same person is recognized at a glance. */
export const Face = ({
  id,
  name,
  isAnonymous,
}: {
  readonly id: string;
  readonly name: string;
  readonly isAnonymous?: boolean;
}) => {
  const initials = name
    .split(/[\s@.]+/)
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase();
  return (
    <span class={isAnonymous ? 'face face-anonymous' : 'face'} style={{ '--hue': hueOf(id) }} aria-hidden="true">
      {isAnonymous ? '' : initials}
    </span>
  );
};

export const Badge = ({
  tone = 'plain',
  title,
  children,
}: {
  readonly tone?: 'plain' | 'good' | 'open' | 'bad';
  readonly title?: string;
  readonly children: ComponentChildren;
}) => (
  <span class={`badge badge-${tone}`} title={title}>
    {children}
  </span>
);

const patienceMs = 2_000;

/** Says what a reader waits for, once that takes long. */
export const SlowNote = ({ text }: { readonly text: string }) => {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), patienceMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="soft slow-note" role="status">
      {isSlow && text}
    </p>
  );
};

/** Lines where text will be. */
export const Skeleton = ({ lines = 3 }: { readonly lines?: number }) => (
  <div class="skeleton" aria-hidden="true">
    {Array.from({ length: lines }, (_, line) => (
      <span key={line} />
    ))}
  </div>
);

/** A text in place of an empty list, with the next thing to do. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children}
  </div>
);

/** Why there is no answer, with a way to ask again. */
export const Problem = ({ text, again }: { readonly text: string; readonly again?: () => void }) => (
  <div class="problem" role="alert">
    <p>{text}</p>
    {again && (
      <button type="button" onClick={again}>
        Try again
      </button>
    )}
  </div>
);

/** Warns of a link that is passed on, and that others can't open. */
export const OnThisMachineOnly = () =>
  isOnThisMachine() ? (
    <p class="problem">
      It works on this machine only. {isOwner.value ? 'Set' : 'Ask your administrator to set'} CONSOLE_ORIGIN.
    </p>
  ) : null;
