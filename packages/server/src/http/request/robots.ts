/** Recognises robots by the User-Agent of a request. */
import { isbot } from 'isbot';
import { BoundedMap } from '../../bounded-map.ts';

/** A longer User-Agent is cut off here. No browser sends one as long. */
const mostLength = 512;

/** Returns a function that says whether a User-Agent is a robot's. It caches 1,000 results, because the pattern takes some µs. */
export const createIsRobot = (
  find: (userAgent: string) => boolean = isbot,
): ((userAgent: string | null) => boolean) => {
  const verdicts = new BoundedMap<string, boolean>(1_000);
  return (userAgent) => {
    if (userAgent === null || userAgent === '') return false;
    const text = userAgent.slice(0, mostLength);
    const known = verdicts.get(text);
    if (known !== undefined) return known;
    const verdict = find(text);
    verdicts.set(text, verdict);
    return verdict;
  };
};
