/** Bulk changes to contacts, and how to undo them. */
import { api } from '../api.ts';
import { type ContactValues, diffContactValues, revertChange, valuesOf } from './contact-values.ts';

export interface ContactEdit {
  readonly contactUUID: string;
  readonly before: ContactValues;
  readonly after: ContactValues;
}

/** The maximum number of contacts in one updateAccount request. */
const perRequest = 100;

/**
 * Sends the edits. Returns the edits that succeeded, how many changed nothing, and the error from the first that
 * failed.
 */
export const sendEdits = async (
  edits: readonly ContactEdit[],
  progress: (sent: number) => void = () => {},
): Promise<{ readonly done: readonly ContactEdit[]; readonly unchanged: number; readonly problem: string }> => {
  const changes = edits.flatMap((edit) => {
    const change = diffContactValues(edit.before, edit.after);
    return change ? [{ edit, change }] : [];
  });
  const done: ContactEdit[] = [];
  let problem = '';
  for (let from = 0; from < changes.length; from += perRequest) {
    const batch = changes.slice(from, from + perRequest);
    const { contact = [] } = await api.updateAccount({
      contact: batch.map(({ edit: { contactUUID }, change }) => ({ contactUUID, ...change })),
    });
    contact.forEach(({ status, error }, nth) => {
      const edit = batch[nth]?.edit;
      if (status === '200' && edit) done.push(edit);
      else problem ||= error?.message ?? 'The server refused the change.';
    });
    progress(from + batch.length);
  }
  return { done, unchanged: edits.length - changes.length, problem };
};

/** Undoes edits, except for values that have changed again since. */
export const undoEdits = async (edits: readonly ContactEdit[]): Promise<void> => {
  for (const { contactUUID, before, after } of edits) {
    const now = valuesOf((await api.getContact({ contactUUID })).contact);
    const change = diffContactValues(now, revertChange(before, after, now));
    if (change) await api.updateContact({ contactUUID, ...change });
  }
};
