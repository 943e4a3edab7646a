import { Ago } from '../../parts/small.tsx';

const hourMs = 3_600_000;

/** When a token was last used. The service stores only the hour. */
export const LastUsed = ({ time }: { readonly time: string | undefined }) => {
  if (time === undefined) return <span class="soft">never</span>;
  return Date.now() - Date.parse(time) < hourMs ? <time dateTime={time}>this hour</time> : <Ago time={time} />;
};
