import { expect, it } from 'vitest';
import { checkPassword, createPasswords } from './passwords.ts';

const here = '192.0.2.1';
const cheap = { ln: 4, r: 8, p: 1 };

const password = 'stone teapots sing at dawn';

it('knows a password by its hash, which is another one each time', async () => {
  const passwords = createPasswords();
  const [one, other] = [await passwords.hash(password, here), await passwords.hash(password, here)];
  expect(one).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(other).not.toBe(one);
  expect(await passwords.isRight(password, one, here)).toBe(true);
  expect(await passwords.isRight(`${password}!`, one, here)).toBe(false);
});

it('takes the same letter for the same, however a keyboard writes it', async () => {
  const passwords = createPasswords(cheap);
  const hash = await passwords.hash('ein Schluck Tee für Zoë', here);
  expect(await passwords.isRight('ein Schluck Tee für Zoë'.normalize('NFD'), hash, here)).toBe(true);
});

it('reads the cost from the hash, and takes no hash of another form', async () => {
  const passwords = createPasswords(cheap);
  // RFC 7914, section 12: the first 32 bytes of the vector with N = 16384, r = 8, p = 1.
  const vector = '$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofI';
  expect(await passwords.isRight('pleaseletmein', vector, here)).toBe(true);
  for (const other of ['', '$scrypt$', '$scrypt$ln=99,r=8,p=1$AA$AA$', vector.replace('scrypt', 'argon2id')])
    expect(await passwords.isRight('pleaseletmein', other, here)).toBe(false);
});

it('refuses what it can’t hash soon: of one address beyond three, of all beyond twenty', async () => {
  const passwords = createPasswords(cheap);
  const ask = (address: string) => passwords.isRight(password, undefined, address);
  const refusedOf = async (asked: readonly Promise<boolean>[]) =>
    (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected').length;
  expect(await refusedOf(Array.from({ length: 5 }, () => ask(here)))).toBe(2);
  expect(await refusedOf(Array.from({ length: 25 }, (_, nth) => ask(`192.0.2.${nth}`)))).toBe(5);
  expect(await ask(here)).toBe(false);
});

it.each([
  ['of fifteen characters', 'fifteen letters', undefined],
  ['of fourteen', 'fourteen chars', 'at least 15'],
  ['of 256 characters outside of UTF-16’s first plane', '🫖🍵🍋🌿🫗'.repeat(52).slice(0, 512), undefined],
  ['of 257', '🫖🍵🍋🌿🫗'.repeat(52).slice(0, 514), 'at most 256'],
  ['of 256 letters whose accents are characters of their own', 'áéíóú'.normalize('NFD').repeat(51), undefined],
  ['of endless length', 'abcde'.repeat(100_000), 'at most 256'],
  ['of few different characters', 'abababababababab', 'different'],
  ['that holds the e-mail address', 'my Ben@Shop.example!', 'e-mail address'],
])('takes or refuses a password %s, with the reason', async (_, given, problem) => {
  const passwords = createPasswords(cheap);
  if (problem === undefined) {
    checkPassword(given, 'ben@shop.example');
    expect(await passwords.isRight(given, await passwords.hash(given, here), here)).toBe(true);
  } else expect(() => checkPassword(given, 'ben@shop.example')).toThrow(problem);
});
