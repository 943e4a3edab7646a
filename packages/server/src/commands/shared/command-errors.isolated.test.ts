import { userInfo } from 'node:os';
import { CommanderError } from 'commander';
import { afterEach, expect, it, vi } from 'vitest';
import { BadConfiguration } from '../../config/config.ts';
import { Refusal } from '../../shared/refusal.ts';
import { exitCodeOf, explain, WrongUsage, withCause } from './command-errors.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

it.each([
  [0, 'help that was asked for', new CommanderError(0, 'commander.help', 'help')],
  [2, 'a command that there is none of', new CommanderError(1, 'commander.unknownCommand', 'unknown')],
  [2, 'a flag that is wrong', new WrongUsage('wrong')],
  [2, 'a variable that is wrong', new BadConfiguration('wrong')],
  [1, 'whatever else went wrong', new Error('disk')],
  [1, 'what is no error', 'disk'],
])('ends with %i after %s', (code, _, error) => {
  expect(exitCodeOf(error)).toBe(code);
});

it('says what went wrong, and the field unless that is said', () => {
  expect(explain(new Error('no room'))).toBe('no room');
  expect(explain('no room')).toBe('no room');
  expect(explain(new Refusal('unknown_token', { field: 'tokenID', message: 'there is none' }))).toBe(
    'tokenID: there is none',
  );
  expect(explain(new Refusal('unknown_token', { field: 'tokenID', message: 'no such tokenID' }))).toBe(
    'no such tokenID',
  );
});

it('names the user who may not use a file', () => {
  const cause = Object.assign(new Error('EACCES: permission denied, open /x'), { code: 'EACCES' });
  const { username } = userInfo();
  expect(explain(cause)).toBe(`${cause.message} (this command runs as user ${username})`);
  expect(explain(new Error('/x cannot be made', { cause }))).toBe(
    `/x cannot be made (this command runs as user ${username})`,
  );
});

it.each([
  ['sqlite:/srv/x.db', 'SQLITE_FULL', 'database or disk is full', 'no room on the disk of /srv/x.db'],
  ['sqlite:/srv/x.db', 'SQLITE_BUSY', 'database is locked', '/srv/x.db cannot be written to now: database is locked'],
  ['postgres://u:secret@db/x', '53100', 'disk full', 'PostgreSQL has no room: disk full'],
  ['postgres://u:secret@db/x', '53300', 'too many clients', 'PostgreSQL cannot do this now: too many clients'],
  ['postgres://u:secret@db/x', '55P03', 'lock timeout', 'PostgreSQL cannot do this now: lock timeout'],
  ['postgres://u:secret@db/x', 'ECONNREFUSED', '', 'PostgreSQL does not answer: ECONNREFUSED'],
])('gives the cause of a failed write to %s with %s', (databaseURL, code, text, message) => {
  const cause = Object.assign(new Error(text), { code });
  expect(withCause(new Refusal('unavailable', { cause }), databaseURL)).toMatchObject({ message });
  const other = new Refusal('unknown_token');
  expect(withCause(other, databaseURL)).toBe(other);
});

it('says where in the program to those who ask', () => {
  vi.stubEnv('DEBUG', '1');
  const error = new Error('no room');
  expect(explain(error)).toMatch(/^Error: no room\n +at .*command-errors\.isolated\.test\.ts/);
  delete error.stack;
  expect(explain(error)).toBe('no room');
});
