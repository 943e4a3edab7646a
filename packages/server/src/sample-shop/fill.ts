/** Fills the sample shop with a month of events and other actions, in chronological order. */
import { nanoid } from 'nanoid';
import type { NewEvent, Store } from '../store/store.ts';
import { createSampleAccount, findSampleShop, type SampleAccount } from './account.ts';
import { type Action, createMonth, dayMs, defaultEvents } from './month.ts';
import { accountName, goals, notes, segments, views } from './shop.ts';

export interface Progress {
  /** The number of events stored so far. */
  readonly events: number;
  /** The total number of events. */
  readonly of: number;
}

interface FillOptions {
  /** A whole number. The same seed, `now` and `events` generate the same month. */
  readonly seed?: number;
  /** The end of the month, in milliseconds since 1970. */
  readonly now?: number;
  readonly events?: number;
  readonly onProgress?: (progress: Progress) => void;
}

type Change = Exclude<Action, { readonly call: 'logEvent' }>;

const storeChange = async (store: Store, { account, tokens }: SampleAccount, change: Change): Promise<unknown> => {
  const token = tokens[change.by];
  const caller = { account, token, browser: change.by === 'browser', time: change.time, by: token };
  // The compiler can't infer that the request matches the call.
  if (change.call !== 'voidLink') return store[change.call]({ ...change.request, ...caller } as never);
  const { contactUUID, userUUID } = change.request;
  const { links } = await store.getContact({ ...caller, contactUUID, include: ['link'] });
  const linkID = links?.find((link) => link.userUUID === userUUID)?.linkID ?? '';
  return store.voidLinks({ ...caller, restore: false, links: { linkID } });
};

const maxBatch = 500;

/** Creates the sample shop's account and fills it. If interrupted, `removeSampleShop` removes the partial shop. */
export const fillSampleShop = async (
  store: Store,
  { seed = 1, now = Date.now(), events: of = defaultEvents, onProgress = () => {} }: FillOptions = {},
) => {
  const existing = await findSampleShop(store);
  if (existing) {
    const hint = 'remove it with firsthand demo-data --remove';
    throw new Error(`the sample shop already exists, as the account ${existing.accountUUID}: ${hint}`);
  }
  const shop = await createSampleAccount(store, now - 31 * dayMs);
  const { account, accountUUID, browserTokenUUID, serverTokenUUID, tokens } = shop;
  const pendingEvents: Record<Action['by'], NewEvent[]> = { server: [], browser: [] };
  const pendingChanges: Change[] = [];
  /** The UUIDs, claimIDs and addresses in the pending changes. */
  const changedIDs = new Set<unknown>();
  let events = 0;
  let day: number | undefined;

  const flush = async (): Promise<void> => {
    // Events from browsers last, so that they are at the top of the live page.
    for (const by of ['server', 'browser'] as const) {
      const batch = pendingEvents[by].splice(0);
      if (batch.length === 0) continue;
      // The batch is received when its last event happened, because `receivedTime` determines when a contact was last
      // seen.
      const receivedTime = Math.max(...batch.map(({ eventTime }) => eventTime));
      const caller = { account, token: tokens[by], browser: by === 'browser' };
      const outcomes = await store.logEvents({ ...caller, receivedTime, isSimulated: true, events: batch });
      if (outcomes.some(({ kept }) => !kept)) throw new Error('a sample shop event was not stored');
      events += batch.length;
    }
    await Promise.all(pendingChanges.splice(0).map((change) => storeChange(store, shop, change)));
    changedIDs.clear();
    onProgress({ events, of });
  };

  for (const action of createMonth(seed, now, of)) {
    // Stores a day in few commits, but keeps each browser's and each contact's actions in order.
    const ids = Object.values(action.request).filter((value) => typeof value === 'string' && value !== '');
    const isFull = pendingEvents.browser.length + pendingChanges.length >= maxBatch;
    const isNextDay = day !== Math.floor(action.time / dayMs);
    if (isFull || isNextDay || ids.some((each) => changedIDs.has(each))) await flush();
    day = Math.floor(action.time / dayMs);
    if (action.call === 'logEvent') pendingEvents[action.by].push(action.request);
    else {
      pendingChanges.push(action);
      for (const each of ids) changedIDs.add(each);
    }
  }
  await flush();
  const time = now - 20 * dayMs;
  for (const [viewName, query] of Object.entries(views))
    await store.saveView({ account, viewName, page: 'events', query, time });
  for (const [goalName, goal] of Object.entries(goals))
    await store.createGoal({ account, goalID: nanoid(), goalName, eventName: null, ...goal, time });
  for (const [noteText, daysAgo] of Object.entries(notes))
    await store.createNote({ account, noteID: nanoid(), noteText, noteTime: now - daysAgo * dayMs, time });
  // Segments are stored last, because they mark the shop as complete.
  for (const [segmentName, filter] of Object.entries(segments))
    await store.saveSegment({ account, segmentName, filter: JSON.stringify(filter), time });
  const { usage } = await store.getAccount(account);
  return { accountUUID, accountName, browserTokenUUID, serverTokenUUID, ...usage };
};
