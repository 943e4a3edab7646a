/** Changes the tags or status of all selected contacts. The notice with “Undo” stays until it is dismissed. */
import { useState } from 'preact/hooks';
import { api, messageOf, problemOf } from '../../api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { Field } from '../../parts/field.tsx';
import { act, show } from '../../parts/notices.tsx';
import { SaveFile } from '../../parts/save-csv.tsx';
import { account, readAccount } from '../../reading/account.ts';
import { type ContactEdit, sendEdits, undoEdits } from '../../reading/change-contacts.ts';
import { type ContactResult, type ContactValues, hasTag, tagKey, valuesOf } from '../../reading/contact-values.ts';
import { formatWhole } from '../../reading/format.ts';
import { fileOfContacts } from './selected-csv.ts';

interface BulkActionsProps {
  readonly chosen: readonly ContactResult[];
  /** The number of contacts that match the search, if known. */
  readonly total: number | undefined;
  /** Selects all contacts that match the search. */
  readonly chooseAll: () => Promise<void>;
  readonly clear: () => void;
  readonly refresh: () => void;
}

/** A value that is never a tag's ID, because IDs have no leading space. */
const newTag = ' new';

const contactsOf = (count: number): string => (count === 1 ? '1 contact' : `${formatWhole(count)} contacts`);

interface NewTagProps {
  readonly give: (tagID: string, name: string) => unknown;
  readonly close: () => void;
}

/** Adds a tag to the catalogue, with its name as the ID, and to the selected contacts. */
const NewTag = ({ give, close }: NewTagProps) => {
  const [name, setName] = useState('');
  const [problem, setProblem] = useState('');
  const submit = async () => {
    const tagID = name.trim();
    const rejection = await problemOf(api.updateAccount({ tag: [{ tagID, tagName: tagID }] }));
    if (rejection) return setProblem(rejection);
    close();
    readAccount();
    give(tagID, tagID);
  };
  return (
    <DialogForm title="New tag" close={close} action="Tag" submit={submit} problem={problem}>
      <Field label="Name">
        {(attributes) => (
          <input {...attributes} required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        )}
      </Field>
    </DialogForm>
  );
};

export const BulkActions = ({ chosen, total, chooseAll, clear, refresh }: BulkActionsProps) => {
  const [sent, setSent] = useState<number | undefined>(undefined);
  const [isAddingTag, setAddingTag] = useState(false);
  /** `already` is why the other contacts did not change. */
  const apply = async (change: ContactValues, done: (count: string) => string, already: string) => {
    const edits = chosen.map((contact): ContactEdit => {
      const before = valuesOf(contact);
      return { contactUUID: contact.contactUUID, before, after: { ...before, ...change } };
    });
    setSent(0);
    try {
      const { done: changed, unchanged, problem } = await sendEdits(edits, setSent);
      clear();
      const others = unchanged > 0 ? `; ${formatWhole(unchanged)} ${already}` : '';
      await act(async () => {}, {
        done: `${done(contactsOf(changed.length))}${others}.${problem && ` Others failed: ${problem}.`}`,
        ...(changed.length > 0 && { undo: () => undoEdits(changed), stays: true }),
        refresh,
      });
    } catch (error) {
      show({ text: messageOf(error), isProblem: true });
    } finally {
      setSent(undefined);
    }
  };
  const tags = (account.value?.tag ?? []).filter(({ mergedInto }) => mergedInto === undefined);
  const giveTag = (tagID: string, name: string) =>
    apply({ [tagKey(tagID)]: hasTag }, (count) => `Tagged ${count} “${name}”`, 'already had it');
  const chooseTag = (label: string, choose: (tagID: string, tagName: string) => void, hasNew = false) => (
    <select
      aria-label={label}
      value=""
      onChange={(event) => {
        if (event.currentTarget.value === newTag) setAddingTag(true);
        const tag = tags.find(({ tagID }) => tagID === event.currentTarget.value);
        if (tag) choose(tag.tagID, tag.tagName);
      }}
    >
      <option value="">{label}</option>
      {tags.map(({ tagID, tagName }) => (
        <option key={tagID} value={tagID}>
          {tagName}
        </option>
      ))}
      {hasNew && <option value={newTag}>New tag…</option>}
    </select>
  );
  return (
    <section class="bulk" aria-label="Change the selected contacts">
      <strong role="status">
        {sent === undefined
          ? `${contactsOf(chosen.length)} selected`
          : `${formatWhole(sent)} of ${contactsOf(chosen.length)}`}
      </strong>
      {sent !== undefined && <progress max={chosen.length} value={sent} aria-label="Contacts changed" />}
      <fieldset disabled={sent !== undefined}>
        {total !== undefined && total > chosen.length && (
          <button type="button" class="quiet" onClick={chooseAll}>
            Select all {formatWhole(total)}
          </button>
        )}
        {chooseTag('Tag…', giveTag, true)}
        {chooseTag('Untag…', (tagID, name) =>
          apply({ [tagKey(tagID)]: '' }, (count) => `Removed “${name}” from ${count}`, 'did not have it'),
        )}
        <button
          type="button"
          onClick={() => apply({ contactStatus: 'archived' }, (count) => `Archived ${count}`, 'already archived')}
        >
          Archive
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => apply({ contactStatus: 'active' }, (count) => `Made ${count} active`, 'already active')}
        >
          Make active
        </button>
        <SaveFile title="Selected contacts" read={() => fileOfContacts(chosen)} />
        <button type="button" class="quiet" onClick={clear}>
          Clear selection
        </button>
      </fieldset>
      {isAddingTag && <NewTag give={giveTag} close={() => setAddingTag(false)} />}
    </section>
  );
};
