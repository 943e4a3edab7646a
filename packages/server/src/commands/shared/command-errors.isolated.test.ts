import { userInfo } from 'node:os';
import { CommanderError } from 'commander';
import { afterEach, expect, it, vi } from 'vitest';
import { BadConfiguration } from '../../config/config.ts';
import { Refusal } from '../../shared/refusal.ts';
import { explain, toExitCode, UsageError, withCause } from './command-errors.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

it.each([
  [0, 'help', new CommanderError(0, 'commander.help', 'help')],
  [2, 'an unknown command', new CommanderError(1, 'commander.unknownCommand', 'unknown')],
  [2, 'an invalid flag', new UsageError('wrong')],
  [2, 'an invalid variable', new BadConfiguration('wrong')],
  [1, 'any other error', new Error('disk')],
  [1, 'a thrown value that is not an Error', 'disk'],
])('exits with %i after %s', (code, _, error) => {
  expect(toExitCode(error)).toBe(code);
});

it('prints an error’s message, and adds the name of the field unless the message contains it', () => {
  expect(explain(new Error('no room'))).toBe('no room');
  expect(explain('no room')).toBe('no room');
  expect(explain(new Refusal('unknown_token', { field: 'tokenID', message: 'there is none' }))).toBe(
    'tokenID: there is none',
  );
  expect(explain(new Refusal('unknown_token', { field: 'tokenID', message: 'no such tokenID' }))).toBe(
    'no such tokenID',
  );
});

it('names the user who lacks permission for a file', () => {
  const cause = Object.assign(new Error('EACCES: permission denied, open /x'), { code: 'EACCES' });
  const { username } = userInfo();
  expect(explain(cause)).toBe(`${cause.message} (this command runs as user ${username})`);
  expect(explain(new Error('/x cannot be made', { cause }))).toBe(
    `/x cannot be made (this command runs as user ${username})`,
  );
});

it.each([
  ['sqlite:/srv/x.db', 'SQLITE_FULL', 'database or disk is full', 'the disk of /srv/x.db is full'],
  ['sqlite:/srv/x.db', 'SQLITE_BUSY', 'database is locked', 'cannot write to /srv/x.db now: database is locked'],
  ['postgres://u:secret@db/x', '53100', 'disk full', 'PostgreSQL has no disk space: disk full'],
  ['postgres://u:secret@db/x', '53300', 'too many clients', 'PostgreSQL cannot do this now: too many clients'],
  ['postgres://u:secret@db/x', '55P03', 'lock timeout', 'PostgreSQL cannot do this now: lock timeout'],
  ['postgres://u:secret@db/x', 'ECONNREFUSED', '', 'PostgreSQL does not respond: ECONNREFUSED'],
])('explains a failed write to %s with code %s', (databaseURL, code, text, message) => {
  const cause = Object.assign(new Error(text), { code });
  expect(withCause(new Refusal('unavailable', { cause }), databaseURL)).toMatchObject({ message });
  const other = new Refusal('unknown_token');
  expect(withCause(other, databaseURL)).toBe(other);
});

it('prints the stack if DEBUG is set', () => {
  vi.stubEnv('DEBUG', '1');
  const error = new Error('no room');
  expect(explain(error)).toMatch(/^Error: no room\n +at .*command-errors\.isolated\.test\.ts/);
  delete error.stack;
  expect(explain(error)).toBe('no room');
});
