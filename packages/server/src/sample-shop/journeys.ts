/** The journeys of the shop's visitors, as data: random journeys, and a few people's handwritten journeys. */
import { type Depth, type Product, products, type RoleName, type SourceName, type sourceWeights } from './shop.ts';

/** API operations. `updateContact` always ends a subscription. */
type LinkChange = 'linkUser' | 'unlinkUser' | 'voidLink' | 'acceptClaim' | 'voidClaim';
export type Change = LinkChange | 'mergeContact' | 'unmergeContact' | 'updateContact';

/** A visit and its consequences. Without `daysAgo`, it begins a few days after the previous step. */
export interface Step {
  /** The probability of this step and, if `repeats` is set, of each repetition. */
  readonly chance?: number;
  readonly repeats?: boolean;
  /** Days before the end of the month. */
  readonly daysAgo?: number;
  /** The name of a browser in the journey; `first` if absent. */
  readonly on?: string;
  readonly from?: SourceName;
  readonly visit?: Depth | 'any' | 'browse';
  readonly wants?: readonly Product[];
  /** The role that the visitor takes on: as the journey's person, or as the other person if `who` is set. */
  readonly becomes?: RoleName;
  readonly who?: 'other';
  /** A first name to send instead of the real one. */
  readonly firstName?: string;
  readonly change?: Change | 'ship';
  /** Steps that follow only if this one is taken. */
  readonly steps?: readonly Step[];
}

/** Missing values are chosen at random. */
export interface Journey {
  readonly sources?: keyof typeof sourceWeights;
  /** Full names. `same`: both contacts are the same person. */
  readonly self?: string;
  readonly other?: string;
  /** Browser, operating system, device and country, or `robot`. */
  readonly browsers?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

const returns: Step = { chance: 0.5, repeats: true, visit: 'browse' };

export const passerby: Journey = { steps: [{ visit: 'any' }, { chance: 0.18, repeats: true, visit: 'any' }] };
const crawl: Step = { chance: 0.9, repeats: true, from: 'direct', visit: 'product', wants: products };
export const robot: Journey = { browsers: { first: 'robot' }, steps: [crawl] };

export const journeyWeights = { buyer: 50, reader: 26, member: 12, wholesaler: 9, duplicate: 3 };
export const journeys: Readonly<Record<keyof typeof journeyWeights, Journey>> = {
  /** Some buyers also sign in on a second device, which sometimes belongs to someone else or changes hands. */
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
  /** A browser claims an address, and sometimes another browser makes a conflicting claim. */
  reader: {
    steps: [
      { visit: 'some pages', becomes: 'reader' },
      { ...returns, steps: [{ chance: 0.35, change: 'acceptClaim' }] },
      { chance: 0.1, on: 'second', visit: 'one page', becomes: 'reader', firstName: 'Test', change: 'voidClaim' },
    ],
  },
  member: { steps: [{ visit: 'product', becomes: 'member' }, returns] },
  /** Orders by mail: only the shop's server sends data about this person; no page does. */
  wholesaler: { steps: [{ becomes: 'wholesale' }, { chance: 0.7, repeats: true, change: 'ship' }] },
  /** A person with two contacts, from a form and from an order, until the shop merges the contacts. */
  duplicate: {
    other: 'same',
    steps: [
      { on: 'second', from: 'google', visit: 'product', who: 'other', becomes: 'reader' },
      { visit: 'purchase', becomes: 'customer' },
      { change: 'mergeContact', steps: [{ chance: 0.4, change: 'unmergeContact' }] },
    ],
  },
};

const findProduct = (name: string) => products.filter((product) => product.name === name);
const [teapot, kettle, mug] = [findProduct('Stone Teapot'), findProduct('Iron Kettle'), findProduct('Travel Mug')];

/** The manual mentions Ada, Noel, Katherine and Kathryn; `test/commands/demo-data.test.ts` tests its statements. */
export const stories: readonly Journey[] = [
  {
    // The shop linked two phones to Ada. One phone is her brother's; he opened one of her orders on it.
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
      // This claimed link does not count until the verified link to Ada is voided.
      { daysAgo: 3, on: 'his', visit: 'some pages', who: 'other', becomes: 'reader' },
      { daysAgo: 1.2, on: 'his', visit: 'product', wants: kettle },
    ],
  },
  {
    // Katherine and Kathryn are two people who were merged by mistake; the merge has not been undone.
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
