/**
 * Caches, for each account, the latest page on an origin that accountOrigin doesn't list, and the latest page that sent
 * a secret token. These pages show owners why a script tag records nothing.
 */
import { BoundedMap } from '../../shared/bounded-map.ts';

interface RefusedOrigin {
  readonly origin: string;
  /** When the page sent the request, in milliseconds since 1970. */
  readonly time: number;
}

interface LeakedToken extends RefusedOrigin {
  readonly tokenID: string;
}

const maxAccounts = 1_000;
/** `https://`, a host of at most 253 characters (RFC 1035), and a port. */
const maxCharacters = 267;

/**
 * Whether a string is the origin of a web page, in the form that browsers send. Other strings are of no use to an
 * owner.
 */
const isWebOrigin = (origin: string): boolean =>
  origin.length <= maxCharacters &&
  /^https?:/.test(origin) &&
  URL.canParse(origin) &&
  new URL(origin).origin === origin;

const createLatest = <Page extends RefusedOrigin>() => {
  const latest = new BoundedMap<number, Page>(maxAccounts);
  return {
    note: (account: number, page: Page): void => {
      if (isWebOrigin(page.origin)) latest.set(account, page);
    },
    latestOf: (account: number): Page | undefined => latest.get(account),
  };
};

export const createRefusedPages = () => ({
  origins: createLatest<RefusedOrigin>(),
  leakedTokens: createLatest<LeakedToken>(),
});
export type RefusedPages = ReturnType<typeof createRefusedPages>;
