/** The passwords of members: which may be chosen, and their hashes. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Refusal } from '../../refusal.ts';

/** NIST SP 800-63B-4 section 3.1.1.2: at least 15 characters for a password that is the only factor. No rules of composition. */
export const leastCharacters = 15;
export const mostCharacters = 256;
/** Fewer different ones are a pattern rather than a password. */
const leastDifferent = 5;

/** In the form that is hashed: NFC, since keyboards write the same letter in several ways (NIST SP 800-63B-4 section 3.1.1.2). */
const canonical = (password: string): string => password.normalize('NFC');

/** Throws a Refusal unless the text may be a password. */
export const checkPassword = (password: string, emailaddress: string): void => {
  const characters = [...canonical(password.slice(0, mostCharacters + 1))];
  const lower = password.toLowerCase();
  const problem =
    characters.length < leastCharacters
      ? `must have at least ${leastCharacters} characters: a few words do`
      : characters.length > mostCharacters
        ? `must have at most ${mostCharacters} characters`
        : new Set(characters).size < leastDifferent
          ? `must have at least ${leastDifferent} different characters`
          : lower === emailaddress || lower === emailaddress.repeat(2)
            ? 'must not be the e-mail address'
            : undefined;
  if (problem !== undefined)
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

/** How many may wait for a hash. Each takes a fifth of a second, so the last one waits some seconds. */
const mostWaiting = 20;

/** A test may take a lower cost. */
export const createPasswords = (cost: Cost = usualCost) => {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  /** One hash at a time: each takes 32 MiB, and a thread that files are read with as well. */
  const inTurn = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (waiting >= mostWaiting) throw new Refusal('too_many_requests', { retryAfterSeconds: 5 });
    waiting += 1;
    const turn = last.then(work);
    last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      waiting -= 1;
    }
  };

  const hash = (password: string): Promise<string> =>
    inTurn(async () => {
      const salt = randomBytes(saltBytes);
      const { ln, r, p } = cost;
      return `$scrypt$ln=${ln},r=${r},p=${p}$${toText(salt)}$${toText(await hashWith(password, salt, cost))}`;
    });

  return {
    hash,
    /** Whether a password has this hash. Takes as long where there is none, so that nobody learns who is a member. */
    async isRight(password: string, hashed: string | undefined): Promise<boolean> {
      if (password.length > mostCharacters) return false;
      const [, ln, r, p, salt = '', wanted = ''] = form.exec(hashed ?? '') ?? [];
      if (ln === undefined) {
        await hash(password);
        return false;
      }
      const stored = { ln: Number(ln), r: Number(r), p: Number(p) };
      const found = await inTurn(() => hashWith(password, Buffer.from(salt, 'base64'), stored));
      const expected = Buffer.from(wanted, 'base64');
      return found.length === expected.length && timingSafeEqual(found, expected);
    },
  };
};
export type Passwords = ReturnType<typeof createPasswords>;
