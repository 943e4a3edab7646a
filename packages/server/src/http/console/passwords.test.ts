import { randomBytes } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { checkLength, checkPassword, createPasswords, type Derive, type Passwords, type Waiter } from './passwords.ts';

const here = { address: '192.0.2.1', prefix: '192.0.2.1' };
const cheap = { ln: 4, r: 8, p: 1 };

const password = 'stone teapots sing at dawn';

const salt = randomBytes(16);
const isMatch = async (passwords: Passwords, text: string, hash: string) =>
  (await passwords.matching(text, [hash], salt, here)).has(hash);

it('verifies a password by its hash, at the default cost', async () => {
  const passwords = createPasswords();
  const hash = await passwords.hash(password, salt, here);
  expect(hash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(await isMatch(passwords, password, hash)).toBe(true);
});

it('verifies a password by hashes with different salts', async () => {
  const passwords = createPasswords(cheap);
  const [one, other] = [
    await passwords.hash(password, salt, here),
    await passwords.hash(password, randomBytes(16), here),
  ];
  expect(other).not.toBe(one);
  expect(await passwords.matching(password, [one, other], salt, here)).toEqual(new Set([one, other]));
  expect(await passwords.matching(`${password}!`, [one, other], salt, here)).toEqual(new Set());
});

it('treats composed and decomposed Unicode characters as equal', async () => {
  const passwords = createPasswords(cheap);
  const hash = await passwords.hash('ein Schluck Tee für Zoë', salt, here);
  expect(await isMatch(passwords, 'ein Schluck Tee für Zoë'.normalize('NFD'), hash)).toBe(true);
});

it('reads the cost from the hash, and rejects hashes of other formats', async () => {
  const passwords = createPasswords(cheap);
  // RFC 7914, section 12: the first 32 bytes of the vector with N = 16384, r = 8, p = 1.
  const vector = '$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofI';
  expect(await isMatch(passwords, 'pleaseletmein', vector)).toBe(true);
  for (const other of ['', '$scrypt$', '$scrypt$ln=99,r=8,p=1$AA$AA$', vector.replace('scrypt', 'argon2id')])
    expect(await isMatch(passwords, 'pleaseletmein', other)).toBe(false);
});

it('derives one key for all hashes with the same salt, and also one if there are no hashes', async () => {
  const derive: Derive = vi.fn(async () => Buffer.alloc(32, 1));
  const passwords = createPasswords(cheap, derive);
  const hash = await passwords.hash(password, salt, here);
  const wrong = hash.replace(/.{4}$/, 'AAAA');
  for (const hashes of [[], [hash], [wrong], [wrong, hash, wrong, hash, wrong]]) {
    vi.mocked(derive).mockClear();
    const matches = await passwords.matching(password, hashes, salt, here);
    expect([...matches]).toEqual(hashes.includes(hash) ? [hash] : []);
    expect(vi.mocked(derive).mock.calls).toEqual([[password, salt, 32, { N: 16, r: 8, p: 1, maxmem: 32_768 }]]);
  }
});

describe('queued hashes', () => {
  const passwords = createPasswords(cheap);
  /** Requests all hashes concurrently, and counts the requests that get a place in the queue. */
  const countPlaces = async (waiters: readonly Waiter[]) => {
    const hashes = waiters.map((waiter) => passwords.matching(password, [], salt, waiter));
    return (await Promise.allSettled(hashes)).filter(({ status }) => status === 'fulfilled').length;
  };
  const many = (count: number, waiter: (nth: number) => Partial<Waiter>): Waiter[] =>
    Array.from({ length: count }, (_, nth) => ({ address: `${nth}`, prefix: `${nth}`, ...waiter(nth) }));
  const strangers = many(40, () => ({}));

  it.each([
    ['three from one address', many(9, () => here), 3],
    ['six from one /48', many(40, () => ({ prefix: '2001:db8:1' })), 6],
    ['ten from unknown clients', strangers, 10],
    [
      'one more for a known account',
      [...strangers, ...many(3, (nth) => ({ address: `known ${nth}`, account: 1 }))],
      11,
    ],
    [
      'twenty in total',
      [...strangers, ...many(40, (nth) => ({ address: `known ${nth}`, prefix: `known ${nth}`, account: nth }))],
      20,
    ],
    ['ten for a known account, if there is room', many(12, () => ({ account: 1 })), 11],
  ])('have places for %s', async (_, waiters, places) => {
    expect(await countPlaces(waiters)).toBe(places);
    // All places are available again.
    expect(await countPlaces(strangers)).toBe(10);
  });
});

const owner = { emailaddress: 'ben.lime@shop.example', memberName: 'Benjamin Grvance' };

/** Returns `count` of these characters in a non-repeating order. */
const mixed = (characters: string, count: number): string =>
  Array.from({ length: count }, (_, nth) => [...characters][Math.floor(Math.abs(Math.sin(nth)) * 1_000) % 5]).join('');

it.each([
  ['of fifteen characters', 'my quiet teapot', undefined],
  ['of fourteen', 'fourteen chars', 'at least 15'],
  ['of 256 characters outside the Basic Multilingual Plane', mixed('🫖🍵🍋🌿🫗', 256), undefined],
  ['of 257', mixed('🫖🍵🍋🌿🫗', 257), 'at most 256'],
  ['of 255 letters with combining accents', mixed('áéíóú', 255).normalize('NFD'), undefined],
  ['of 500,000 characters', 'abcde'.repeat(100_000), 'at most 256'],
  ['with few different characters', 'abababababababab', 'different'],
  ['that many people use', 'WorldOfWarcraft', 'easy to guess'],
  ['that many people use, with spaces', '1qaz 2wsx 3edc 4rfv', 'easy to guess'],
  ['that is two common words', 'fifteen letters', 'easy to guess'],
  ['that is a common word followed by digits in a row', 'password1234567', 'easy to guess'],
  ['that is a season and a year, twice', 'Summer2024-Summer2024', 'easy to guess'],
  ['that is a common word with substituted letters', 'P@55w0rd.P@55w0rd', 'easy to guess'],
  ['that is the address without punctuation', 'ben lime shop example', 'easy to guess'],
  ['that is the owner’s name and a year', 'Grvance-Benjamin1987', 'easy to guess'],
  ['that consists of two dates', '24.12.1999 - 31.12.1999', 'easy to guess'],
  ['that is one word, twice', 'Teapot2-teapot2-', 'easy to guess'],
  ['that repeats one word two and a half times', 'password1password1pass', 'easy to guess'],
  ['that is a keyboard row', '1qaz2wsx3edc4rfv', 'easy to guess'],
  ['of two keyboard rows', 'qwertyuiop12345678', 'easy to guess'],
  ['that is the alphabet', 'abcdefghijklmnop', 'easy to guess'],
  ['of words whose letters are adjacent on a keyboard', 'we were as free as deer', undefined],
  ['of words', 'correct horse battery staple', undefined],
  ['of random characters', 'vX9-kq_Lw2.eTz7R', undefined],
  ['of separators, which comparisons ignore', '_. -\t.-_ \t_ ._-\v. \t-', undefined],
  ['of separators in a repeating pattern', '. _-\t. _-\t. _-\t', 'easy to guess'],
  ['that contains the e-mail address', 'my Ben.Lime@Shop.example!', 'e-mail address'],
])('accepts a password %s, or rejects it with the reason', async (_, text, problem) => {
  const passwords = createPasswords(cheap);
  if (problem === undefined) {
    await checkPassword(text, owner);
    expect(await isMatch(passwords, text, await passwords.hash(text, salt, here))).toBe(true);
  } else await expect(checkPassword(text, owner)).rejects.toThrow(problem);
});

it('rejects passwords of more than 256 characters before hashing', () => {
  expect(() => checkLength('x'.repeat(257))).toThrow('at most 256 characters');
  expect(() => checkLength('🫖'.repeat(256))).not.toThrow();
});
