/** What an import changed in a contact that existed before, so that an undo can restore the contact. */
import type { ContactStatus } from '@firsthand/contract/contact';
import { type KeyField, type PlainField, plainFields, type Values } from '../../identity/contact-view.ts';
import type { ContactImport, NewContact } from '../store.ts';
import type { ContactUpdate } from './contact-changes.ts';

/** A contact's own values and keys as strings, by the names that `toRecordedValues` gives them. */
export type RecordedValues = ReadonlyMap<string, string>;

const [field, tag, attribute] = ['field ', 'tag ', 'attr '] as const;
const externalIDKey = 'contactExternalID';
const addressKey = 'contactEmailaddress';
const status = 'contactStatus';
const updatedTime = 'updatedTime';

/** Omits removed values, as if they had never existed. */
export const toRecordedValues = (
  row: Record<KeyField, string | null> & { readonly contactStatus: string; readonly updatedTime: number },
  { fields, tags, attributes }: Values,
): RecordedValues =>
  new Map(
    [
      [externalIDKey, row.contactExternalID] as const,
      [addressKey, row.contactEmailaddress] as const,
      [status, row.contactStatus] as const,
      [updatedTime, String(row.updatedTime)] as const,
      ...plainFields.map((name) => [field + name, fields[name]] as const),
      ...[...tags].map(([tagID, opt]) => [tag + tagID, opt ? 'true' : null] as const),
      ...[...attributes].map(([attrID, attrValue]) => [attribute + attrID, attrValue] as const),
    ].flatMap(([name, value]) => (value === null || value === undefined || value === '' ? [] : [[name, value]])),
  );

/** For each name, the value before the import and the value that the import wrote; null if absent. */
export type ImportChanges = Readonly<Record<string, readonly [before: string | null, after: string | null]>>;

/** Adds the difference between two states of a contact to its earlier changes by the same import. */
export const addChanges = (earlier: ImportChanges, before: RecordedValues, after: RecordedValues): ImportChanges => {
  const changes = new Map(Object.entries(earlier));
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [from, to] = [before.get(name) ?? null, after.get(name) ?? null];
    const [first] = changes.get(name) ?? [from];
    if (from !== to) changes.set(name, [first, to]);
  }
  return Object.fromEntries(changes);
};

/** Returns the changed values, by their names in contact files. */
export const listChanges = (changes: ImportChanges): ContactImport['changes'] =>
  Object.entries(changes)
    .filter(([name]) => name !== updatedTime)
    .map(([name, [before, after]]) => {
      const plain = name.startsWith(field) ? name.slice(field.length) : name;
      return { field: plain.replace(/^tag /, 'contactTagID.').replace(/^attr /, 'contactAttr.'), before, after };
    });

/** Whether a write changed a contact's own values or keys. */
export const isChanged = (before: RecordedValues, after: RecordedValues): boolean =>
  Object.keys(addChanges({}, before, after)).some((name) => name !== updatedTime);

/** Omits request values that the contact already has. */
export const withoutPresent = (
  { fields, tags, attributes }: Pick<NewContact, 'fields' | 'tags' | 'attributes'>,
  present: RecordedValues,
): Pick<NewContact, 'fields' | 'tags' | 'attributes'> => ({
  fields: Object.fromEntries(Object.entries(fields).filter(([name]) => !present.has(field + name))),
  tags: tags.filter((tagID) => !present.has(tag + tagID)),
  attributes: attributes.filter(([attrID]) => !present.has(attribute + attrID)),
});

/** How to restore a contact: the update, and whether its address must be removed. */
interface Restoration {
  readonly update: Pick<
    ContactUpdate,
    'fields' | 'addedTags' | 'removedTags' | 'attributes' | 'contactStatus' | 'keys'
  >;
  readonly removesAddress: boolean;
  /** The updatedTime before the import, if nothing has changed the contact since. */
  readonly time: number | undefined;
}

/** Returns how to restore the values that have not changed since the import. */
export const toRestoration = (changes: ImportChanges, current: RecordedValues): Restoration => {
  const restored = Object.entries(changes).filter(([name, [, after]]) => (current.get(name) ?? null) === after);
  const withPrefix = (kind: string) =>
    restored.flatMap(([name, [before]]) => (name.startsWith(kind) ? [[name.slice(kind.length), before] as const] : []));
  const before = new Map(restored.map(([name, [value]]) => [name, value]));
  const address = before.get(addressKey);
  return {
    update: {
      fields: Object.fromEntries(withPrefix(field)) as Partial<Record<PlainField, string | null>>,
      addedTags: withPrefix(tag).flatMap(([tagID, opt]) => (opt === null ? [] : [tagID])),
      removedTags: withPrefix(tag).flatMap(([tagID, opt]) => (opt === null ? [tagID] : [])),
      attributes: withPrefix(attribute),
      contactStatus: (before.get(status) ?? undefined) as ContactStatus | undefined,
      keys: { externalID: before.get(externalIDKey), ...(typeof address === 'string' && { address }) },
    },
    removesAddress: address === null,
    time: before.has(updatedTime) ? Number(before.get(updatedTime)) : undefined,
  };
};
