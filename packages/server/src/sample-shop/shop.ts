/** The sample shop: what it sells, its pages, its campaigns, its catalogues and its segments. */
import { createAccountInput } from '@firsthand/contract/account/account';
import type { SentFilter } from '@firsthand/contract/reports/filter';
import type { Random } from './random.ts';

/** Shown wherever the account's name is, so that nobody takes the data for real. */
export const accountName = 'Sample shop (demo data)';

export const origin = 'https://sample-shop.example';
export const currency = 'EUR';

/** The kinds of events, by their eventIDs. */
export const kinds = {
  viewed: 1,
  product: 2,
  cart: 3,
  checkout: 4,
  purchased: 5,
  signedUp: 6,
  newsletter: 7,
  searched: 8,
  shipped: 9,
} as const;
export type Kind = keyof typeof kinds;

const kindNames: Readonly<Record<Kind, string>> = {
  viewed: 'Page viewed',
  product: 'Product viewed',
  cart: 'Added to cart',
  checkout: 'Checkout started',
  purchased: 'Purchased',
  signedUp: 'Signed up',
  newsletter: 'Newsletter joined',
  searched: 'Searched',
  shipped: 'Order shipped',
};

export interface Page {
  readonly path: string;
  readonly title: string;
}

export interface Product extends Page {
  readonly name: string;
  readonly category: string;
  /** In euros. */
  readonly price: number;
}

const productOf = (category: string, name: string, price: number): Product => ({
  name,
  category,
  price,
  path: `/${category}/${name.toLowerCase().replaceAll(' ', '-')}`,
  title: `${name} – Sample shop`,
});

export const products: readonly Product[] = [
  productOf('teas', 'First Flush Darjeeling', 18.5),
  productOf('teas', 'Assam Broken Leaf', 9.9),
  productOf('teas', 'Sencha', 14),
  productOf('teas', 'Jasmine Pearls', 16.5),
  productOf('teas', 'Lapsang Souchong', 12.5),
  productOf('teas', 'Rooibos Orange', 7.9),
  productOf('teas', 'Mint Garden', 6.9),
  productOf('teas', 'Evening Blend', 8.5),
  productOf('pots', 'Stone Teapot', 48),
  productOf('pots', 'Glass Teapot', 32),
  productOf('pots', 'Iron Kettle', 79),
  productOf('cups', 'Two Cups', 22),
  productOf('cups', 'Travel Mug', 26.5),
  productOf('cups', 'Matcha Bowl', 28),
  productOf('gifts', 'Tasting Box', 24.9),
  productOf('gifts', 'Gift Card', 50),
];

const pageOf = (path: string, name: string): Page => ({ path, title: `${name} – Sample shop` });
export const pages = {
  home: { path: '/', title: 'Sample shop: tea and what it takes' },
  cart: pageOf('/cart', 'Your cart'),
  checkout: pageOf('/checkout', 'Checkout'),
  thanks: pageOf('/thanks', 'Thank you'),
  account: pageOf('/account', 'Your account'),
  newsletter: pageOf('/newsletter', 'Newsletter'),
  search: pageOf('/search', 'Search'),
} as const;

export const categories: readonly Page[] = [
  pageOf('/teas', 'All teas'),
  pageOf('/pots', 'Pots'),
  pageOf('/cups', 'Cups'),
  pageOf('/gifts', 'Gifts'),
];

export const readings: readonly Page[] = [
  pageOf('/stories/how-to-brew', 'How to brew'),
  pageOf('/stories/water', 'The right water'),
  pageOf('/stories/a-day-in-darjeeling', 'A day in Darjeeling'),
  pageOf('/shipping', 'Shipping'),
  pageOf('/about', 'About us'),
];

/** Where a visitor comes from: the referrer, the campaign in the address, and the page that it leads to. */
export interface Source {
  readonly name: string;
  readonly referrer: string;
  readonly campaign: readonly (readonly [parameter: string, value: string])[];
  readonly lands: (random: Random) => Page;
}

const sourceOf = (
  name: string,
  referrer: string,
  lands: Source['lands'],
  campaign: Source['campaign'] = [],
): Source => ({
  name,
  referrer,
  campaign,
  lands,
});

const home = () => pages.home;
const anyProduct = (random: Random): Page => random.pick(products);
const anyReading = (random: Random): Page => random.pick(readings);

const letterCampaign = [
  ['utm_source', 'newsletter'],
  ['utm_medium', 'email'],
  ['utm_campaign', 'tea-letter'],
] as const;
const adsCampaign = [
  ['utm_source', 'pictures'],
  ['utm_medium', 'cpc'],
  ['utm_campaign', 'pretty-pictures'],
] as const;

export const sources = {
  direct: sourceOf('direct', '', home),
  google: sourceOf('google', 'https://www.google.com/', (random) => random.pick([pages.home, anyProduct(random)])),
  duck: sourceOf('duck', 'https://duckduckgo.com/', (random) => random.pick([pages.home, anyReading(random)])),
  bing: sourceOf('bing', 'https://www.bing.com/', home),
  blog: sourceOf('blog', 'https://teatime.example/reviews/stone-teapot', () => products[8] as Page),
  forum: sourceOf('forum', 'https://forum.example/t/which-kettle', () => products[10] as Page),
  /** The campaign that brings buyers. */
  letter: sourceOf('letter', '', anyProduct, letterCampaign),
  /** The campaign that brings visitors who buy nothing. */
  ads: sourceOf('ads', 'https://pictures.example/', () => products[8] as Page, adsCampaign),
} as const satisfies Readonly<Record<string, Source>>;

const attribute = (attrID: string, attrName: string, attrType: 'text' | 'number' | 'currency' = 'text') => ({
  attrID,
  attrName,
  attrType,
});

/** What the account is created with. */
export const definition = () =>
  createAccountInput.parse({
    accountName,
    accountOrigin: [origin],
    accountCurrency: currency,
    profile: [
      { profileID: 'customer', profileName: 'Customer' },
      { profileID: 'member', profileName: 'Member' },
      { profileID: 'reader', profileName: 'Reader of the letter' },
      { profileID: 'wholesale', profileName: 'Wholesale' },
    ],
    tag: [
      { tagID: 'newsletter', tagName: 'Newsletter' },
      { tagID: 'vip', tagName: 'Good customer' },
      { tagID: 'wholesale', tagName: 'Wholesale' },
      { tagID: 'complaint', tagName: 'Had a complaint' },
    ],
    attr: [
      attribute('path', 'Path'),
      attribute('title', 'Title'),
      attribute('referrer', 'Referrer'),
      attribute('utm_source', 'Source'),
      attribute('utm_medium', 'Medium'),
      attribute('utm_campaign', 'Campaign'),
      attribute('product', 'Product'),
      attribute('category', 'Category'),
      attribute('price', 'Price', 'number'),
      attribute('quantity', 'Quantity', 'number'),
      attribute('query', 'Search'),
      attribute('order', 'Order'),
      // The console adds up the attribute of this type as revenue. Only purchases have it.
      attribute('amount', 'Revenue', 'currency'),
      attribute('currency', 'Currency'),
      attribute('city', 'City'),
      attribute('favourite', 'Favourite tea'),
      attribute('points', 'Points', 'number'),
    ],
    event: Object.entries(kinds).map(([kind, eventID]) => ({ eventID, eventName: kindNames[kind as Kind] })),
  });

/** The segments that are saved. */
export const segments: readonly (readonly [segmentName: string, filter: SentFilter])[] = [
  ['Buyers', { did: { event: kindNames.purchased } }],
  ['Big spenders', { did: { event: kindNames.purchased, filter: { attrID: 'amount', greaterThan: 60 } } }],
  [
    'Came back, bought nothing',
    {
      and: [{ did: { event: kindNames.viewed, atLeast: 5 } }, { not: { did: { event: kindNames.purchased } } }],
    },
  ],
  ['From the tea letter', { did: { filter: { attrID: 'utm_campaign', is: 'tea-letter' } } }],
  ['On a phone', { attrID: '$device', is: 'phone' }],
  ['Readers of the letter', { contact: { contactTagID: 'newsletter' } }],
];
