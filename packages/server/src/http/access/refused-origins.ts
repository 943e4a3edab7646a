/**
 * The origins of pages that were refused because accountOrigin does not list them, so that an owner learns why a tag is silent: of each
 * account the newest one that this server has seen.
 */
import { BoundedMap } from '../../shared/bounded-map.ts';

interface RefusedOrigin {
  readonly origin: string;
  /** In milliseconds since 1970. */
  readonly time: number;
}

const mostAccounts = 1_000;
/** A host has at most 253 characters (RFC 1035), before it come `https://`, after it a port. */
const mostCharacters = 267;

/** Whether a text is the origin of a web page, as browsers send it: others are no help to an owner. */
const isWebOrigin = (origin: string): boolean =>
  origin.length <= mostCharacters &&
  /^https?:/.test(origin) &&
  URL.canParse(origin) &&
  new URL(origin).origin === origin;

export const createRefusedOrigins = () => {
  const newest = new BoundedMap<number, RefusedOrigin>(mostAccounts);
  return {
    note: (account: number, { origin, time }: RefusedOrigin): void => {
      if (isWebOrigin(origin)) newest.set(account, { origin, time });
    },
    newestOf: (account: number): RefusedOrigin | undefined => newest.get(account),
  };
};
export type RefusedOrigins = ReturnType<typeof createRefusedOrigins>;
