import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/command.ts';
import { BadConfiguration } from './config.ts';
import { parseEnvironmentFile, setInEnvironmentFile } from './environment-file.ts';

const parse = (text: string) => parseEnvironmentFile(text, 'firsthand.env');

/** Returns the variables that a POSIX shell reads from a file. */
const readByShell = (file: string, names: readonly string[]): Record<string, string> => {
  const print = names.map((name) => `printf '%s\\0' "$${name}"`).join('; ');
  const values = execFileSync('sh', ['-c', `. "$0"; ${print}`, file], { encoding: 'utf8' }).split('\0');
  return Object.fromEntries(names.map((name, index) => [name, values[index] as string]));
};

describe('parseEnvironmentFile', () => {
  it('reads quoted and unquoted values, and ignores comments and empty lines', () => {
    const text = `# DATABASE_URL=sqlite:old.db
DATABASE_URL=sqlite:/var/lib/firsthand/firsthand.db

  # A comment
RATE_LIMIT='address=200/2000, user=1/10'
BACKUP_DIR="/var/backups/a b"\t
OPERATOR_TOKEN=
PORT=1
PORT=2`;
    expect(parse(text)).toEqual({
      DATABASE_URL: 'sqlite:/var/lib/firsthand/firsthand.db',
      RATE_LIMIT: 'address=200/2000, user=1/10',
      BACKUP_DIR: '/var/backups/a b',
      OPERATOR_TOKEN: '',
      PORT: '2',
    });
  });

  it.each([
    ...[
      'export PORT=1',
      'PORT = 1',
      'PORT= 1',
      'PORT',
      '1PORT=1',
      ' PORT=1',
      '; comment',
      'PORT=1 # comment',
      'PORT=1\r',
    ],
    ...[
      'URL=a;b',
      'URL=a&b',
      'URL=$HOME',
      'URL="$HOME"',
      'URL=`id`',
      'URL=$(id)',
      'URL="a\\n"',
      "URL='a\\n'",
      'URL=a\\',
    ],
    ...["URL='a'b", 'URL="a""b"', "URL='a", 'URL=~/x', 'URL=a b', 'URL="a'],
  ])('rejects the line %j, which systemd and a shell could read differently', (line) => {
    expect(() => parse(`PORT=3000\n${line}`)).toThrow(BadConfiguration);
    expect(() => parse(`PORT=3000\n${line}`)).toThrow(/^line 2 of firsthand\.env is not NAME=value: /);
  });

  it('does not quote a value, because it might be secret', () => {
    expect(() => parse('OPERATOR_TOKEN = operator_secret')).not.toThrow(/operator_secret/);
  });

  it('reads the same values as a shell', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'firsthand.env');
    const value = fc.string({ unit: fc.constantFrom(...'aZ0_@%+=:,./- \'"\\$`~#;&!*?{}[]()<>|^é\t\n\r') });
    const quoted = fc.tuple(fc.constantFrom('', "'", '"'), value).map(([quote, text]) => quote + text + quote);
    let read = 0;
    fc.assert(
      fc.property(fc.array(quoted, { minLength: 1, maxLength: 40 }), (values) => {
        const lines = values.flatMap((text, index) => {
          try {
            return [[`V${index}`, text, parse(`V${index}=${text}`)] as const];
          } catch {
            return [];
          }
        });
        // Excludes values with a line break, because their lines might look like separate assignments.
        const whole = lines.filter(([, text]) => !text.includes('\n'));
        writeFileSync(file, whole.map(([name, text]) => `${name}=${text}\n`).join(''));
        const names = whole.map(([name]) => name);
        const expected = Object.assign({}, ...whole.map(([, , parsed]) => parsed));
        read += names.length;
        expect(names.length === 0 ? {} : readByShell(file, names)).toEqual(expected);
      }),
      { numRuns: 30 },
    );
    expect(read).toBeGreaterThan(30);
  });
});

describe('setInEnvironmentFile', () => {
  const template = '# Settings\nPORT=3000\n#CONSOLE_ORIGIN=https://firsthand.shop.example\n';

  it('replaces a variable’s line or its commented-out example, appends others, and keeps the rest', () => {
    const variables = { CONSOLE_ORIGIN: 'https://events.tea.example', PORT: '4000', BACKUP_DIR: '/a b' };
    expect(setInEnvironmentFile(template, variables)).toBe(
      "# Settings\nPORT=4000\nCONSOLE_ORIGIN=https://events.tea.example\nBACKUP_DIR='/a b'\n",
    );
  });

  it('writes values that parseEnvironmentFile reads back, or throws', () => {
    const variables = { PORT: '1', RATE_LIMIT: 'address=1/2, user=$1&"', DATABASE_URL: "postgres://a'b" };
    expect(parse(setInEnvironmentFile('PORT=2', variables))).toEqual(variables);
    for (const value of ['a\nPORT=1', 'a\\', `'"`, `'$`])
      expect(() => setInEnvironmentFile('', { BACKUP_DIR: value })).toThrow(BadConfiguration);
  });
});
