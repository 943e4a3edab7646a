/** Small components that every page uses. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isLoopback } from '../address.ts';
import { formatAgo, formatTime } from '../reading/format.ts';
import { hueOf } from '../reading/person.ts';
import { useCopy } from './use-copy.ts';

/** A relative time such as “3 hours ago”, with the exact time as a tooltip. */
export const RelativeTime = ({ time }: { readonly time: string }) => (
  <time dateTime={time} title={formatTime(time, 'full')}>
    {formatAgo(time, Date.now())}
  </time>
);

/** Cached: resolvedOptions() takes longer than rendering an event. */
const localTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A time in the account's time zone. The tooltip has the full time, also in the browser's time zone if it differs. */
export const Time = ({ time, form = 'time' }: { readonly time: string; readonly form?: 'time' | 'long' }) => {
  const here = formatTime(time, 'full', localTimeZone);
  const there = formatTime(time, 'full');
  return (
    <time dateTime={time} title={here === there ? there : `${there}\nYour time: ${here}`}>
      {formatTime(time, form)}
    </time>
  );
};

/** Text that is copied on click. */
export const CopyableText = ({ text, label = text }: { readonly text: string; readonly label?: string }) => {
  const { isCopied, copy } = useCopy(text);
  return (
    <button type="button" class="copyable" onClick={copy} title={`Copy ${text}`}>
      <code>{label}</code>
      <span class="copyable-mark" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  );
};

/** A colored disc with initials. */
export const Avatar = ({
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

const slowMs = 2_000;

/** Shows text if loading takes a long time. */
export const SlowLoadingNote = ({ text }: { readonly text: string }) => {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), slowMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="soft slow-note" role="status">
      {isSlow && text}
    </p>
  );
};

/** Placeholder lines while text is loading. */
export const Skeleton = ({ lines = 3 }: { readonly lines?: number }) => (
  <div class="skeleton" aria-hidden="true">
    {Array.from({ length: lines }, (_, line) => (
      <span key={line} />
    ))}
  </div>
);

/** An empty state: text shown instead of an empty list, with the next step to take. */
export const EmptyState = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children}
  </div>
);

/** An error with a retry button. */
export const Problem = ({ text, reload }: { readonly text: string; readonly reload?: () => void }) => (
  <div class="problem" role="alert">
    <p>{text}</p>
    {reload && (
      <button type="button" onClick={reload}>
        Try again
      </button>
    )}
  </div>
);

/** Warns that other people can't open a link because the console runs on a loopback address. */
export const LoopbackWarning = () =>
  isLoopback() ? (
    <p class="problem">
      Colleagues can’t open this link yet: ask the server’s administrator to set its public address (CONSOLE_ORIGIN).
    </p>
  ) : null;
