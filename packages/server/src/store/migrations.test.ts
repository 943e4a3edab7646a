import { expect, it } from 'vitest';
import { readMigrations } from './migrations.ts';

it.each(['sqlite', 'postgres'])('numbers the %s migrations consecutively', (driver) => {
  const numbers = readMigrations(new URL(`./${driver}/migrations/`, import.meta.url)).map(({ number }) => number);
  expect(numbers).toEqual(numbers.map((_, nth) => nth + 1));
});
