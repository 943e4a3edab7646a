/** The names of the events and attributes that a shared view shows: no others of the catalogues. */
import type { ListedEntry, Store } from '../../../store/store.ts';
import type { OpenLink } from './shared-reports.ts';

const attributePrefix = 'attr:';

const eventIDsIn = (query: string): string[] => {
  const parameters = new URLSearchParams(query);
  return ['event', 'first', 'back', 'steps'].flatMap((name) => (parameters.get(name) ?? '').split(','));
};

const attrIDsIn = ({ view }: OpenLink): string[] =>
  view.report.flatMap(({ request: { attrID, by } }) => [
    ...(typeof attrID === 'string' ? [attrID] : []),
    ...(Array.isArray(by) ? by : []).flatMap((one: string) =>
      one.startsWith(attributePrefix) ? [one.slice(attributePrefix.length)] : [],
    ),
  ]);

const named = (listed: readonly ListedEntry[], ids: readonly string[]): readonly ListedEntry[] =>
  listed.filter(({ id }) => ids.includes(id));

export const namesIn = async (store: Pick<Store, 'listCatalogue'>, opened: OpenLink) => {
  const { account } = opened.link;
  const events = named(await store.listCatalogue({ account, kind: 'event' }), eventIDsIn(opened.view.query));
  const attributes = named(await store.listCatalogue({ account, kind: 'attr' }), attrIDsIn(opened));
  return {
    event: events.map(({ id, name }) => ({ eventID: Number(id), eventName: name })),
    attr: attributes.map(({ id, name, type }) => ({ attrID: id, attrName: name, attrType: type })),
  };
};
