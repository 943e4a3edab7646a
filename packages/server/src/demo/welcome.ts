/** The message that `firsthand serve --demo` prints. */
import { ownPathAdvice, type PagePaths, scriptTag } from '../http/script-tag.ts';
import { demoAccountName } from './account.ts';
import type { Demo } from './demo.ts';

interface WelcomeOptions {
  /** The REST root, without a trailing slash. */
  readonly url: string;
  readonly databaseURL: string;
  readonly demo: Demo | undefined;
  /** Whether the documentation is served. */
  readonly docs: boolean;
  /** The one-time link that signs in to the console. */
  readonly consoleURL: string | undefined;
  readonly paths: PagePaths;
}

/** Includes the server token only if the account has just been created. */
export const welcome = ({ url, databaseURL, demo, docs, consoleURL, paths }: WelcomeOptions): string => {
  const file = /^sqlite:(.*)/.exec(databaseURL)?.[1];
  const storage =
    file === ':memory:'
      ? 'loses its data when it stops'
      : `keeps its data in ${file ?? 'the PostgreSQL database in DATABASE_URL'}`;
  const lines = ['', `Firsthand is running, and ${storage}`, ''];
  if (consoleURL)
    lines.push(
      `  Console     ${consoleURL}`,
      '              (a one-time link for this machine, valid for ten minutes)',
    );
  if (demo) lines.push(`  Demo page   ${url}/demo/`);
  lines.push(`  API         ${url}${docs ? '/docs/operations' : '/openapi.json'}`);
  if (docs) lines.push(`  Docs        ${url}/docs/`);
  // Commands can't access a database in memory.
  if (file !== ':memory:') lines.push('  Sample data npx firsthand demo-data    (creates an account with sample data)');
  if (!demo) {
    lines.push(
      '',
      `There is no demo page, because the database has accounts, but none named "${demoAccountName}".`,
      '',
    );
  } else {
    lines.push(
      '',
      ...(demo.serverToken === undefined
        ? [`The account "${demoAccountName}" already exists.`, '', `  Browser token   ${demo.browserToken}`]
        : [
            `The account "${demoAccountName}" was created. Its server token is secret, and shown only once:`,
            '',
            `  Browser token   ${demo.browserToken}`,
            `  Server token    ${demo.serverToken}`,
          ]),
      '',
      'Script tag, for the <head> of each page:',
      '',
      scriptTag(url, demo.browserToken, paths),
      '',
      ...ownPathAdvice,
      '',
      'Open a page with the tag, or the demo page, then read its events:',
      '',
      `  SERVER_TOKEN=${demo.serverToken ?? 'server_…    # lost? npx firsthand token create --help'}`,
      `  curl -H "Authorization: Bearer $SERVER_TOKEN" ${url}/event/getEvent`,
      '',
    );
  }
  return lines.join('\n');
};
