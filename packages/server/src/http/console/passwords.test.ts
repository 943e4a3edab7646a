import { expect, it } from 'vitest';
import { createPasswords } from './passwords.ts';

const password = 'stone teapots sing at dawn';

it('knows a password by its hash, which is another one each time', async () => {
  const passwords = createPasswords();
  const [one, other] = [await passwords.hash(password), await passwords.hash(password)];
  expect(one).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(other).not.toBe(one);
  expect(await passwords.isRight(password, one)).toBe(true);
  expect(await passwords.isRight(`${password}!`, one)).toBe(false);
});

it('takes the same letter for the same, however a keyboard writes it', async () => {
  const passwords = createPasswords();
  const hash = await passwords.hash('ein Schluck Tee für Zoë');
  expect(await passwords.isRight('ein Schluck Tee für Zoë'.normalize('NFD'), hash)).toBe(true);
});

it('reads the cost from the hash, and takes no hash of another form', async () => {
  const passwords = createPasswords();
  // RFC 7914, section 12: the first 32 bytes of the vector with N = 16384, r = 8, p = 1.
  const vector = '$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofI';
  expect(await passwords.isRight('pleaseletmein', vector)).toBe(true);
  for (const other of ['', '$scrypt$', '$scrypt$ln=99,r=8,p=1$AA$AA$', vector.replace('scrypt', 'argon2id')])
    expect(await passwords.isRight('pleaseletmein', other)).toBe(false);
});

it('refuses what it can’t hash soon', async () => {
  const passwords = createPasswords();
  const results = await Promise.allSettled(Array.from({ length: 25 }, () => passwords.isRight(password, undefined)));
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(5);
  expect(await passwords.isRight(password, undefined)).toBe(false);
});
