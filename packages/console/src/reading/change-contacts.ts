/** Changes contacts, one or many, and undoes that. */
import { api } from '../api.ts';
import { type ContactValues, changeOf, undone, valuesOf } from './contact-values.ts';

/** What is to become of a contact whose values a page shows. */
export interface ContactEdit {
  readonly contactUUID: string;
  readonly before: ContactValues;
  readonly after: ContactValues;
}

/** Contacts in one updateAccount, at most. */
const perRequest = 100;

/** Sends the edits. Returns those that were carried out, how many change nothing, and why the first of the others was refused. */
export const sendEdits = async (
  edits: readonly ContactEdit[],
  progress: (sent: number) => void = () => {},
): Promise<{ readonly done: readonly ContactEdit[]; readonly unchanged: number; readonly problem: string }> => {
  const changes = edits.flatMap((edit) => {
    const change = changeOf(edit.before, edit.after);
    return change ? [{ edit, change }] : [];
  });
  const done: ContactEdit[] = [];
  let problem = '';
  for (let from = 0; from < changes.length; from += perRequest) {
    const some = changes.slice(from, from + perRequest);
    const { contact = [] } = await api.updateAccount({
      contact: some.map(({ edit: { contactUUID }, change }) => ({ contactUUID, ...change })),
    });
    contact.forEach(({ status, error }, nth) => {
      const edit = some[nth]?.edit;
      if (status === '200' && edit) done.push(edit);
      else problem ||= error?.message ?? 'The server refused the change.';
    });
    progress(from + some.length);
  }
  return { done, unchanged: edits.length - changes.length, problem };
};

/** Undoes edits, except for the values that have changed again since. */
export const undoEdits = async (edits: readonly ContactEdit[]): Promise<void> => {
  for (const { contactUUID, before, after } of edits) {
    const now = valuesOf((await api.getContact({ contactUUID })).contact);
    const change = changeOf(now, undone(before, after, now));
    if (change) await api.updateContact({ contactUUID, ...change });
  }
};
