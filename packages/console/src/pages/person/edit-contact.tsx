/** The dialog to edit a contact's fields, profile, status, tags and attributes. */
import type { ResponseFor } from '@firsthand/client';
import { useEffect, useState } from 'preact/hooks';
import { api, problemOf } from '../../api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { Field } from '../../parts/field.tsx';
import { act } from '../../parts/notices.tsx';
import { account } from '../../reading/account.ts';
import { undoEdits } from '../../reading/change-contacts.ts';
import { attributeKey, diffContactValues, hasTag, tagKey, textFields, valuesOf } from '../../reading/contact-values.ts';
import { nameOfPerson } from '../../reading/person.ts';

interface EditContactProps {
  readonly contact: ResponseFor<'getContact'>['contact'];
  readonly reload: () => void;
  readonly close: () => void;
}

/** The number of contacts whose attributes are offered: the catalogue also lists attributes that only events have. */
const maxSample = 200;

/** A value that is never an attribute's ID, because IDs have no leading space. */
const otherAttribute = ' other';

const statuses = ['active', 'unsubscribed', 'archived'] as const;

interface AttributeChoiceProps {
  /** Whether the contact already has the attribute. */
  readonly has: (attrID: string) => boolean;
  readonly add: (attrID: string) => void;
}

const AttributeChoice = ({ has, add }: AttributeChoiceProps) => {
  const [contactAttrIDs, setContactAttrIDs] = useState<ReadonlySet<string>>(new Set());
  const [showsAll, setShowsAll] = useState(false);
  useEffect(() => {
    api.searchContact({ limit: maxSample }).then(
      ({ contact: contacts }) =>
        setContactAttrIDs(new Set(contacts.flatMap(({ contactAttr }) => contactAttr.map(({ attrID }) => attrID)))),
      () => setShowsAll(true),
    );
  }, []);
  const others = (account.value?.attr ?? []).filter(
    ({ attrID, mergedInto }) => mergedInto === undefined && !has(attrID),
  );
  const options = others.filter(({ attrID }) => showsAll || contactAttrIDs.has(attrID));
  if (others.length === 0) return null;
  return (
    <select
      aria-label="Add an attribute"
      value=""
      onChange={({ currentTarget: { value } }) => (value === otherAttribute ? setShowsAll(true) : add(value))}
    >
      <option value="">Add an attribute…</option>
      {options.map(({ attrID, attrName }) => (
        <option key={attrID} value={attrID}>
          {attrName}
        </option>
      ))}
      {options.length < others.length && <option value={otherAttribute}>Other attribute…</option>}
    </select>
  );
};

interface TagChoiceProps {
  readonly tags: EditContactProps['contact']['tag'];
  readonly values: Readonly<Record<string, string>>;
  readonly set: (key: string, value: string) => void;
}

const TagChoice = ({ tags, values, set }: TagChoiceProps) => (
  <fieldset class="tag-choice">
    <legend>Tags</legend>
    {tags.map(({ tagID, tagName }) => (
      <label key={tagID}>
        <input
          type="checkbox"
          checked={values[tagKey(tagID)] === hasTag}
          onChange={(event) => set(tagKey(tagID), event.currentTarget.checked ? hasTag : '')}
        />{' '}
        {tagName}
      </label>
    ))}
  </fieldset>
);

export const EditContact = ({ contact, reload, close }: EditContactProps) => {
  const before = valuesOf(contact);
  const [after, setAfter] = useState(before);
  const [problem, setProblem] = useState('');
  const set = (key: string, value: string) => setAfter({ ...after, [key]: value });
  const names = new Map((account.value?.attr ?? []).map(({ attrID, attrName }) => [attrID, attrName]));
  const { contactUUID } = contact;
  const save = async () => {
    const change = diffContactValues(before, after);
    if (change === undefined) return close();
    const attempt = api.updateContact({ contactUUID, ...change });
    const rejection = await problemOf(attempt);
    if (rejection) return setProblem(rejection);
    close();
    await act(() => attempt, {
      done: `Saved ${nameOfPerson({ ...contact, ...after })}.`,
      undo: () => undoEdits([{ contactUUID, before, after }]),
      refresh: reload,
    });
  };
  const text = (key: string, label: string) => (
    <Field key={key} label={label}>
      {(props) => (
        <input {...props} value={after[key] ?? ''} onInput={(event) => set(key, event.currentTarget.value)} />
      )}
    </Field>
  );
  const choice = (key: string, label: string, options: readonly (readonly [string, string])[]) => (
    <Field label={label}>
      {(props) => (
        <select {...props} value={after[key]} onChange={(event) => set(key, event.currentTarget.value)}>
          {options.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
  const profiles = (account.value?.profile ?? [])
    .filter(({ mergedInto }) => mergedInto === undefined)
    .map(({ profileID, profileName }) => [profileID, profileName] as const);
  return (
    <DialogForm
      title={`Edit ${nameOfPerson(contact)}`}
      class="edit-contact"
      close={close}
      action="Save"
      submit={save}
      problem={problem}
    >
      <div class="field-grid">
        {Object.entries(textFields).map(([key, label]) => text(key, label))}
        {choice('contactProfileID', 'Profile', [
          ['', 'No profile'],
          ...profiles,
          ...(profiles.some(([id]) => id === contact.contactProfileID) || contact.contactProfileID === ''
            ? []
            : [[contact.contactProfileID, contact.contactProfileName] as const]),
        ])}
        {choice(
          'contactStatus',
          'Status',
          statuses.map((each) => [each, each]),
        )}
        {Object.keys(after)
          .filter((key) => key.startsWith(attributeKey('')))
          .map((key) => text(key, names.get(key.slice(attributeKey('').length)) ?? key))}
      </div>
      <AttributeChoice
        has={(attrID) => attributeKey(attrID) in after}
        add={(attrID) => set(attributeKey(attrID), '')}
      />
      {contact.tag.length > 0 && <TagChoice tags={contact.tag} values={after} set={set} />}
    </DialogForm>
  );
};
