/** The text that `firsthand serve --demo` prints. */
import { ownPathAdvice, type PagePaths, scriptTag } from '../http/script-tag.ts';
import { demoAccountName } from './account.ts';
import type { Demo } from './demo.ts';

interface WelcomeOptions {
  /** The REST root, without a slash at its end. */
  readonly url: string;
  readonly databaseURL: string;
  readonly demo: Demo | undefined;
  /** Whether the server serves the documentation. */
  readonly docs: boolean;
  /** The link to the console that signs in once. */
  readonly consoleURL: string | undefined;
  readonly paths: PagePaths;
}

/** The text for the terminal. It has the server token only in the start that creates the account. */
export const welcome = ({ url, databaseURL, demo, docs, consoleURL, paths }: WelcomeOptions): string => {
  const file = /^sqlite:(.*)/.exec(databaseURL)?.[1];
  const keeps =
    file === ':memory:'
      ? 'forgets its data when it stops'
      : `keeps its data in ${file ?? 'the PostgreSQL of DATABASE_URL'}`;
  const lines = ['', `Firsthand is running, and ${keeps}`, ''];
  if (consoleURL)
    lines.push(
      `  Console     ${consoleURL}`,
      '              (this link signs in once, within ten minutes, on this machine)',
    );
  if (demo) lines.push(`  Demo page   ${url}/demo/`);
  lines.push(`  API         ${url}${docs ? '/docs/operations' : '/openapi.json'}`);
  if (docs) lines.push(`  Docs        ${url}/docs/`);
  // No command reaches a database in memory.
  if (file !== ':memory:')
    lines.push('  Sample data npx firsthand demo-data    (fills a sample shop, to look around in)');
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
        ? [`The account "${demoAccountName}" exists already.`, '', `  Browser token   ${demo.browserToken}`]
        : [
            `The account "${demoAccountName}" was created. Its server token is secret, and shown this once:`,
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
      'Open a page that has the tag, or the demo page, then read back what it logged:',
      '',
      `  SERVER_TOKEN=${demo.serverToken ?? 'server_…    # lost? npx firsthand token create --help'}`,
      `  curl -H "Authorization: Bearer $SERVER_TOKEN" ${url}/event/getEvent`,
      '',
    );
  }
  return lines.join('\n');
};
