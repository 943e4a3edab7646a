/** Fills the sample shop: stores what happened in its last month, in the order in which it happened. */
import { check } from '@firsthand/contract/checking';
import { type Operation, operations } from '@firsthand/contract/operations';
import { refusedRequest } from '../http/refused/refused-requests.ts';
import { unlikelyTime } from '../ingest/event-time.ts';
import type { NewEvent, Store } from '../store/store.ts';
import { createSampleAccount, findSampleShop, type SampleAccount } from './account.ts';
import type { Happening, Sender } from './happenings.ts';
import { createMonth, type MonthSize } from './month.ts';
import { dayMs, sampleDays } from './rhythm.ts';
import { accountName, segments } from './shop.ts';

interface FillOptions {
  /** A whole number. The same seed makes the same month, up to its end. */
  readonly seed?: number;
  /** The end of the month, in milliseconds since 1970. */
  readonly now?: number;
  readonly size?: MonthSize;
  readonly onProgress?: (progress: Progress) => void;
}

/** How many of the events are stored. */
export interface Progress {
  readonly events: number;
  readonly of: number;
}

interface FilledShop {
  readonly accountUUID: string;
  readonly accountName: string;
  readonly browserTokenUUID: string;
  readonly serverTokenUUID: string;
  readonly events: number;
  readonly contacts: number;
  readonly users: number;
}

/** There is a sample shop already. */
export class AlreadyFilled extends Error {
  constructor(accountUUID: string) {
    super(`the sample shop is there already, as the account ${accountUUID}: firsthand demo-data --remove removes it`);
  }
}

const mostEventsAtOnce = 500;
const mostDeedsAtOnce = 50;

type Other = Exclude<Happening, { do: 'log' }>;

/** What a deed concerns. Two deeds that concern the same must be stored one after the other. */
const concernsOf = (deed: Other): readonly (string | null)[] => {
  switch (deed.do) {
    case 'create':
      return [deed.userUUID, deed.contactUUID, deed.claimID];
    case 'link':
      return [deed.userUUID, deed.contactUUID, deed.name ?? null];
    case 'unlink':
      return [deed.userUUID];
    case 'update':
      return [deed.contactUUID];
    case 'void link':
      return [deed.name];
    case 'accept claim':
    case 'void claim':
      return [deed.claimID];
    case 'merge':
      return [deed.contactUUID, deed.otherContactUUID];
    case 'unmerge':
      return [deed.otherContactUUID];
    case 'refuse':
      return [];
  }
};

const dayOf = (time: number): number => Math.floor(time / dayMs);

const concernsOfEvent = ({ userUUID, contactUUID }: NewEvent) => [userUUID, contactUUID];

/**
 * Stores what happens. To store it in few commits, events and other deeds are collected, until one concerns what another waits for: the
 * events of each user keep their places before and after its links, and what concerns different users and contacts goes together.
 */
const createStoring = (store: Store, { account, tokens, browserTokenUUID }: SampleAccount) => {
  const askerOf = (by: Sender) => ({ account, token: tokens[by], browser: by === 'browser' });
  /** The linkIDs of links that are voided later, by their names. */
  const links = new Map<string, string>();
  const events: Record<Sender, NewEvent[]> = { browser: [], server: [] };
  let deeds: Other[] = [];
  /** Events of a day are stored together, because they arrive together. */
  let lastDay: number | undefined;
  /** What the waiting deeds concern. */
  const concerned = new Set<string | null>();

  const flush = async (): Promise<void> => {
    // The newest are those of browsers: they are at the top of the live page.
    for (const by of ['server', 'browser'] as const) {
      const some = events[by].splice(0);
      if (some.length === 0) continue;
      // As if they had arrived when the last of them happened: the day on which a contact was last seen is that of an arrival.
      const receivedTime = Math.max(...some.map(({ eventTime }) => eventTime));
      const outcomes = await store.logEvents({ ...askerOf(by), receivedTime, isPast: true, events: some });
      const lost = outcomes.find(({ kept }) => !kept);
      if (lost) throw new Error(`an event of the sample shop was not stored: ${JSON.stringify(lost)}`);
    }
    const together = deeds;
    deeds = [];
    concerned.clear();
    await Promise.all(together.map(carryOut));
  };

  /** The reason for which the server refuses a request. */
  const problemOf = ({ operation, input }: Extract<Happening, { do: 'refuse' }>, time: number) => {
    const { input: schema }: Operation = operations[operation];
    const checked = check(schema, input);
    if (!checked.ok) return checked.problem;
    const { eventTime } = checked.value as { eventTime?: number };
    const unlikely = unlikelyTime(eventTime, { receivedTime: time, clockError: 0, fromBrowser: false });
    if (unlikely === undefined) throw new Error(`nothing is wrong with ${JSON.stringify(input)}`);
    return { code: 'invalid_field', field: 'eventTime', message: `\`eventTime\` ${unlikely}` } as const;
  };

  const carryOut = async (happening: Other): Promise<unknown> => {
    const { time } = happening;
    const by = tokens.server;
    switch (happening.do) {
      case 'create': {
        const { userUUID, contactUUID, claimID, said, verified } = happening;
        return store.createContact({
          ...{ fields: {}, tags: [], attributes: [], ...said },
          ...askerOf(happening.by),
          ...{ userUUID, verified, time, requestUUID: null, newContactUUID: contactUUID, newHandle: claimID },
        });
      }
      case 'update': {
        const { contactUUID, change } = happening;
        const nothing = { fields: {}, addedTags: [], removedTags: [], attributes: [] };
        return store.updateContact({ account, contactUUID, ...nothing, ...change, time, by });
      }
      case 'link': {
        const { userUUID, contactUUID, name } = happening;
        const { linkID } = await store.linkUser({ account, token: by, userUUID, contactUUID, time });
        return name === undefined ? undefined : links.set(name, linkID);
      }
      case 'unlink':
        return store.unlinkUser({ account, token: by, userUUID: happening.userUUID, time });
      case 'void link': {
        const linkID = links.get(happening.name) as string;
        return store.voidLinks({ account, restore: false, links: { linkID }, time, by });
      }
      case 'accept claim':
        return store.acceptClaim({ account, claimID: happening.claimID, time, by });
      case 'void claim':
        return store.voidClaim({ account, claimID: happening.claimID, restore: false, time, by });
      case 'merge': {
        const { contactUUID, otherContactUUID } = happening;
        return store.mergeContact({ account, contactUUID, otherContactUUID, time, by });
      }
      case 'unmerge':
        return store.unmergeContact({ account, otherContactUUID: happening.otherContactUUID, time, by });
      case 'refuse': {
        const { operation, input, robot } = happening;
        const request = refusedRequest(operation, input, problemOf(happening, time), { token: browserTokenUUID, time });
        const { token } = askerOf(happening.by);
        return store.keepRefused({ account, token, time, sender: 0, robot, requests: [request] });
      }
    }
  };

  return {
    flush,
    /** Stores a happening, now or later. Returns whether all before it are stored. */
    async store(happening: Happening): Promise<boolean> {
      const concerns = happening.do === 'log' ? concernsOfEvent(happening.event) : concernsOf(happening);
      const isFull = events.browser.length >= mostEventsAtOnce || deeds.length >= mostDeedsAtOnce;
      const day = dayOf(happening.time);
      const mustWait = isFull || day !== lastDay || concerns.some((each) => each !== null && concerned.has(each));
      if (mustWait) await flush();
      lastDay = day;
      if (happening.do === 'log') {
        events[happening.by].push(happening.event);
        return mustWait;
      }
      deeds.push(happening);
      for (const each of concerns) concerned.add(each);
      return mustWait;
    },
  };
};

/**
 * Creates the account of the sample shop and fills it. Throws AlreadyFilled if there is one. When this is interrupted, `removeSampleShop`
 * removes what there is.
 */
export const fillSampleShop = async (
  store: Store,
  { seed = 1, now = Date.now(), size, onProgress = () => {} }: FillOptions = {},
): Promise<FilledShop> => {
  const found = await findSampleShop(store);
  if (found) throw new AlreadyFilled(found.accountUUID);
  const happenings = createMonth(seed, { now, ...(size && { size }) });
  const of = happenings.filter((each) => each.do === 'log').length;
  const made = await createSampleAccount(store, now - (sampleDays + 1) * dayMs);
  const { account, accountUUID, browserTokenUUID, serverTokenUUID } = made;
  const storing = createStoring(store, made);
  let events = 0;
  for (const happening of happenings) {
    if (await storing.store(happening)) onProgress({ events, of });
    if (happening.do === 'log') events += 1;
  }
  await storing.flush();
  // Last, so that a shop with segments is whole.
  for (const [nth, [segmentName, filter]] of segments.entries()) {
    const time = now - (20 - nth) * dayMs;
    await store.saveSegment({ account, segmentName, filter: JSON.stringify(filter), time });
  }
  onProgress({ events, of });
  const { usage } = await store.getAccount(account);
  return { accountUUID, accountName, browserTokenUUID, serverTokenUUID, ...usage };
};
