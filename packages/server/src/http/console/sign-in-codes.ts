/** Codes for one-time sign-in links for the server's operator. Only their hashes are stored, in memory. */
import { nanoid } from 'nanoid';
import { hashToken } from '../../ingest/token.ts';

const validMilliseconds = 10 * 60_000;
const maxCodes = 100;

/** `clock` is monotonic, in milliseconds. */
export const createSignInCodes = (clock = () => performance.now()) => {
  const codes = new Map<string, { readonly account: number; readonly until: number }>();
  return {
    /** Returns a code that signs in to the account once, for ten minutes. */
    issue(account: number): string {
      const code = nanoid(24);
      const [oldest] = codes.keys();
      if (codes.size >= maxCodes && oldest !== undefined) codes.delete(oldest);
      codes.set(hashToken(code), { account, until: clock() + validMilliseconds });
      return code;
    },
    /** Uses up a code and returns its account; undefined if it was used before, has expired or never existed. */
    take(code: string): number | undefined {
      const key = hashToken(code);
      const entry = codes.get(key);
      codes.delete(key);
      return entry && clock() < entry.until ? entry.account : undefined;
    },
  };
};
export type SignInCodes = ReturnType<typeof createSignInCodes>;
