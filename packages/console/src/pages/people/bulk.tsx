/** Changes all chosen contacts: a tag given or taken away, the status. The offer to undo that stays. */
import { useState } from 'preact/hooks';
import { api, messageOf, problemOf } from '../../api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { Field } from '../../parts/field.tsx';
import { act, show } from '../../parts/notices.tsx';
import { SaveFile } from '../../parts/save-csv.tsx';
import { account, readAccount } from '../../reading/account.ts';
import { type ContactEdit, sendEdits, undoEdits } from '../../reading/change-contacts.ts';
import { type ContactValues, type FoundContact, hasTag, tagKey, valuesOf } from '../../reading/contact-values.ts';
import { formatWhole } from '../../reading/format.ts';
import { fileOfContacts } from './selected-csv.ts';

interface BulkProps {
  readonly chosen: readonly FoundContact[];
  /** How many contacts the search finds, if that is known. */
  readonly total: number | undefined;
  /** Chooses every contact that the search finds. */
  readonly chooseAll: () => Promise<void>;
  readonly clear: () => void;
  readonly after: () => void;
}

/** No ID of a tag: those have no space at their ends. */
const newTag = ' new';

const contactsOf = (count: number): string => (count === 1 ? '1 contact' : `${formatWhole(count)} contacts`);

interface NewTagProps {
  readonly give: (tagID: string, name: string) => unknown;
  readonly close: () => void;
}

/** Adds a tag to the catalogue, with its name as ID, and gives it. */
const NewTag = ({ give, close }: NewTagProps) => {
  const [name, setName] = useState('');
  const [problem, setProblem] = useState('');
  const submit = async () => {
    const tagID = name.trim();
    const refused = await problemOf(api.updateAccount({ tag: [{ tagID, tagName: tagID }] }));
    if (refused) return setProblem(refused);
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

export const Bulk = ({ chosen, total, chooseAll, clear, after }: BulkProps) => {
  const [sent, setSent] = useState<number | undefined>(undefined);
  const [isAddingTag, setAddingTag] = useState(false);
  /** `already` says of the others why they did not change. */
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
        done: `${done(contactsOf(changed.length))}${others}.${problem && ` Others were refused: ${problem}.`}`,
        ...(changed.length > 0 && { undo: () => undoEdits(changed), stays: true }),
        after,
      });
    } catch (error) {
      show({ text: messageOf(error), isProblem: true });
    } finally {
      setSent(undefined);
    }
  };
  const tags = (account.value?.tag ?? []).filter(({ mergedInto }) => mergedInto === undefined);
  const giveTag = (tagID: string, name: string) =>
    apply({ [tagKey(tagID)]: hasTag }, (count) => `Tagged ${count} “${name}”`, 'had it already');
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
      {hasNew && <option value={newTag}>New tag …</option>}
    </select>
  );
  return (
    <section class="bulk" aria-label="Change the chosen contacts">
      <strong role="status">
        {sent === undefined
          ? `${contactsOf(chosen.length)} chosen`
          : `${formatWhole(sent)} of ${contactsOf(chosen.length)}`}
      </strong>
      {sent !== undefined && <progress max={chosen.length} value={sent} aria-label="Contacts changed" />}
      <fieldset disabled={sent !== undefined}>
        {total !== undefined && total > chosen.length && (
          <button type="button" class="quiet" onClick={chooseAll}>
            Choose all {formatWhole(total)}
          </button>
        )}
        {chooseTag('Tag …', giveTag, true)}
        {chooseTag('Untag …', (tagID, name) =>
          apply({ [tagKey(tagID)]: '' }, (count) => `Removed “${name}” from ${count}`, 'did not have it'),
        )}
        <button
          type="button"
          onClick={() => apply({ contactStatus: 'archived' }, (count) => `Archived ${count}`, 'already were')}
        >
          Archive
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => apply({ contactStatus: 'active' }, (count) => `Made ${count} active`, 'already were')}
        >
          Make active
        </button>
        <SaveFile title="Chosen contacts" read={() => fileOfContacts(chosen)} />
        <button type="button" class="quiet" onClick={clear}>
          Choose none
        </button>
      </fieldset>
      {isAddingTag && <NewTag give={giveTag} close={() => setAddingTag(false)} />}
    </section>
  );
};
