/**
 * The newest refused page of each account, as far as this server has seen, so that an owner learns why a tag is silent: one whose origin
 * accountOrigin does not list, and one that sent a secret token.
 */
import { BoundedMap } from '../../shared/bounded-map.ts';

interface RefusedOrigin {
  readonly origin: string;
  /** In milliseconds since 1970. */
  readonly time: number;
}

interface LeakedToken extends RefusedOrigin {
  readonly tokenID: string;
}

const maxAccounts = 1_000;
/** A host has at most 253 characters (RFC 1035), before it come `https://`, after it a port. */
const maxCharacters = 267;

/** Whether a text is the origin of a web page, as browsers send it: others are no help to an owner. */
const isWebOrigin = (origin: string): boolean =>
  origin.length <= maxCharacters &&
  /^https?:/.test(origin) &&
  URL.canParse(origin) &&
  new URL(origin).origin === origin;

const createNewest = <Page extends RefusedOrigin>() => {
  const newest = new BoundedMap<number, Page>(maxAccounts);
  return {
    note: (account: number, page: Page): void => {
      if (isWebOrigin(page.origin)) newest.set(account, page);
    },
    newestOf: (account: number): Page | undefined => newest.get(account),
  };
};

export const createRefusedPages = () => ({
  origins: createNewest<RefusedOrigin>(),
  leakedTokens: createNewest<LeakedToken>(),
});
export type RefusedPages = ReturnType<typeof createRefusedPages>;
