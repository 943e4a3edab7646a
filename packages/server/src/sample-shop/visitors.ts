/** Visitors who come to the sample shop while somebody looks around in it, so that its live page has somebody. */
import type { NewEvent, Store } from '../store/store.ts';
import { createRandom } from './random.ts';
import { sources } from './shop.ts';
import { newVisitor, visitOf } from './visits.ts';

const tickMs = 5_000;
/** Somebody who leaves the console open must not fill the disk. */
const lastsMs = 30 * 60_000;
const maxVisits = 4;

interface VisitorsOptions {
  readonly store: Pick<Store, 'logEvents' | 'listTokens'>;
  readonly account: number;
  readonly now?: () => number;
}

/** Returns a function that stores what has happened since it was last called; it resolves with whether there may be more later. */
export const createVisitors = ({ store, account, now = Date.now }: VisitorsOptions) => {
  const begun = now();
  const random = createRandom(begun);
  let waiting: NewEvent[] = [];
  return async (): Promise<boolean> => {
    const time = now();
    if (time - begun > lastsMs) return false;
    const token = (await store.listTokens({ account })).find(
      ({ kind, revokedTime }) => kind === 'browser' && revokedTime === null,
    );
    // The shop is being removed.
    if (token === undefined) return false;
    const visitors = new Set(waiting.map(({ userUUID }) => userUUID));
    if (visitors.size < maxVisits) {
      const source = random.pick([sources.google, sources.direct, sources.blog, sources.letter]);
      const { happenings } = visitOf(random, { visitor: newVisitor(random), source, start: time, depth: 'product' });
      waiting.push(...happenings.flatMap((each) => (each.do === 'log' ? [each.event] : [])));
    }
    const due = waiting.filter(({ eventTime }) => eventTime <= time);
    waiting = waiting.filter(({ eventTime }) => eventTime > time);
    if (due.length > 0)
      await store.logEvents({ account, token: token.token, browser: true, receivedTime: time, events: due });
    return true;
  };
};

/** Lets visitors come for half an hour, or until the shop or the server is gone. Returns a function that ends it. */
export const startVisitors = (options: VisitorsOptions): (() => void) => {
  const tick = createVisitors(options);
  const timer = setInterval(async () => {
    const goesOn = await tick().catch(() => false);
    if (!goesOn) clearInterval(timer);
  }, tickMs);
  timer.unref();
  return () => clearInterval(timer);
};
