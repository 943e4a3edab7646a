/** The journeys of the shop's visitors as data: those that chance repeats, and those of a few people, written by hand. */
import { type Depth, type Product, products, type RoleName, type SourceName, type sourceWeights } from './shop.ts';

/** Operations of the API. The only update of a contact ends a subscription. */
type LinkChange = 'linkUser' | 'unlinkUser' | 'voidLink' | 'acceptClaim' | 'voidClaim';
export type Change = LinkChange | 'mergeContact' | 'unmergeContact' | 'updateContact';

/** A visit, and what follows from it. Without `daysAgo` it begins some days after the step before. */
export interface Step {
  /** The share of journeys that take this step; with `repeats`, also that of those that take it once more. */
  readonly chance?: number;
  readonly repeats?: boolean;
  /** Days before the end of the month. */
  readonly daysAgo?: number;
  /** The name of a browser in the journey; `first` if absent. */
  readonly on?: string;
  readonly from?: SourceName;
  readonly visit?: Depth | 'any' | 'browse';
  readonly wants?: readonly Product[];
  /** What the visitor becomes: the person of the journey, or the other one. */
  readonly becomes?: RoleName;
  readonly who?: 'other';
  /** What is sent in place of the first name. */
  readonly firstName?: string;
  readonly change?: Change | 'ship';
  /** Steps that are taken only if this one is. */
  readonly steps?: readonly Step[];
}

/** What is absent is chosen by chance. */
export interface Journey {
  readonly sources?: keyof typeof sourceWeights;
  /** Full names; `same`: both contacts are one person. */
  readonly self?: string;
  readonly other?: string;
  /** Browser, operating system, device and country, or `robot`. */
  readonly browsers?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

const returns: Step = { chance: 0.5, repeats: true, visit: 'browse' };

export const passing: Journey = { steps: [{ visit: 'any' }, { chance: 0.18, repeats: true, visit: 'any' }] };
const crawl: Step = { chance: 0.9, repeats: true, from: 'direct', visit: 'product', wants: products };
export const robot: Journey = { browsers: { first: 'robot' }, steps: [crawl] };

export const journeyWeights = { buyer: 50, reader: 26, member: 12, wholesaler: 9, duplicate: 3 };
export const journeys: Readonly<Record<keyof typeof journeyWeights, Journey>> = {
  /** Some buyers also sign in on a second device, which may be the wrong one, or change hands. */
  buyer: {
    sources: 'buyers',
    steps: [
      { chance: 0.6, visit: 'browse' },
      { visit: 'purchase', becomes: 'customer', change: 'ship' },
      returns,
      { chance: 0.4, visit: 'purchase', change: 'ship' },
      {
        ...{ chance: 0.38, on: 'second', visit: 'browse', change: 'linkUser' },
        steps: [
          { ...returns, on: 'second' },
          { chance: 0.12, on: 'second', change: 'voidLink' },
          { chance: 0.08, on: 'second', visit: 'product', who: 'other', becomes: 'member' },
        ],
      },
      { chance: 0.14, visit: 'browse', change: 'unlinkUser', steps: [{ visit: 'browse' }] },
      { chance: 0.03, change: 'updateContact' },
    ],
  },
  /** A browser claims an address, and another one may contradict it. */
  reader: {
    steps: [
      { visit: 'some pages', becomes: 'reader' },
      { ...returns, steps: [{ chance: 0.35, change: 'acceptClaim' }] },
      { chance: 0.1, on: 'second', visit: 'one page', becomes: 'reader', firstName: 'Test', change: 'voidClaim' },
    ],
  },
  member: { steps: [{ visit: 'product', becomes: 'member' }, returns] },
  /** Orders by mail: known to the server, and never on a page. */
  wholesaler: { steps: [{ becomes: 'wholesale' }, { chance: 0.7, repeats: true, change: 'ship' }] },
  /** The same person twice, once by a form and once by an order, until the shop merges the two. */
  duplicate: {
    other: 'same',
    steps: [
      { on: 'second', from: 'google', visit: 'product', who: 'other', becomes: 'reader' },
      { visit: 'purchase', becomes: 'customer' },
      { change: 'mergeContact', steps: [{ chance: 0.4, change: 'unmergeContact' }] },
    ],
  },
};

const named = (name: string) => products.filter((product) => product.name === name);
const [teapot, kettle, mug] = [named('Stone Teapot'), named('Iron Kettle'), named('Travel Mug')];

/** The manual names Ada, Noel, Katherine and Kathryn: `test/commands/demo-data.test.ts` tests what it says. */
export const stories: readonly Journey[] = [
  {
    // Ada has two phones, says the shop. One is her brother's: he opened an order of hers on it, and the shop linked it to her.
    ...{ self: 'Ada Lovelace', other: 'Noel Byron' },
    browsers: { first: 'Firefox/Linux/desktop/GB', second: 'Safari/iOS/phone/GB', his: 'Chrome/Android/phone/PT' },
    steps: [
      { daysAgo: 26, from: 'letter', visit: 'purchase', wants: teapot, becomes: 'customer' },
      { daysAgo: 20, on: 'second', visit: 'some pages', change: 'linkUser' },
      { daysAgo: 12, visit: 'purchase', wants: mug },
      { daysAgo: 11, on: 'his', from: 'google', visit: 'product', wants: kettle },
      { daysAgo: 9, on: 'his', visit: 'some pages', change: 'linkUser' },
      { daysAgo: 6, on: 'his', visit: 'cart', wants: kettle },
      { daysAgo: 5, on: 'second', visit: 'product' },
      // After the verified link to Ada, this claimed one does not count until the other is voided.
      { daysAgo: 3, on: 'his', visit: 'some pages', who: 'other', becomes: 'reader' },
      { daysAgo: 1.2, on: 'his', visit: 'product', wants: kettle },
    ],
  },
  {
    // Katherine and Kathryn are two people. They were merged by mistake, and that has not been undone.
    ...{ self: 'Katherine Johnson', other: 'Kathryn Johnson' },
    browsers: { first: 'Chrome/Windows/desktop/US', hers: 'Chrome/Android/phone/NL' },
    steps: [
      { daysAgo: 24, from: 'google', visit: 'purchase', wants: teapot, becomes: 'customer' },
      { daysAgo: 15.5, on: 'hers', from: 'letter', visit: 'purchase', who: 'other', becomes: 'customer' },
      { daysAgo: 8, change: 'mergeContact' },
      { daysAgo: 5, on: 'hers', visit: 'product' },
    ],
  },
];
