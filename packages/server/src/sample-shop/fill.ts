/** Fills the sample shop: stores what happened in its last month, in the order in which it happened. */
import type { NewEvent, Store } from '../store/store.ts';
import { createSampleAccount, findSampleShop, type SampleAccount } from './account.ts';
import { type Action, createMonth, dayMs, usualEvents } from './month.ts';
import { accountName, segments, views } from './shop.ts';

/** How many of the events are stored. */
export interface Progress {
  readonly events: number;
  readonly of: number;
}

/** The same seed, a whole number, makes the same month, up to its end: `now`, in milliseconds since 1970. */
interface FillOptions {
  readonly seed?: number;
  readonly now?: number;
  readonly events?: number;
  readonly onProgress?: (progress: Progress) => void;
}

type Change = Exclude<Action, { readonly call: 'logEvent' }>;

const storeChange = async (store: Store, { account, tokens }: SampleAccount, change: Change): Promise<unknown> => {
  const token = tokens[change.by];
  const asker = { account, token, browser: change.by === 'browser', time: change.time, by: token };
  // The request fits the call of the same action, which the compiler cannot follow.
  if (change.call !== 'voidLink') return store[change.call]({ ...change.request, ...asker } as never);
  const { contactUUID, userUUID } = change.request;
  const { links } = await store.getContact({ ...asker, contactUUID, include: ['link'] });
  const linkID = links?.find((link) => link.userUUID === userUUID)?.linkID ?? '';
  return store.voidLinks({ ...asker, restore: false, links: { linkID } });
};

const maxBatch = 500;

/** Creates the account of the sample shop and fills it. If it is interrupted, `removeSampleShop` removes what there is. */
export const fillSampleShop = async (
  store: Store,
  { seed = 1, now = Date.now(), events: of = usualEvents, onProgress = () => {} }: FillOptions = {},
) => {
  const found = await findSampleShop(store);
  if (found) {
    const how = 'firsthand demo-data --remove removes it';
    throw new Error(`the sample shop is there already, as the account ${found.accountUUID}: ${how}`);
  }
  const shop = await createSampleAccount(store, now - 31 * dayMs);
  const { account, accountUUID, browserTokenUUID, serverTokenUUID, tokens } = shop;
  const waiting: Record<Action['by'], NewEvent[]> = { server: [], browser: [] };
  const changes: Change[] = [];
  /** What the waiting changes concern: UUIDs, claimIDs and addresses. */
  const changing = new Set<unknown>();
  let events = 0;
  let day: number | undefined;

  const flush = async (): Promise<void> => {
    // The events of browsers come last, so that they are at the top of the live page.
    for (const by of ['server', 'browser'] as const) {
      const batch = waiting[by].splice(0);
      if (batch.length === 0) continue;
      // As if they had arrived when the last of them happened: a contact was last seen on the day of an arrival.
      const receivedTime = Math.max(...batch.map(({ eventTime }) => eventTime));
      const asker = { account, token: tokens[by], browser: by === 'browser' };
      const outcomes = await store.logEvents({ ...asker, receivedTime, isPast: true, events: batch });
      if (outcomes.some(({ kept }) => !kept)) throw new Error('an event of the sample shop was not stored');
      events += batch.length;
    }
    await Promise.all(changes.splice(0).map((change) => storeChange(store, shop, change)));
    changing.clear();
    onProgress({ events, of });
  };

  for (const action of createMonth(seed, now, of)) {
    // Few commits store all that arrives on a day, but what concerns the same browser or contact stays in order.
    const concerns = Object.values(action.request).filter((value) => typeof value === 'string' && value !== '');
    const isFull = waiting.browser.length + changes.length >= maxBatch;
    const isNextDay = day !== Math.floor(action.time / dayMs);
    if (isFull || isNextDay || concerns.some((each) => changing.has(each))) await flush();
    day = Math.floor(action.time / dayMs);
    if (action.call === 'logEvent') waiting[action.by].push(action.request);
    else {
      changes.push(action);
      for (const each of concerns) changing.add(each);
    }
  }
  await flush();
  const time = now - 20 * dayMs;
  for (const [viewName, query] of Object.entries(views))
    await store.saveView({ account, viewName, page: 'events', query, time });
  // Last, so that a shop with segments is complete.
  for (const [segmentName, filter] of Object.entries(segments))
    await store.saveSegment({ account, segmentName, filter: JSON.stringify(filter), time });
  const { usage } = await store.getAccount(account);
  return { accountUUID, accountName, browserTokenUUID, serverTokenUUID, ...usage };
};
