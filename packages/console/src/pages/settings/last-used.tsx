import { RelativeTime } from '../../parts/small.tsx';

const hourMs = 3_600_000;

interface LastUsedProps {
  readonly of: { readonly createdTime: string; readonly lastUsedTime?: string | undefined };
  readonly isInUse?: boolean;
}

/**
 * When a token or link was last used. The service stores only the start of the hour, which may be before its creation.
 */
export const LastUsed = ({ of: { createdTime, lastUsedTime }, isInUse }: LastUsedProps) => {
  if (isInUse) return <>now</>;
  if (lastUsedTime === undefined) return <span class="soft">never</span>;
  const time = lastUsedTime < createdTime ? createdTime : lastUsedTime;
  return Date.now() - Date.parse(time) < hourMs ? <time dateTime={time}>this hour</time> : <RelativeTime time={time} />;
};
