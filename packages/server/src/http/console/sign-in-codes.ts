/** Codes of one-time links, with which the operator who started the server signs in. Only their hashes are stored, in memory. */
import { nanoid } from 'nanoid';
import { hashToken } from '../../ingest/token.ts';

const validMilliseconds = 10 * 60_000;
const maxCodes = 100;

/** `clock` is monotonic, in milliseconds. */
export const createSignInCodes = (clock = () => performance.now()) => {
  const codes = new Map<string, { readonly account: number; readonly until: number }>();
  return {
    /** Returns a code that signs in to the account once, within ten minutes. */
    issue(account: number): string {
      const code = nanoid(24);
      const [oldest] = codes.keys();
      if (codes.size >= maxCodes && oldest !== undefined) codes.delete(oldest);
      codes.set(hashToken(code), { account, until: clock() + validMilliseconds });
      return code;
    },
    /** Returns the account of a code, which is used then; undefined: it was used, is too old, or never was one. */
    take(code: string): number | undefined {
      const key = hashToken(code);
      const found = codes.get(key);
      codes.delete(key);
      return found && clock() < found.until ? found.account : undefined;
    },
  };
};
export type SignInCodes = ReturnType<typeof createSignInCodes>;
