/** The passwords of members: which may be chosen, and their hashes. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Refusal } from '../../refusal.ts';

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

const problemOf = (password: string, emailaddress: string): string | undefined => {
  const characters = charactersOf(password);
  if (characters === undefined) return `must have at most ${mostCharacters} characters`;
  if (characters.length < leastCharacters) return `must have at least ${leastCharacters} characters: a few words do`;
  if (new Set(characters).size < leastDifferent) return `must have at least ${leastDifferent} different characters`;
  return password.toLowerCase().includes(emailaddress) ? 'must not hold the e-mail address' : undefined;
};

/** Throws a Refusal unless the text may be a password. */
export const checkPassword = (password: string, emailaddress: string): void => {
  const problem = problemOf(password, emailaddress);
  if (problem === undefined) return;
  throw new Refusal('invalid_field', { field: 'password', message: `\`password\` ${problem}` });
};

/**
 * The cost of a hash: 32 MiB and about 0.2 s of one core (OWASP Password Storage Cheat Sheet: scrypt with N = 2^15, r = 8, p = 3). It is
 * stored with each hash, in the PHC string format, so that a later version may raise it.
 */
const usualCost = { ln: 15, r: 8, p: 3 };
type Cost = typeof usualCost;
const saltBytes = 16;
const hashBytes = 32;
const form = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]{1,64})\$([\w+/]{1,64})$/;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

const toText = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

const hashWith = (password: string, salt: Buffer, { ln, r, p }: Cost): Promise<Buffer> =>
  derive(canonical(password), salt, hashBytes, { N: 2 ** ln, r, p, maxmem: 256 * 2 ** ln * r });

/** How many may wait for a hash, of all and of one address. Each takes a fifth of a second, so the last one waits some seconds. */
const mostWaiting = 20;
const mostOfOne = 3;

/** A test may take a lower cost. */
export const createPasswords = (cost: Cost = usualCost) => {
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

  /** Hashes nothing that anybody has. */
  const spend = (password: string, address: string) =>
    inTurn(address, () => hashWith(password, randomBytes(saltBytes), cost));

  const hash = (password: string, address: string): Promise<string> =>
    inTurn(address, async () => {
      const salt = randomBytes(saltBytes);
      const { ln, r, p } = cost;
      return `$scrypt$ln=${ln},r=${r},p=${p}$${toText(salt)}$${toText(await hashWith(password, salt, cost))}`;
    });

  return {
    hash,
    /** Whether a password has this hash. Takes as long where there is none, so that nobody learns who is a member. */
    async isRight(password: string, hashed: string | undefined, address: string): Promise<boolean> {
      if (charactersOf(password) === undefined) return false;
      const [, ln, r, p, salt = '', wanted = ''] = form.exec(hashed ?? '') ?? [];
      if (ln === undefined) {
        await spend(password, address);
        return false;
      }
      const stored = { ln: Number(ln), r: Number(r), p: Number(p) };
      const found = await inTurn(address, () => hashWith(password, Buffer.from(salt, 'base64'), stored));
      const expected = Buffer.from(wanted, 'base64');
      return found.length === expected.length && timingSafeEqual(found, expected);
    },
  };
};
export type Passwords = ReturnType<typeof createPasswords>;
