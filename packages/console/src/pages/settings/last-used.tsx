import { Ago } from '../../parts/small.tsx';

const hourMs = 3_600_000;

interface LastUsedProps {
  readonly of: { readonly createdTime: string; readonly lastUsedTime?: string | undefined };
  /** Whether it is in use at this moment. */
  readonly isInUse?: boolean;
}

/** When a token or a link was last used. The service stores only the hour, which may have begun before it was made. */
export const LastUsed = ({ of: { createdTime, lastUsedTime }, isInUse }: LastUsedProps) => {
  if (isInUse) return <>now</>;
  if (lastUsedTime === undefined) return <span class="soft">never</span>;
  const time = lastUsedTime < createdTime ? createdTime : lastUsedTime;
  return Date.now() - Date.parse(time) < hourMs ? <time dateTime={time}>this hour</time> : <Ago time={time} />;
};
