/** Changes all chosen contacts: a tag given or taken away, the status. */
import { useState } from 'preact/hooks';
import { messageOf } from '../../api.ts';
import { act, show } from '../../parts/notices.tsx';
import { SaveFile } from '../../parts/save-csv.tsx';
import { account } from '../../reading/account.ts';
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

const contactsOf = (count: number): string => (count === 1 ? '1 contact' : `${formatWhole(count)} contacts`);

export const Bulk = ({ chosen, total, chooseAll, clear, after }: BulkProps) => {
  const [sent, setSent] = useState<number | undefined>(undefined);
  const apply = async (change: ContactValues, done: (count: string) => string) => {
    const edits = chosen.map((contact): ContactEdit => {
      const before = valuesOf(contact);
      return { contactUUID: contact.contactUUID, before, after: { ...before, ...change } };
    });
    setSent(0);
    try {
      const { done: changed, problem } = await sendEdits(edits, setSent);
      clear();
      await act(async () => {}, {
        done:
          changed.length === 0 && problem === ''
            ? 'No contact needed a change.'
            : `${done(contactsOf(changed.length))}${problem && ` Others were refused: ${problem}.`}`,
        ...(changed.length > 0 && { undo: () => undoEdits(changed) }),
        after,
      });
    } catch (error) {
      show({ text: messageOf(error), isProblem: true });
    } finally {
      setSent(undefined);
    }
  };
  const tags = (account.value?.tag ?? []).filter(({ mergedInto }) => mergedInto === undefined);
  const chooseTag = (label: string, choose: (tagID: string, tagName: string) => void) => (
    <select
      aria-label={label}
      value=""
      onChange={(event) => {
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
        {chooseTag('Tag …', (tagID, name) =>
          apply({ [tagKey(tagID)]: hasTag }, (count) => `Tagged ${count} “${name}”.`),
        )}
        {chooseTag('Untag …', (tagID, name) =>
          apply({ [tagKey(tagID)]: '' }, (count) => `Removed “${name}” from ${count}.`),
        )}
        <button type="button" onClick={() => apply({ contactStatus: 'archived' }, (count) => `Archived ${count}.`)}>
          Archive
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => apply({ contactStatus: 'active' }, (count) => `Made ${count} active.`)}
        >
          Make active
        </button>
        <SaveFile title="Chosen contacts" read={() => fileOfContacts(chosen)} />
        <button type="button" class="quiet" onClick={clear}>
          Choose none
        </button>
      </fieldset>
    </section>
  );
};
