/** The passwords of members: which may be chosen, and their hashes. */
import { type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Refusal } from '../../refusal.ts';
import { isEasyToGuess } from './guessing.ts';

/** NIST SP 800-63B-4 section 3.1.1.2: at least 15 characters for a password that is the only factor. No rules of composition. */
const leastCharacters = 15;
const mostCharacters = 256;
/** A character has at most so many UTF-16 code units in any normal form (UAX #15, table 8). */
const mostUnits = mostCharacters * 4;
/** Fewer different ones are a pattern rather than a password. */
const leastDifferent = 5;

/** In the form that is hashed: NFC, since keyboards write the same letter in several ways (NIST SP 800-63B-4 section 3.1.1.2). */
const canonical = (password: string): string => password.normalize('NFC');

/** The characters that count; undefined if there are too many. */
const charactersOf = (password: string): readonly string[] | undefined => {
  if (password.length > mostUnits) return undefined;
  const characters = [...canonical(password)];
  return characters.length > mostCharacters ? undefined : characters;
};

/** What others know of the owner of a password. */
interface Known {
  readonly emailaddress: string;
  readonly memberName: string;
}

const problemOf = async (password: string, { emailaddress, memberName }: Known): Promise<string | undefined> => {
  const characters = charactersOf(password);
  if (characters === undefined) return `must have at most ${mostCharacters} characters`;
  if (characters.length < leastCharacters) return `must have at least ${leastCharacters} characters: a few words do`;
  if (new Set(characters).size < leastDifferent) return `must have at least ${leastDifferent} different characters`;
  if (password.toLowerCase().includes(emailaddress)) return 'must not hold the e-mail address';
  return (await isEasyToGuess(canonical(password), [emailaddress, memberName]))
    ? 'is easy to guess, with names, common words, dates, repetitions or rows of keys; choose at least four words that do not belong together'
    : undefined;
};

/** Throws a Refusal unless the text may be a password. */
export const checkPassword = async (password: string, known: Known): Promise<void> => {
  const problem = await problemOf(password, known);
  if (problem === undefined) return;
  throw new Refusal('invalid_field', { field: 'password', message: `\`password\` ${problem}` });
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

/** How many may wait for a hash, of all and of one address. Each takes a fifth of a second, so the last one waits some seconds. */
const mostWaiting = 20;
const mostOfOne = 3;

/** A test may take a lower cost, and count what is derived. */
export const createPasswords = (cost: Cost = usualCost, deriving: Derive = derive) => {
  const waiting = new Map<string, number>();
  let last: Promise<unknown> = Promise.resolve();

  /** One hash at a time: each takes 32 MiB, and a thread that files are read with as well. */
  const inTurn = async <Value>(address: string, work: () => Promise<Value>): Promise<Value> => {
    const ofAll = [...waiting.values()].reduce((sum, count) => sum + count, 0);
    const ofOne = waiting.get(address) ?? 0;
    if (ofAll >= mostWaiting || ofOne >= mostOfOne) throw new Refusal('too_many_requests', { retryAfterSeconds: 5 });
    waiting.set(address, ofOne + 1);
    const turn = last.then(work);
    last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      const left = (waiting.get(address) ?? 1) - 1;
      if (left === 0) waiting.delete(address);
      else waiting.set(address, left);
    }
  };

  const headWith = (salt: Uint8Array): string => `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${toText(salt)}$`;

  /** The hash of a password that begins so. */
  const hashFrom = (head: string, password: string, address: string): Promise<string> =>
    inTurn(address, async () => {
      const [, , ln, r, p, salt] = headForm.exec(`${head}x`) as unknown as string[];
      const [N, blocks] = [2 ** Number(ln), Number(r)];
      const options = { N, r: blocks, p: Number(p), maxmem: 256 * N * blocks };
      const found = await deriving(canonical(password), Buffer.from(salt as string, 'base64'), hashBytes, options);
      return head + toText(found);
    });

  return {
    hash: (password: string, salt: Uint8Array, address: string): Promise<string> =>
      hashFrom(headWith(salt), password, address),

    /**
     * Which of these hashes are those of the password. Derives it once for all that have the same salt, and once where there is no hash:
     * so the time does not say how many there are, if all of an e-mail address have the salt of it.
     */
    async matching(
      password: string,
      hashes: readonly string[],
      salt: Uint8Array,
      address: string,
    ): Promise<ReadonlySet<string>> {
      if (charactersOf(password) === undefined) return new Set();
      const heads = new Set(hashes.flatMap((hashed) => headForm.exec(hashed)?.[1] ?? []));
      if (heads.size === 0) heads.add(headWith(salt));
      const right = new Set<string>();
      for (const head of heads) {
        const found = await hashFrom(head, password, address);
        for (const hashed of hashes) if (isSame(hashed, found)) right.add(hashed);
      }
      return right;
    },
  };
};
export type Passwords = ReturnType<typeof createPasswords>;
