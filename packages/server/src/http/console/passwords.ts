/** The passwords of members: which may be chosen, and their hashes. */
import { type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Refusal } from '../../shared/refusal.ts';
import { isEasyToGuess } from './guessing.ts';

/** NIST SP 800-63B-4 section 3.1.1.2: at least 15 characters for a password that is the only factor. No rules of composition. */
const leastCharacters = 15;
const maxCharacters = 256;
/** A character has at most so many UTF-16 code units in any normal form (UAX #15, table 8). */
const maxUnits = maxCharacters * 4;
/** Fewer different ones are a pattern rather than a password. */
const leastDifferent = 5;

/** In the form that is hashed: NFC, since keyboards write the same letter in several ways (NIST SP 800-63B-4 section 3.1.1.2). */
const canonical = (password: string): string => password.normalize('NFC');

/** The characters that count; undefined if there are too many. */
const charactersOf = (password: string): readonly string[] | undefined => {
  if (password.length > maxUnits) return undefined;
  const characters = [...canonical(password)];
  return characters.length > maxCharacters ? undefined : characters;
};

/** What others know of the owner of a password. */
interface Known {
  readonly emailaddress: string;
  readonly memberName: string;
}

const problemOf = async (password: string, { emailaddress, memberName }: Known): Promise<string | undefined> => {
  const characters = charactersOf(password);
  if (characters === undefined) return tooLong;
  if (characters.length < leastCharacters) return `must have at least ${leastCharacters} characters: a few words do`;
  if (new Set(characters).size < leastDifferent) return `must have at least ${leastDifferent} different characters`;
  if (password.toLowerCase().includes(emailaddress)) return 'must not hold the e-mail address';
  return (await isEasyToGuess(canonical(password), [emailaddress, memberName]))
    ? 'is easy to guess, with names, common words, dates, repetitions or rows of keys; choose at least four words that do not belong together'
    : undefined;
};

const refused = (problem: string, field = 'password'): Refusal =>
  new Refusal('invalid_field', { field, message: `\`${field}\` ${problem}` });

const tooLong = `must have at most ${maxCharacters} characters`;

/** Throws a Refusal for a password that is too long to be hashed. */
export const checkLength = (password: string, field?: string): void => {
  if (charactersOf(password) === undefined) throw refused(tooLong, field);
};

/** Throws a Refusal unless the text may be a password. */
export const checkPassword = async (password: string, known: Known): Promise<void> => {
  const problem = await problemOf(password, known);
  if (problem !== undefined) throw refused(problem);
};

/**
 * The cost of a hash: 32 MiB and about 0.2 s of one core (OWASP Password Storage Cheat Sheet: scrypt with N = 2^15, r = 8, p = 3). It is
 * stored with each hash, in the PHC string format, so that a later version may raise it.
 */
const usualCost = { ln: 15, r: 8, p: 3 };
type Cost = typeof usualCost;
const hashBytes = 32;
/** A hash up to its last `$`: the cost and the salt. */
const headForm = /^(\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]{1,64})\$)[\w+/]{1,64}$/;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);
export type Derive = typeof derive;

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');
const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** The sender of a password that waits to be hashed. */
export interface Waiter {
  /** The hash of the network (/64 of IPv6), and of the /48 that it is in. */
  readonly address: string;
  readonly prefix: string;
  /** The account of a member who is known at this address, or of an invitation; absent for everyone else. */
  readonly account?: number | undefined;
}

/**
 * How many hashes may wait. Each takes a fifth of a second, so the last one waits 4 s. Half of the places are open to everyone, and the
 * others reserved for those whose account is known, so that no flood of strangers fills them, and no few accounts do.
 */
const maxWaiting = { open: 10, reserved: 10, ofAddress: 3, ofPrefix: 6, reservedOfAccount: 1 };

type Place = readonly (readonly [key: string, max: number])[];

/** The places that a hash may take, the first of which has room. */
const placesFor = ({ address, prefix, account }: Waiter): readonly Place[] => {
  const sender: Place = [
    [`address ${address}`, maxWaiting.ofAddress],
    [`prefix ${prefix}`, maxWaiting.ofPrefix],
  ];
  const open: Place = [...sender, ['open', maxWaiting.open]];
  if (account === undefined) return [open];
  return [open, [...sender, ['reserved', maxWaiting.reserved], [`account ${account}`, maxWaiting.reservedOfAccount]]];
};

/** A test may take a lower cost, and count what is derived. */
export const createPasswords = (cost: Cost = usualCost, deriving: Derive = derive) => {
  const waiting = new Map<string, number>();
  let last: Promise<unknown> = Promise.resolve();

  /** One hash at a time: each takes 32 MiB, and a thread that files are read with as well. */
  const inTurn = async <Value>(waiter: Waiter, work: () => Promise<Value>): Promise<Value> => {
    const place = placesFor(waiter).find((each) => each.every(([key, max]) => (waiting.get(key) ?? 0) < max));
    if (place === undefined) throw new Refusal('too_many_requests', { retryAfterSeconds: 5 });
    for (const [key] of place) waiting.set(key, (waiting.get(key) ?? 0) + 1);
    const turn = last.then(work);
    last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      for (const [key] of place) {
        const left = (waiting.get(key) ?? 1) - 1;
        if (left === 0) waiting.delete(key);
        else waiting.set(key, left);
      }
    }
  };

  const headWith = (salt: Uint8Array): string => `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${toText(salt)}$`;

  /** The hash of a password that begins so. */
  const hashFrom = (head: string, password: string, waiter: Waiter): Promise<string> =>
    inTurn(waiter, async () => {
      const [, , ln, r, p, salt] = headForm.exec(`${head}x`) as unknown as string[];
      const [N, blocks] = [2 ** Number(ln), Number(r)];
      const options = { N, r: blocks, p: Number(p), maxmem: 256 * N * blocks };
      const found = await deriving(canonical(password), Buffer.from(salt as string, 'base64'), hashBytes, options);
      return head + toText(found);
    });

  return {
    /** Throws Refusal('too_many_requests') if there is no place to wait. */
    hash: (password: string, salt: Uint8Array, waiter: Waiter): Promise<string> =>
      hashFrom(headWith(salt), password, waiter),

    /**
     * Which of these hashes are those of the password. Derives it once for all that have the same salt, and once where there is no hash:
     * so the time does not say how many there are, if all of an e-mail address have the salt of it. Throws as `hash` does.
     */
    async matching(
      password: string,
      hashes: readonly string[],
      salt: Uint8Array,
      waiter: Waiter,
    ): Promise<ReadonlySet<string>> {
      const heads = new Set(hashes.flatMap((hashed) => headForm.exec(hashed)?.[1] ?? []));
      if (heads.size === 0) heads.add(headWith(salt));
      const right = new Set<string>();
      for (const head of heads) {
        const found = await hashFrom(head, password, waiter);
        for (const hashed of hashes) if (isSame(hashed, found)) right.add(hashed);
      }
      return right;
    },
  };
};
export type Passwords = ReturnType<typeof createPasswords>;
