/** Lists the console's views to take screenshots of: each page, and what opens over pages. */
import type { Page } from 'playwright-core';
import type { SampleServer } from './sample-server.ts';

/** `empty` is an account without data, `full` the sample shop, and `error` a server that refuses requests. */
export const states = ['empty', 'full', 'error'] as const;
export type State = (typeof states)[number];

export interface View {
  readonly name: string;
  /** The path below `/console/`. */
  readonly path: string;
  /** The states in which to show the view; by default, all of them. */
  readonly only?: readonly State[];
  /** Whether to show the view before signing in. */
  readonly isSignedOut?: boolean;
  /** Actions to perform before the screenshot. */
  readonly act?: (page: Page) => Promise<unknown>;
}

const full: readonly State[] = ['full'];
const steps = 'steps=2,3,4,5';
/** Adds parameters with JSON values to a path. */
const withQuery = (path: string, parameters: Readonly<Record<string, unknown>>): string =>
  Object.entries(parameters).reduce(
    (address, [name, value]) =>
      `${address}${address.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(JSON.stringify(value))}`,
    path,
  );

const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).first().click();

const openViews = (page: Page) => page.locator('.views-menu > summary').click();

/** Lists the views. The live page is first, while the sample shop's visitors are still active. */
export const listPictureViews = ({ ada, anonymous }: Pick<SampleServer, 'ada' | 'anonymous'>): readonly View[] => [
  { name: 'live', path: 'live' },
  { name: 'live-opened', path: 'live', only: full, act: (page) => page.locator('.event-name').nth(2).click() },
  { name: 'overview', path: '' },
  { name: 'overview-compared', path: '?range=7d&compare=previous&measure=sessions', only: full },
  {
    name: 'overview-filtered',
    path: withQuery('', {
      filter: [
        { attrID: '$device', is: ['phone'] },
        { attrID: 'utm_campaign', is: ['tea-letter'] },
      ],
    }),
    only: full,
  },
  { name: 'overview-views', path: '', only: full, act: openViews },
  {
    name: 'overview-sharing',
    path: '',
    only: full,
    act: async (page) => {
      await openViews(page);
      await press('Share this view…')(page);
    },
  },
  { name: 'events-explore', path: 'events' },
  { name: 'events-explore-by-campaign', path: 'events?event=5&by=attr:utm_campaign', only: full },
  { name: 'events-funnel', path: `events?tab=funnel&${steps}`, only: ['full', 'error'] },
  { name: 'events-funnel', path: 'events?tab=funnel', only: ['empty'] },
  { name: 'events-retention', path: 'events?tab=retention' },
  {
    name: 'events-who',
    path: withQuery(`events?tab=funnel&${steps}`, { who: { reached: 4 } }),
    only: ['full', 'error'],
  },
  { name: 'people-contacts', path: 'people' },
  { name: 'people-everybody', path: 'people?list=everybody' },
  { name: 'person', path: `person?contact=${ada}`, only: ['full', 'error'] },
  { name: 'person-anonymous', path: `person?user=${anonymous}`, only: ['full', 'error'] },
  { name: 'person-anonymous', path: 'person?user=a-browser-that-never-came', only: ['empty'] },
  { name: 'person-unknown', path: 'person?contact=nobody-has-this-contactuuid', only: ['empty'] },
  { name: 'person-merging', path: `person?contact=${ada}`, only: full, act: press('Merge…') },
  { name: 'person-erasing', path: `person?contact=${ada}`, only: full, act: press('Erase…') },
  { name: 'catalogue-events', path: 'catalogue' },
  { name: 'catalogue-attributes', path: 'catalogue?tab=attr' },
  { name: 'catalogue-tags', path: 'catalogue?tab=tag', only: ['empty', 'full'] },
  { name: 'catalogue-profiles', path: 'catalogue?tab=profile', only: ['empty', 'full'] },
  { name: 'catalogue-segments', path: 'catalogue?tab=segment' },
  { name: 'catalogue-adding', path: 'catalogue', only: full, act: press('Add…') },
  { name: 'catalogue-merging', path: 'catalogue', only: full, act: press('Merge Product viewed') },
  { name: 'settings-tokens', path: 'settings' },
  { name: 'settings-shared', path: 'settings?tab=shared' },
  { name: 'settings-import', path: 'settings?tab=import' },
  { name: 'settings-privacy', path: 'settings?tab=account' },
  { name: 'settings-storage', path: 'settings?tab=storage' },
  { name: 'settings-audit', path: 'settings?tab=audit' },
  { name: 'set-up', path: 'set-up' },
  { name: 'palette', path: '', only: full, act: (page) => page.keyboard.press('Control+k') },
  { name: 'keys', path: 'live', only: full, act: (page) => page.keyboard.press('?') },
  { name: 'sign-in', path: '', only: ['empty'], isSignedOut: true },
  {
    name: 'sign-in',
    path: '',
    only: ['error'],
    isSignedOut: true,
    act: async (page) => {
      await page.getByRole('button', { name: 'Use a token instead' }).click();
      await page.getByLabel('Server token or viewer token').fill('server_that_there_is_not_00000000');
      await press('Sign in')(page);
      await page.getByRole('alert').waitFor();
    },
  },
];
