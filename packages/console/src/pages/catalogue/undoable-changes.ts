/** Undoable changes to an entry. */
import { changeAccount } from '../../parts/change-account.ts';
import { account } from '../../reading/account.ts';
import { type AttrType, attrTypes, type Change, type Entry, type Kind, requestFor, withChange } from './entries.ts';

const change = (kind: Kind, { id }: Entry, after: Change, before: Change, done: string): Promise<boolean> => {
  const catalogues = account.peek();
  return changeAccount({
    change: requestFor(kind, id, after),
    undo: requestFor(kind, id, before),
    shown: catalogues ? withChange(kind, catalogues, id, after) : {},
    done,
  });
};

export const rename = (kind: Kind, entry: Entry, name: string): Promise<boolean> =>
  change(kind, entry, { name }, { name: entry.name }, `Renamed “${entry.name}” to “${name}”.`);

export const setBrowser = (kind: Kind, entry: Entry, browser: boolean): Promise<boolean> => {
  const done = `Browser tokens may ${browser ? 'now' : 'no longer'} use “${entry.name}”.`;
  return change(kind, entry, { browser }, { browser: !browser }, done);
};

export const setType = (entry: Entry, type: AttrType): Promise<boolean> => {
  const done = `The type of “${entry.name}” is now “${attrTypes[type]}”.`;
  return change('attr', entry, { type }, { type: entry.type }, done);
};
