import { CommanderError } from 'commander';
import { afterEach, expect, it, vi } from 'vitest';
import { BadConfiguration } from '../../config/config.ts';
import { Refusal } from '../../shared/refusal.ts';
import { exitCodeOf, explain, WrongUsage } from './command-errors.ts';

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

it('says where in the program to those who ask', () => {
  vi.stubEnv('DEBUG', '1');
  const error = new Error('no room');
  expect(explain(error)).toMatch(/^Error: no room\n +at .*command-errors\.isolated\.test\.ts/);
  delete error.stack;
  expect(explain(error)).toBe('no room');
});
