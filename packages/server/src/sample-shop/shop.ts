/** The sample shop as data: its account, pages, products, visitor sources and contacts. */
import { createAccountInput } from '@firsthand/contract/account/account';
import type { SentFilter } from '@firsthand/contract/reports/filter';

/** This name marks the data as fake wherever it is shown. */
export const accountName = 'Sample shop (demo data)';
export const origin = 'https://sample-shop.example';
export const currency = 'EUR';

export const eventIDs = {
  'Page viewed': 1,
  'Product viewed': 2,
  'Added to cart': 3,
  'Checkout started': 4,
  Purchased: 5,
  'Signed up': 6,
  'Newsletter joined': 7,
  Searched: 8,
  'Order shipped': 9,
} as const;
export type EventName = keyof typeof eventIDs;

/** Prices in euros, by category. */
const prices = {
  pots: { 'Stone Teapot': 48, 'Glass Teapot': 32, 'Iron Kettle': 79 },
  teas: { 'First Flush Darjeeling': 18.5, Sencha: 14, 'Assam Broken Leaf': 9.9, 'Jasmine Pearls': 16.5 },
  blends: { 'Evening Blend': 8.5, 'Rooibos Orange': 7.9, 'Mint Garden': 6.9, 'Lapsang Souchong': 12.5 },
  cups: { 'Travel Mug': 26.5, 'Two Cups': 22, 'Matcha Bowl': 28 },
  gifts: { 'Tasting Box': 24.9, 'Gift Card': 50 },
};
/** The first products sell best. */
export const products = Object.entries(prices).flatMap(([category, pricesByName]) =>
  Object.entries(pricesByName).map(([name, price]) => {
    const path = `/${category}/${name.toLowerCase().replaceAll(' ', '-')}`;
    return { name, category, path, price };
  }),
);
export type Product = (typeof products)[number];

const categories = { '/teas': 'Teas', '/blends': 'Blends', '/pots': 'Pots', '/cups': 'Cups', '/gifts': 'Gifts' };
const articles = {
  ...{ '/stories/how-to-brew': 'How to brew', '/stories/water': 'The right water', '/shipping': 'Shipping' },
  ...{ '/stories/a-day-in-darjeeling': 'A day in Darjeeling', '/about': 'About us' },
};
export const categoryPaths = Object.keys(categories);
export const articlePaths = Object.keys(articles);
const productPaths = products.map(({ path }) => path);
/** The titles of all pages, by path. */
export const titles: Readonly<Record<string, string>> = {
  ...{ '/': 'Tea and what it takes', '/search': 'Search', '/account': 'Your account', '/newsletter': 'Newsletter' },
  ...{ '/cart': 'Your cart', '/checkout': 'Checkout', '/thanks': 'Thank you', ...categories, ...articles },
  ...Object.fromEntries(products.map(({ path, name }) => [path, name])),
};
export const searches = ['green tea', 'teapot', 'gift', 'rooibos', 'kettle', 'matcha', 'decaf', 'darjeeling'];

/** How far a visit goes. */
export const depths = ['one page', 'some pages', 'product', 'cart', 'checkout', 'purchase'] as const;
export type Depth = (typeof depths)[number];
/** Weights of visit depths, by the `visit` value of a journey's step. */
export const depthWeights: Readonly<Record<string, Partial<Record<Depth, number>>>> = {
  any: { 'one page': 37, 'some pages': 33, product: 19, cart: 8, checkout: 3 },
  browse: { 'some pages': 40, product: 35, cart: 25 },
  glance: { 'one page': 80, 'some pages': 20 },
};

const letter = { utm_source: 'newsletter', utm_medium: 'email', utm_campaign: 'tea-letter' };
const ads = { utm_source: 'pictures', utm_medium: 'cpc', utm_campaign: 'pretty-pictures' };
/** The sources of visits, and the paths of their landing pages. */
export const sources = {
  direct: { referrer: '', campaign: {}, paths: ['/'] },
  google: { referrer: 'https://www.google.com/', campaign: {}, paths: ['/', '/', ...categoryPaths, ...productPaths] },
  duck: { referrer: 'https://duckduckgo.com/', campaign: {}, paths: ['/', ...articlePaths] },
  bing: { referrer: 'https://www.bing.com/', campaign: {}, paths: ['/'] },
  blog: { referrer: 'https://teatime.example/reviews/stone-teapot', campaign: {}, paths: ['/pots/stone-teapot'] },
  forum: { referrer: 'https://forum.example/t/which-kettle', campaign: {}, paths: ['/pots/iron-kettle'] },
  letter: { referrer: '', campaign: letter, paths: productPaths },
  ads: { referrer: 'https://pictures.example/', campaign: ads, paths: ['/pots/stone-teapot'] },
};
export type SourceName = keyof typeof sources;
/** One campaign brings buyers, the other brings visitors who buy nothing. */
export const sourceWeights: Readonly<Record<'buyers' | 'visitors', Partial<Record<SourceName, number>>>> = {
  buyers: { letter: 34, google: 26, direct: 22, blog: 8, duck: 5, forum: 3, bing: 2 },
  visitors: { google: 33, direct: 22, ads: 20, blog: 8, duck: 6, forum: 4, bing: 4, letter: 3 },
};
/** When the newsletter is sent and between which days ads are shown, in days before the end of the month. */
export const newsletterDaysAgo = [29, 23, 16, 9, 2];
export const adsDaysAgo = { from: 15, to: 8 };

/** Visit weights by hour (0 to 23, UTC) and by weekday (Sunday to Saturday). */
export const hourWeights = [12, 7, 4, 3, 3, 5, 12, 24, 38, 46, 50, 54, 58, 52, 46, 45, 48, 56, 70, 86, 94, 80, 52, 26];
export const weekdayWeights = [1.25, 0.95, 0.9, 0.95, 1, 1.1, 1.2];
export const maxWeight = Math.max(...hourWeights) * Math.max(...weekdayWeights);

/** Browser, operating system and device. */
export const deviceWeights = {
  ...{ 'Chrome/Windows/desktop': 22, 'Microsoft Edge/Windows/desktop': 7, 'Firefox/Windows/desktop': 4 },
  ...{ 'Safari/macOS/desktop': 11, 'Chrome/macOS/desktop': 5, 'Firefox/Linux/desktop': 2, 'Safari/iOS/phone': 25 },
  ...{ 'Chrome/Android/phone': 15, 'Samsung Internet for Android/Android/phone': 4, 'Safari/iOS/tablet': 4 },
};
export const countryWeights = { DE: 38, AT: 11, CH: 9, GB: 9, FR: 8, NL: 7, US: 7, PT: 4, SE: 3, JP: 2 };

const words = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(' '));
export const firstNames = words(
  'Agnes Amara Anders Anna Aylin Ben Birgit Bruno Carla Cem Chiara Clara Daan Daniel David Elena Elias Emil Emma Erik',
  'Eva Fatima Felix Finn Frieda Greta Hanna Hugo Ida Ines Jakob Jana Jonas Julia Karim Kenji Klara Lars Lea Leon Lina',
  'Louis Lucia Luka Magda Malik Marie Marta Max Mei Mila Miriam Nadia Nils Nina Noah Nora Olga Omar Oskar Paula Peter',
  'Petra Piet Priya Rafael Rosa Ruth Sami Sara Simon Sofia Stefan Tara Theo Tomas Vera Yara Yusuf Zoe',
);
export const lastNames = words(
  'Abel Adler Almeida Andersson Bach Bauer Becker Berg Bianchi Blom Brandt Braun Costa Demir Dietz Dubois Ebner Engel',
  'Farkas Fischer Fontaine Frank Garcia Graf Haas Hansen Hartmann Hofer Horvat Huber Ito Jansen Jensen Kaiser Keller',
  'Klein Koch Kowalski Kruse Lang Larsen Lehmann Lindgren Lorenz Maier Martin Meyer Moreau Nagy Neumann Novak Olsen',
  'Otto Patel Pereira Petit Pohl Rossi Roth Sato Schmid Seidel Silva Simon Steiner Stern Tanaka Vogel Wagner Weber',
);
/** Contact data by profileID: a telephone number and tags, each with a probability, and attributes. */
export const roles = {
  customer: { telephone: 0.5, tags: { newsletter: 0.35, vip: 0.08 }, attributes: ['city', 'points'] },
  wholesale: { telephone: 1, tags: { wholesale: 1 }, attributes: ['city'] },
  member: { telephone: 0, tags: {}, attributes: ['city'] },
  reader: { telephone: 0, tags: { newsletter: 1 }, attributes: ['favourite'] },
} as const;
export type RoleName = keyof typeof roles;
/** The forms that members and readers fill in. The shop's server sends other contacts' data. */
export const forms: Partial<Record<RoleName, { readonly path: string; readonly event: EventName }>> = {
  member: { path: '/account', event: 'Signed up' },
  reader: { path: '/newsletter', event: 'Newsletter joined' },
};
export const attributeValues = {
  city: words('Berlin Hamburg Leipzig Köln Wien Graz Zürich Basel Lyon Utrecht Leeds'),
  favourite: words('Darjeeling Assam Sencha Jasmine Rooibos Mint'),
  points: words('10 20 40 50 80 120 160 200 250 400'),
};

/** Creates requests with typical developer mistakes, each of which the server refuses for its content. */
export const createInvalidInputs = (id: string) => {
  const event = { userUUID: id, eventUUID: id };
  return [
    { operation: 'logEvent', input: { ...event, eventID: 9, eventTime: '24.12.2026 18:00' } },
    { operation: 'logEvent', input: event },
    { operation: 'logEvent', input: { ...event, userUUID: 'undefined', eventID: 1 } },
    { operation: 'createContact', input: { userUUID: id, contactEmailaddress: 'someone@example' } },
    // The search text belongs in an attribute, not in the name.
    { operation: 'logEvent', input: { ...event, eventName: `Searched for ${'a stone teapot, '.repeat(18)}` } },
    { operation: 'updateContact', input: { contactEmailaddress: 'lost@example.org', contactStatus: 'gone' } },
  ] as const;
};

const textNames = {
  ...{ path: 'Path', title: 'Title', referrer: 'Referrer', query: 'Search', order: 'Order', currency: 'Currency' },
  ...{ utm_source: 'Source', utm_medium: 'Medium', utm_campaign: 'Campaign', product: 'Product' },
  ...{ category: 'Category', city: 'City', favourite: 'Favourite tea' },
};
const numberNames = { price: 'Price', quantity: 'Quantity', points: 'Points' };
const toAttributes = (attrType: 'text' | 'number', names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([attrID, attrName]) => ({ attrID, attrName, attrType }));
const profileNames = { customer: 'Customer', member: 'Member', reader: 'Reader of the letter', wholesale: 'Wholesale' };
const tagNames = { newsletter: 'Newsletter', vip: 'Good customer', wholesale: 'Wholesale' };

/** The input of createAccount for the shop. */
export const toAccountInput = () =>
  createAccountInput.parse({
    ...{ accountName, accountOrigin: [origin], accountCurrency: currency },
    profile: Object.entries(profileNames).map(([profileID, profileName]) => ({ profileID, profileName })),
    tag: Object.entries(tagNames).map(([tagID, tagName]) => ({ tagID, tagName })),
    attr: [
      ...toAttributes('text', textNames),
      ...toAttributes('number', numberNames),
      // The console adds up the currency attribute as revenue. Only purchases have it.
      { attrID: 'amount', attrName: 'Revenue', attrType: 'currency' },
    ],
    event: Object.entries(eventIDs).map(([eventName, eventID]) => ({ eventID, eventName })),
  });

const purchased: SentFilter = { did: { event: 'Purchased' } };
export const segments: Readonly<Record<string, SentFilter>> = {
  Buyers: purchased,
  'Big spenders': { did: { event: 'Purchased', filter: { attrID: 'amount', greaterThan: 60 } } },
  'Came back, bought nothing': { and: [{ did: { event: 'Page viewed', atLeast: 5 } }, { not: purchased }] },
  'From the tea letter': { did: { filter: { attrID: 'utm_campaign', is: 'tea-letter' } } },
  'On a phone': { attrID: '$device', is: 'phone' },
  'Readers of the letter': { contact: { contactTagID: 'newsletter' } },
};
export const goals = {
  Purchase: { eventID: eventIDs.Purchased, path: null, attrID: 'amount' },
  'Tea pages': { eventID: null, path: '/teas/*', attrID: '' },
} as const;
/** Notes, and how many days ago they are. */
export const notes: Readonly<Record<string, number>> = { 'Tea letter sent': 12, 'Released the new checkout': 5 };
/** Saved views of the console's Events page, as URL queries. */
export const views = { Funnel: 'tab=funnel&steps=2,3,4,5', 'Purchases by campaign': 'event=5&by=first:utm_campaign' };
