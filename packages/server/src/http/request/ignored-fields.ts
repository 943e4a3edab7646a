/**
 * Lists the fields of a request that have no effect: those that its operation does not know, attributes named like labels, and members of
 * nested attributes that don't fit the limits.
 */
import { findDropped } from '@firsthand/contract/attributes';
import { createFindUnknown, isRecord, maxIgnored } from '@firsthand/contract/checking';
import { isLabelID } from '@firsthand/contract/labels';
import type { Operation } from '@firsthand/contract/operations';
import type { Given } from './input.ts';

/** Appends the path of each attribute of an event that has the name of a label. `at` is the path of the event. */
const findLabels = ({ eventAttrArray }: Readonly<Record<string, unknown>>, at: string, found: string[]): void => {
  if (!Array.isArray(eventAttrArray)) return;
  for (const [index, attribute] of eventAttrArray.entries()) {
    if (found.length >= maxIgnored) return;
    const isLabel = isRecord(attribute) && typeof attribute.attrID === 'string' && isLabelID(attribute.attrID);
    if (isLabel) found.push(`${at}eventAttrArray[${index}]`);
  }
};

/** Appends the path of each member of nested attributes that is not stored. `at` is the path of the event or contact. */
const findDroppedIn = (fields: Given, at: string, found: string[]): void => {
  for (const name of ['eventAttrArray', 'contactAttr']) {
    if (fields[name] === undefined) continue;
    const dropped = findDropped(fields[name]).slice(0, maxIgnored - found.length);
    found.push(...dropped.map((attrID) => `${at}${name}.${attrID}`));
  }
};

const createFinders = ({ input, entries = {} }: Operation) => ({
  findUnknown: createFindUnknown(input),
  lists: Object.entries(entries).map(([name, entry]) => [name, createFindUnknown(entry.array())] as const),
});

/** Reading the schemas takes a fifth of the time in which an application is made, and tests make hundreds. */
const finders = new WeakMap<Operation, ReturnType<typeof createFinders>>();

/** Returns a function that lists these fields, up to 20. `given` is the request as it was sent, `input` as it was checked. */
export const createIgnoredFields = (operation: Operation) => {
  const { findUnknown, lists } = finders.get(operation) ?? createFinders(operation);
  finders.set(operation, { findUnknown, lists });
  return (given: Given, input: Readonly<Record<string, unknown>>): string[] => {
    const found = findUnknown(given);
    for (const [name, findInList] of lists) findInList(given[name], name, found);
    findLabels(input, '', found);
    findDroppedIn(given, '', found);
    for (const list of ['event', 'contact']) {
      const entries = input[list];
      if (!Array.isArray(entries)) continue;
      for (const [index, entry] of entries.entries()) {
        if (!isRecord(entry)) continue;
        findLabels(entry, `${list}[${index}].`, found);
        findDroppedIn(entry, `${list}[${index}].`, found);
      }
    }
    return found;
  };
};
