/** Robots, by the user agent of a request. */
import { isbot } from 'isbot';

/** Longer user agents are looked at up to here: no browser sends as much. */
const mostLength = 512;
const mostRemembered = 1_000;

/** Answers whether a user agent is a robot's. Its pattern takes some microseconds; the last 1,000 verdicts are remembered. */
export const createIsRobot = (
  find: (userAgent: string) => boolean = isbot,
): ((userAgent: string | null) => boolean) => {
  const verdicts = new Map<string, boolean>();
  return (userAgent) => {
    if (userAgent === null || userAgent === '') return false;
    const text = userAgent.slice(0, mostLength);
    const known = verdicts.get(text);
    if (known !== undefined) return known;
    const verdict = find(text);
    const [oldest] = verdicts.keys();
    if (oldest !== undefined && verdicts.size >= mostRemembered) verdicts.delete(oldest);
    verdicts.set(text, verdict);
    return verdict;
  };
};
