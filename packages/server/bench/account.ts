/** Benchmark accounts and their tokens. */
import { hashToken } from '../src/ingest/token.ts';
import { openStore } from '../src/store/open.ts';
import type { NewToken, Store, StoreCaller } from '../src/store/store.ts';

export const serverToken = 'server_for_the_benchmark_only_0000';
export const browserToken = 'browser_for_the_benchmark_only_000';

/** The nth account's server token. */
export const toServerToken = (nth: number): string => (nth === 0 ? serverToken : `${serverToken}_${nth}`);

const newToken = (kind: 'server' | 'browser', nth: number, text: string, time: number): NewToken => ({
  tokenID: `benchmark-${kind}${nth === 0 ? '' : `-${nth}`}`,
  kind,
  tokenName: '',
  hash: hashToken(text),
  text: kind === 'browser' ? text : null,
  time,
});

/** Creates the nth benchmark account. */
export const createBenchmarkAccount = (store: Store, time: number, nth = 0): Promise<unknown> =>
  store.createAccount({
    accountUUID: nth === 0 ? 'benchmark' : `benchmark-${nth}`,
    accountName: 'Benchmark',
    accountOrigin: [],
    accountTimezone: 'UTC',
    accountCurrency: '',
    strict: false,
    browserCatalogue: false,
    enrich: true,
    defaultProfileID: '',
    userIDIsEmailaddress: false,
    catalogues: {},
    tokens: [
      newToken('server', nth, toServerToken(nth), time),
      newToken('browser', nth, nth === 0 ? browserToken : `${browserToken}_${nth}`, time),
    ],
    contacts: [],
    time,
  });

/** Returns the caller with the nth account's server token. Throws if the account does not exist. */
export const findCaller = async (store: Store, nth = 0): Promise<StoreCaller> => {
  const access = await store.findAccess(hashToken(toServerToken(nth)));
  if (access === undefined || access.account === null) throw new Error('a benchmark account does not exist');
  return { account: access.account, token: access.token, browser: false };
};

/** Opens the store in a file or at a URL, and creates the account at `time` if it is missing. */
export const openBenchmark = async (
  path: string,
  time = Date.now(),
): Promise<{ store: Store; caller: StoreCaller }> => {
  const onFatal = (error: Error) => {
    throw error;
  };
  const databaseURL = path.startsWith('postgres://') ? path : `sqlite:${path}`;
  const store = await openStore({ databaseURL, role: 'server', onFatal });
  if (!(await store.findAccess(hashToken(serverToken)))) {
    await createBenchmarkAccount(store, time);
  }
  return { store, caller: await findCaller(store) };
};
