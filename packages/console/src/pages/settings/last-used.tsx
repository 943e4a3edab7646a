import { RelativeTime } from '../../parts/small.tsx';

const hourMs = 3_600_000;

interface LastUsedProps {
  readonly item: { readonly createdTime: string; readonly lastUsedTime?: string | undefined };
  readonly isInUse?: boolean;
}

/**
 * When a token or link was last used. The service stores only the start of that hour, which may be before the token or
 * link was created.
 */
export const LastUsed = ({ item: { createdTime, lastUsedTime }, isInUse }: LastUsedProps) => {
  if (isInUse) return <>now</>;
  if (lastUsedTime === undefined) return <span class="soft">never</span>;
  const time = lastUsedTime < createdTime ? createdTime : lastUsedTime;
  return Date.now() - Date.parse(time) < hourMs ? <time dateTime={time}>this hour</time> : <RelativeTime time={time} />;
};
