/**
 * Lists the fields in a request that have no effect: unknown fields, attributes with the name of a label, and members
 * of nested attributes that exceed the limits.
 */
import { findDroppedAttributes } from '@firsthand/contract/attributes';
import { createUnknownFieldFinder, isRecord, maxIgnored } from '@firsthand/contract/checking';
import { isLabelID } from '@firsthand/contract/labels';
import type { Operation } from '@firsthand/contract/operations';
import type { RequestFields } from './input.ts';

/** Appends the path of each of an event's attributes that has a label's name. `at` is the event's path. */
const findLabels = ({ eventAttrArray }: Readonly<Record<string, unknown>>, at: string, paths: string[]): void => {
  if (!Array.isArray(eventAttrArray)) return;
  for (const [index, attribute] of eventAttrArray.entries()) {
    if (paths.length >= maxIgnored) return;
    const isLabel = isRecord(attribute) && typeof attribute.attrID === 'string' && isLabelID(attribute.attrID);
    if (isLabel) paths.push(`${at}eventAttrArray[${index}]`);
  }
};

/**
 * Appends the path of each unstored member of nested attributes. `at` is the path of the event or contact.
 */
const findDroppedIn = (fields: RequestFields, at: string, paths: string[]): void => {
  for (const name of ['eventAttrArray', 'contactAttr']) {
    if (fields[name] === undefined) continue;
    const dropped = findDroppedAttributes(fields[name]).slice(0, maxIgnored - paths.length);
    paths.push(...dropped.map((attrID) => `${at}${name}.${attrID}`));
  }
};

const createFinders = ({ input, entries = {} }: Operation) => ({
  findUnknown: createUnknownFieldFinder(input),
  lists: Object.entries(entries).map(([name, entry]) => [name, createUnknownFieldFinder(entry.array())] as const),
});

/**
 * Cached because reading the schemas takes a fifth of the time of creating an application, and tests create hundreds of
 * applications.
 */
const finders = new WeakMap<Operation, ReturnType<typeof createFinders>>();

/**
 * Returns a function that lists up to 20 fields that have no effect. `fields` is the request as sent, and `input` the
 * validated request.
 */
export const createIgnoredFields = (operation: Operation) => {
  const { findUnknown, lists } = finders.get(operation) ?? createFinders(operation);
  finders.set(operation, { findUnknown, lists });
  return (fields: RequestFields, input: Readonly<Record<string, unknown>>): string[] => {
    const paths = findUnknown(fields);
    for (const [name, findInList] of lists) findInList(fields[name], name, paths);
    findLabels(input, '', paths);
    findDroppedIn(fields, '', paths);
    for (const list of ['event', 'contact']) {
      const entries = input[list];
      if (!Array.isArray(entries)) continue;
      for (const [index, entry] of entries.entries()) {
        if (!isRecord(entry)) continue;
        findLabels(entry, `${list}[${index}].`, paths);
        findDroppedIn(entry, `${list}[${index}].`, paths);
      }
    }
    return paths;
  };
};
