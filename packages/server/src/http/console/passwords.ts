/** Members' passwords: which passwords are allowed, and how they are hashed. */
import { type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Refusal } from '../../shared/refusal.ts';
import { isEasyToGuess } from './password-strength.ts';

/** NIST SP 800-63B-4 section 3.1.1.2: at least 15 characters for a single-factor password, and no composition rules. */
const minCharacters = 15;
const maxCharacters = 256;
/** A character has at most four UTF-16 code units in any normalization form (UAX #15, table 8). */
const maxUnits = maxCharacters * 4;
/** A password with fewer distinct characters is just a pattern. */
const minDistinctCharacters = 5;

/**
 * Returns the NFC form, which is then hashed: keyboards encode some letters differently (NIST SP 800-63B-4 section
 * 3.1.1.2).
 */
const canonical = (password: string): string => password.normalize('NFC');

/** Returns the characters of the canonical form; undefined if there are too many. */
const charactersOf = (password: string): readonly string[] | undefined => {
  if (password.length > maxUnits) return undefined;
  const characters = [...canonical(password)];
  return characters.length > maxCharacters ? undefined : characters;
};

/** Facts about a password's owner that other people might know. */
interface PersonalFacts {
  readonly emailaddress: string;
  readonly memberName: string;
}

const findProblem = async (
  password: string,
  { emailaddress, memberName }: PersonalFacts,
): Promise<string | undefined> => {
  const characters = charactersOf(password);
  if (characters === undefined) return tooLong;
  if (characters.length < minCharacters) return `must have at least ${minCharacters} characters; try a few words`;
  if (new Set(characters).size < minDistinctCharacters)
    return `must have at least ${minDistinctCharacters} different characters`;
  if (password.toLowerCase().includes(emailaddress)) return 'must not contain the e-mail address';
  return (await isEasyToGuess(canonical(password), [emailaddress, memberName]))
    ? 'is easy to guess: avoid names, common words, dates, repetitions and keyboard rows; try four or more unrelated words'
    : undefined;
};

const toRefusal = (problem: string, field = 'password'): Refusal =>
  new Refusal('invalid_field', { field, message: `\`${field}\` ${problem}` });

const tooLong = `must have at most ${maxCharacters} characters`;

/** Throws a Refusal for a password that is too long to hash. */
export const checkLength = (password: string, field?: string): void => {
  if (charactersOf(password) === undefined) throw toRefusal(tooLong, field);
};

/** Throws a Refusal unless the password is allowed. */
export const checkPassword = async (password: string, facts: PersonalFacts): Promise<void> => {
  const problem = await findProblem(password, facts);
  if (problem !== undefined) throw toRefusal(problem);
};

/**
 * The cost of a hash: 32 MiB and about 0.2 s on one core (OWASP Password Storage Cheat Sheet: scrypt with N = 2^15, r =
 * 8, p = 3). The cost is stored with each hash in the PHC string format, so a later version can raise it.
 */
const defaultCost = { ln: 15, r: 8, p: 3 };
type Cost = typeof defaultCost;
const hashBytes = 32;
/** Captures a hash up to its last `$`: the cost and the salt. */
const headForm = /^(\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]{1,64})\$)[\w+/]{1,64}$/;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);
export type Derive = typeof derive;

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');
const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** The sender of a password that is queued for hashing. */
export interface Waiter {
  /** The hash of the network (IPv6: /64), and of its /48. */
  readonly address: string;
  readonly prefix: string;
  /** The account of a member known at this address, or of an invitation; absent for everyone else. */
  readonly account?: number | undefined;
}

/**
 * How many hashes may be queued. Each takes 0.2 s, so the last hash in a full queue waits 4 s. Half of the places are
 * open to everyone. The other half is reserved for known accounts, one place each, so neither strangers nor a few
 * accounts can fill the queue.
 */
const maxWaiting = { open: 10, reserved: 10, ofAddress: 3, ofPrefix: 6, reservedOfAccount: 1 };

type Place = readonly (readonly [key: string, max: number])[];

/** Returns the places that a hash may take, in order of preference. */
const placesFor = ({ address, prefix, account }: Waiter): readonly Place[] => {
  const sender: Place = [
    [`address ${address}`, maxWaiting.ofAddress],
    [`prefix ${prefix}`, maxWaiting.ofPrefix],
  ];
  const open: Place = [...sender, ['open', maxWaiting.open]];
  if (account === undefined) return [open];
  return [open, [...sender, ['reserved', maxWaiting.reserved], [`account ${account}`, maxWaiting.reservedOfAccount]]];
};

/** Tests pass a lower cost and a `deriving` that counts calls. */
export const createPasswords = (cost: Cost = defaultCost, deriving: Derive = derive) => {
  const waiting = new Map<string, number>();
  let last: Promise<unknown> = Promise.resolve();

  /** Runs one hash at a time: each takes 32 MiB and a libuv thread, and file reads need libuv threads too. */
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
        const remaining = (waiting.get(key) ?? 1) - 1;
        if (remaining === 0) waiting.delete(key);
        else waiting.set(key, remaining);
      }
    }
  };

  const headWith = (salt: Uint8Array): string => `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${toText(salt)}$`;

  /** Hashes a password with the cost and salt in `head`. */
  const hashFrom = (head: string, password: string, waiter: Waiter): Promise<string> =>
    inTurn(waiter, async () => {
      const [, , ln, r, p, salt] = headForm.exec(`${head}x`) as unknown as string[];
      const [N, blocks] = [2 ** Number(ln), Number(r)];
      const options = { N, r: blocks, p: Number(p), maxmem: 256 * N * blocks };
      const key = await deriving(canonical(password), Buffer.from(salt as string, 'base64'), hashBytes, options);
      return head + toText(key);
    });

  return {
    /** Rejects with Refusal('too_many_requests') if the queue is full. */
    hash: (password: string, salt: Uint8Array, waiter: Waiter): Promise<string> =>
      hashFrom(headWith(salt), password, waiter),

    /**
     * Returns the hashes that match the password. Rejects like `hash`. Hashes once per salt, and also once if there are
     * no hashes: all hashes for an e-mail address share a salt, so timing doesn't reveal how many there are.
     */
    async matching(
      password: string,
      hashes: readonly string[],
      salt: Uint8Array,
      waiter: Waiter,
    ): Promise<ReadonlySet<string>> {
      const heads = new Set(hashes.flatMap((hash) => headForm.exec(hash)?.[1] ?? []));
      if (heads.size === 0) heads.add(headWith(salt));
      const matches = new Set<string>();
      for (const head of heads) {
        const candidate = await hashFrom(head, password, waiter);
        for (const hash of hashes) if (isSame(hash, candidate)) matches.add(hash);
      }
      return matches;
    },
  };
};
export type Passwords = ReturnType<typeof createPasswords>;
