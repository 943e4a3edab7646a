import { expect, it } from 'vitest';
import type { Demo } from './demo.ts';
import { welcome } from './welcome.ts';

const url = 'http://127.0.0.1:3000';
const databaseURL = 'sqlite:./data/firsthand.db';
const demo: Demo = {
  browserToken: 'browser_of-the-demo',
  serverToken: 'server_of-the-demo',
  account: 1,
  addTo: () => {},
};
const paths = { trackerPath: '/main.js' };

it('prints the tokens of a new demo account, the script tag, and how to read events', () => {
  const text = welcome({ url, databaseURL, demo, docs: true, consoleURL: `${url}/console/#code=abc`, paths });
  expect(text).toContain('keeps its data in ./data/firsthand.db');
  expect(text).toContain(`Demo page   ${url}/demo/`);
  expect(text).toContain(`API         ${url}/docs/operations`);
  expect(text).toContain(`Docs        ${url}/docs/`);
  expect(text).toContain(`Console     ${url}/console/#code=abc`);
  expect(text).toContain('Sample data npx firsthand demo-data ');
  expect(text).toMatch(/Browser token {3}browser_of-the-demo\n {2}Server token {4}server_of-the-demo\n/);
  expect(text).toMatch(
    /<script async src="http:\/\/127\.0\.0\.1:3000\/main\.full\.js" data-token="browser_of-the-demo" data-page-views="Page viewed"><\/script>/,
  );
  expect(text).toContain(`${url}/event/getEvent`);
});

it('prints the script tag and the sign-in link on every start, but the server token only once', () => {
  const text = welcome({
    url,
    databaseURL,
    demo: { ...demo, serverToken: undefined },
    docs: false,
    consoleURL: `${url}/console/#code=def`,
    paths,
  });
  expect(text).toContain(`Demo page   ${url}/demo/`);
  expect(text).toContain(`Console     ${url}/console/#code=def`);
  expect(text).toContain('data-token="browser_of-the-demo" data-page-views="Page viewed">');
  expect(text).toContain('firsthand token create');
  expect(text).not.toMatch(/server_\w/);
});

it('explains why there is no demo page if the database has other accounts', () => {
  const text = welcome({ url, databaseURL, demo: undefined, docs: false, consoleURL: undefined, paths });
  expect(text).toContain('none named "My site"');
  expect(text).toContain(`API         ${url}/openapi.json`);
  expect(text).not.toMatch(/\/(demo|docs)\//);
});

it('warns that a database in memory loses its data', () => {
  const text = welcome({ url, databaseURL: 'sqlite::memory:', demo, docs: false, consoleURL: undefined, paths });
  expect(text).toContain('loses its data when it stops');
  expect(text).not.toContain('firsthand demo-data');
});
