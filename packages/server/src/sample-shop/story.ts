/**
 * The people of the sample shop whose histories are written by hand. The manual names some of them: what is said there is tested in
 * `test/commands/demo-data.test.ts`.
 */
import type { Happening } from './happenings.ts';
import { createHistory, joining, type Making, signingUp } from './histories.ts';
import { namesOf, type Person } from './people.ts';
import { dayMs } from './rhythm.ts';
import { products, sources } from './shop.ts';
import { newVisitor } from './visits.ts';

const teapot = products.filter(({ name }) => name === 'Stone Teapot');
const kettle = products.filter(({ name }) => name === 'Iron Kettle');
const mug = products.filter(({ name }) => name === 'Travel Mug');

const minuteMs = 60_000;

export const createStory = (making: Making): readonly Happening[] => {
  const { random, rhythm, invent, nextExternalID } = making;
  const history = createHistory(making);
  const { at, create, visit } = history;
  /** So many days before the end of the month. */
  const ago = (days: number) => Math.floor(rhythm.to - days * dayMs);
  const named = (name: string, domain = 'example.com'): Person => {
    const [firstName = '', lastName = ''] = name.split(' ');
    return invent({ firstName, lastName, address: `${firstName}.${lastName}@${domain}`.toLowerCase() });
  };
  const asBuyer = (person: Person, contactProfileID = 'customer') => {
    const { address, fields } = namesOf(person);
    return { address, externalID: nextExternalID(), fields: { ...fields, contactProfileID } };
  };

  /** Ada has two phones, says the shop. One is her brother's: he opened an order of hers on it, and the shop linked it to her. */
  const ada = () => {
    const person = named('Ada Lovelace');
    const laptop = newVisitor(random, { browser: 'Firefox', os: 'Linux', device: 'desktop', country: 'GB' });
    const phone = newVisitor(random, { browser: 'Safari', os: 'iOS', device: 'phone', country: 'GB' });
    const bought = visit(laptop, sources.letter, ago(26), 'purchase', { wanted: teapot });
    create('server', bought.end + 800, laptop, person, { ...asBuyer(person), tags: ['vip', 'newsletter'] });
    const onPhone = visit(phone, sources.direct, ago(20), 'some pages');
    at(onPhone.end + 500, { do: 'link', userUUID: phone.userUUID, contactUUID: person.contactUUID });
    visit(laptop, sources.direct, ago(12), 'purchase', { wanted: mug });
    visit(phone, sources.direct, ago(5), 'product');

    const brother = named('Noel Byron', 'example.org');
    const hisPhone = newVisitor(random, { browser: 'Chrome', os: 'Android', device: 'phone', country: 'PT' });
    visit(hisPhone, sources.google, ago(11), 'product', { wanted: kettle });
    const opened = visit(hisPhone, sources.direct, ago(9), 'some pages');
    at(opened.end + 500, { do: 'link', userUUID: hisPhone.userUUID, contactUUID: person.contactUUID });
    visit(hisPhone, sources.direct, ago(6), 'cart', { wanted: kettle });
    const joined = visit(hisPhone, sources.direct, ago(3), 'some pages', { ending: joining });
    // After the verified link to Ada, this claimed one does not count until the other is voided.
    create('browser', joined.end + 300, hisPhone, brother, { ...namesOf(brother), tags: ['newsletter'] });
    visit(hisPhone, sources.direct, ago(1.2), 'product', { wanted: kettle });
  };

  /** Grace reads on a tablet, and pays on a laptop: two devices, one person. */
  const grace = () => {
    const person = named('Grace Hopper', 'example.net');
    const laptop = newVisitor(random, { browser: 'Microsoft Edge', os: 'Windows', device: 'desktop', country: 'US' });
    const tablet = newVisitor(random, { browser: 'Safari', os: 'iOS', device: 'tablet', country: 'US' });
    visit(tablet, sources.blog, ago(22), 'product', { wanted: teapot });
    const signedUp = visit(tablet, sources.direct, ago(19), 'some pages', { ending: signingUp });
    create('browser', signedUp.end + 300, tablet, person, namesOf(person), true);
    const bought = visit(laptop, sources.direct, ago(18), 'purchase', { wanted: [...teapot, ...mug] });
    create('server', bought.end + 800, laptop, person, { ...asBuyer(person), tags: ['vip'] });
    visit(tablet, sources.direct, ago(7), 'product');
    visit(laptop, sources.letter, ago(1.5), 'purchase');
  };

  /** A tablet that changes hands: Charles gives it to Mary. Each keeps what was done while it was theirs. */
  const charles = () => {
    const [person, next] = [named('Charles Babbage'), named('Mary Somerville', 'example.org')];
    const tablet = newVisitor(random, { browser: 'Chrome', os: 'Android', device: 'tablet', country: 'GB' });
    const signedUp = visit(tablet, sources.forum, ago(25), 'product', { wanted: kettle, ending: signingUp });
    create('server', signedUp.end + 800, tablet, person, asBuyer(person, 'member'));
    visit(tablet, sources.direct, ago(17), 'cart', { wanted: kettle });
    const hers = visit(tablet, sources.direct, ago(10), 'some pages', { ending: signingUp });
    create('server', hers.end + 800, tablet, next, asBuyer(next, 'member'));
    visit(tablet, sources.direct, ago(4), 'purchase', { wanted: mug });
  };

  /** Alan was known by two addresses; the shop merged them. */
  const alan = () => {
    const person = named('Alan Turing');
    const other: Person = invent({ firstName: 'Alan', lastName: 'Turing', address: 'a.turing@example.net' });
    const laptop = newVisitor(random, { browser: 'Firefox', os: 'macOS', device: 'desktop', country: 'GB' });
    const phone = newVisitor(random, { browser: 'Safari', os: 'iOS', device: 'phone', country: 'GB' });
    const joined = visit(phone, sources.duck, ago(21), 'some pages', { ending: joining });
    create('browser', joined.end + 300, phone, other, { ...namesOf(other), tags: ['newsletter'] });
    const bought = visit(laptop, sources.google, ago(14), 'purchase');
    create('server', bought.end + 800, laptop, person, asBuyer(person));
    const merged = { contactUUID: person.contactUUID, otherContactUUID: other.contactUUID };
    at(ago(13), { do: 'merge', ...merged });
    visit(phone, sources.direct, ago(6), 'product');
  };

  /** Katherine and Kathryn are two people. Somebody merged them by mistake, and nobody has taken it back. */
  const katherine = () => {
    const [person, other] = [named('Katherine Johnson'), named('Kathryn Johnson', 'example.net')];
    const laptop = newVisitor(random, { browser: 'Chrome', os: 'Windows', device: 'desktop', country: 'US' });
    const phone = newVisitor(random, { browser: 'Chrome', os: 'Android', device: 'phone', country: 'NL' });
    const bought = visit(laptop, sources.google, ago(24), 'purchase', { wanted: teapot });
    create('server', bought.end + 800, laptop, person, { ...asBuyer(person), attributes: [['city', 'Leeds']] });
    const bought2 = visit(phone, sources.letter, ago(15.5), 'purchase', { wanted: mug });
    create('server', bought2.end + 800, phone, other, { ...asBuyer(other), attributes: [['city', 'Utrecht']] });
    at(ago(8), { do: 'merge', contactUUID: person.contactUUID, otherContactUUID: other.contactUUID });
    visit(phone, sources.direct, ago(5), 'product');
  };

  /** Hedy's own values stand beside what browsers claim of her: one claim accepted, one that contradicts, one voided. */
  const hedy = () => {
    const person = named('Hedy Lamarr');
    const laptop = newVisitor(random, { browser: 'Safari', os: 'macOS', device: 'desktop', country: 'AT' });
    const phone = newVisitor(random, { browser: 'Safari', os: 'iOS', device: 'phone', country: 'AT' });
    const library = newVisitor(random, { browser: 'Chrome', os: 'Windows', device: 'desktop', country: 'AT' });
    const bought = visit(laptop, sources.google, ago(23), 'purchase');
    create('server', bought.end + 800, laptop, person, asBuyer(person));
    const { address } = person;
    const joined = visit(phone, sources.direct, ago(16), 'some pages', { ending: joining });
    const telephone = { address, fields: { contactFirstname: 'Hedwig', contactTelephone: '+43 1 5550 1914' } };
    const accepted = create('browser', joined.end + 300, phone, person, { ...telephone, tags: ['newsletter'] });
    at(ago(15), { do: 'accept claim', claimID: accepted });
    const typed = visit(library, sources.direct, ago(12), 'some pages', { ending: joining });
    const voided = create('browser', typed.end + 300, library, person, {
      address,
      fields: { contactFirstname: 'Heidi' },
    });
    at(ago(11), { do: 'void claim', claimID: voided });
  };

  /** Rosalind signs out on a computer of the library; the next to sign in there is Dorothy. */
  const rosalind = () => {
    const [person, next] = [named('Rosalind Franklin'), named('Dorothy Hodgkin', 'example.org')];
    const library = newVisitor(random, { browser: 'Firefox', os: 'Windows', device: 'desktop', country: 'GB' });
    const signedUp = visit(library, sources.direct, ago(18), 'product', { ending: signingUp });
    create('server', signedUp.end + 800, library, person, asBuyer(person, 'member'));
    at(signedUp.end + 5 * minuteMs, { do: 'unlink', userUUID: library.userUUID });
    visit(library, sources.google, ago(17), 'product');
    const later = visit(library, sources.direct, ago(16), 'some pages', { ending: signingUp });
    create('server', later.end + 800, library, next, asBuyer(next, 'member'));
  };

  for (const tell of [ada, grace, charles, alan, katherine, hedy, rosalind]) tell();
  return history.happenings;
};
