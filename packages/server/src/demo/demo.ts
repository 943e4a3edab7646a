/** The demo: a shop page with the script tag, and a panel with the data that the service stores about this browser. */
import type { Hono } from 'hono';
import type { PagePaths } from '../http/script-tag.ts';
import { type DemoAccount, openDemoAccount } from './account.ts';
import { createPage } from './page.ts';
import { responseHeaders } from './response-headers.ts';
import { createStream, type StreamOptions } from './stream.ts';

export interface Demo extends Pick<DemoAccount, 'browserToken' | 'serverToken'> {
  /** The number of the demo's account. */
  readonly account: number;
  /** Adds the demo's pages under `basePath`, which ends in a slash. */
  addTo(app: Hono, basePath: string): void;
}

/** Opens the demo. Returns undefined if the database has other accounts but not the demo's. */
export const openDemo = async ({
  paths,
  ...options
}: Omit<StreamOptions, 'caller'> & { readonly paths: PagePaths }): Promise<Demo | undefined> => {
  const account = await openDemoAccount(options.store, Date.now());
  if (!account) return undefined;
  const { caller, browserToken, serverToken } = account;
  const page = createPage(browserToken, paths);
  const stream = createStream({ ...options, caller });
  return {
    account: caller.account,
    browserToken,
    serverToken,
    addTo: (app, basePath) => {
      app.get(`${basePath}demo/`, page);
      app.get(`${basePath}demo/stream`, stream);
      const roots = new Set([basePath, basePath.replace(/(?<=.)\/$/, ''), `${basePath}demo`]);
      const headers = { ...responseHeaders, Location: `${basePath}demo/` };
      for (const path of roots) app.get(path, (c) => c.body(null, 302, headers));
    },
  };
};
