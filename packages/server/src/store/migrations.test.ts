import { expect, test } from 'vitest';
import { readMigrations } from './migrations.ts';

test.each(['sqlite', 'postgres'])('each migration of %s has a number of its own, and none is left out', (driver) => {
  const numbers = readMigrations(new URL(`./${driver}/migrations/`, import.meta.url)).map(({ number }) => number);
  expect(numbers).toEqual(numbers.map((_, nth) => nth + 1));
});
