/** Type tests: `tsc -b` fails where an expected error is missing. */
import { expect, test } from 'vitest';
import { type Attributes, createTracker, logPageViews } from './index.ts';

interface BoughtAttrs {
  plan: 'free' | 'pro';
  price?: number;
}

interface Events {
  Bought: BoughtAttrs;
  7: { readonly at: Date };
  'Logged out': undefined;
  Searched: BoughtAttrs | undefined;
}

const bought: BoughtAttrs = { plan: 'pro' };
const attributes: Attributes | undefined = [{ attrID: 'plan', attrValue: 'pro' }];
const options = { url: '/', token: 'browser_x' };

test('accepts an interface as a catalogue, with interfaces as attributes', () => {
  const tracker = createTracker<Events>(options);
  tracker.log('Bought', bought);
  tracker.log('Bought', { plan: 'free', price: 3 });
  tracker.log(7, { at: new Date(0) });
  tracker.log('Logged out');
  tracker.log('Searched');
  tracker.log('Searched', bought);
  // @ts-expect-error the plan doesn't exist
  tracker.log('Bought', { plan: 'gold' });
  // @ts-expect-error the attributes are missing
  tracker.log('Bought');
  // @ts-expect-error the attribute doesn't exist
  tracker.log('Bought', { plan: 'pro', color: 'red' });
  // @ts-expect-error the event doesn't exist
  tracker.log('Sold', bought);
  // @ts-expect-error the event has no attributes
  tracker.log('Logged out', bought);
  expect(tracker.log).toBeTypeOf('function');
});

test('accepts nested attributes, which may be interfaces', () => {
  interface NestedEvents {
    Bought: { plan: BoughtAttrs; tags: readonly string[] };
  }
  const tracker = createTracker<NestedEvents>(options);
  tracker.log('Bought', { plan: bought, tags: ['a'] });
  // @ts-expect-error a tag is a string
  tracker.log('Bought', { plan: bought, tags: [1] });
  expect(tracker.log).toBeTypeOf('function');
});

test('rejects a catalogue whose attributes can’t be converted to text', () => {
  interface FunctionEvents {
    Bought: { plan: () => string };
  }
  // @ts-expect-error a function is not a value
  expect(createTracker<FunctionEvents>(options).log).toBeTypeOf('function');
  interface ListEvents {
    Bought: string[];
  }
  // @ts-expect-error a list of strings has no names
  expect(createTracker<ListEvents>(options).log).toBeTypeOf('function');
  interface TextEvents {
    Bought: string;
  }
  // @ts-expect-error text is not an object of attributes
  expect(createTracker<TextEvents>(options).log).toBeTypeOf('function');
});

test('accepts an interface as any event’s attributes, without a catalogue', () => {
  const tracker = createTracker(options);
  tracker.log('Bought', bought);
  tracker.log('Bought', { plan: 'pro', at: new Date(0), count: 2n, isNew: true, none: null });
  tracker.log('Bought', attributes);
  tracker.log('Bought', undefined);
  tracker.log(7);
  tracker.log('Bought', { plan: { name: 'pro' }, tags: ['a'] });
  // @ts-expect-error an element can't be converted to text
  tracker.log('Bought', { button: {} as HTMLElement });
  // @ts-expect-error a Date is not an object of attributes
  tracker.log('Bought', new Date(0));
  // @ts-expect-error text is not an object of attributes
  tracker.log('Bought', 'pro');
  // @ts-expect-error a list of strings has no names
  tracker.log('Bought', ['pro']);
  expect(tracker.log).toBeTypeOf('function');
});

test('accepts an interface as a contact’s attributes', () => {
  const tracker = createTracker<Events>(options);
  const contact = { contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' };
  void tracker.createContact({ ...contact, contactAttr: bought });
  void tracker.createContact({ ...contact, contactAttr: [{ attrID: 'plan', attrValue: 'pro' }] });
  void tracker.createContact(contact);
  void tracker.createContact({ ...contact, contactAttr: { plan: bought } });
  // @ts-expect-error a function can't be converted to text
  void tracker.createContact({ ...contact, contactAttr: { plan: () => '' } });
  // @ts-expect-error the profile is missing
  void tracker.createContact({ contactEmailaddress: 'ann@shop.example', contactAttr: bought });
  expect(tracker.createContact).toBeTypeOf('function');
});

test('accepts an interface as default attributes, and a tracker with any catalogue for page views', () => {
  const tracker = createTracker<Events>(options);
  tracker.set(bought);
  tracker.set({ plan: 'pro', price: null });
  tracker.set({ plan: bought });
  // @ts-expect-error a function can't be converted to text
  tracker.set({ plan: () => '' });
  createTracker(options).set(bought);
  logPageViews(tracker, { event: 'Page viewed', query: ['q'], hash: true });
  // @ts-expect-error the event is missing
  logPageViews(createTracker(options), {});
  expect(tracker.set).toBeTypeOf('function');
});
