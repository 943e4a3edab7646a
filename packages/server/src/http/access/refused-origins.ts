/**
 * The origins of pages that were refused because accountOrigin does not list them, so that an owner learns why a tag is silent: of each
 * account the newest one that this server has seen.
 */
import { BoundedMap } from '../../bounded-map.ts';

export interface RefusedOrigin {
  readonly origin: string;
  /** In milliseconds since 1970. */
  readonly time: number;
}

const mostAccounts = 1_000;
/** As long as an origin of an account may be. */
const mostCharacters = 255;

export const createRefusedOrigins = () => {
  const newest = new BoundedMap<number, RefusedOrigin>(mostAccounts);
  return {
    note: (account: number, { origin, time }: RefusedOrigin): void => {
      newest.set(account, { origin: origin.slice(0, mostCharacters), time });
    },
    newestOf: (account: number): RefusedOrigin | undefined => newest.get(account),
  };
};
export type RefusedOrigins = ReturnType<typeof createRefusedOrigins>;
